"""Files that appear whole or not at all: who may read them on the way, and what a kill leaves."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from alphalift.errors import InputError
from alphalift.whole import private_folder, remove_leftovers, require_not, whole_file, whole_folder

HEX = "0123456789abcdef"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def loose_umask():
    """Under which a file that is made without care can be read, and written, by others."""
    old = os.umask(0o002)
    yield
    os.umask(old)


@pytest.mark.usefixtures("loose_umask")
def test_nobody_else_reads_a_file_while_it_is_written(tmp_path):
    path = tmp_path / "out.txt"
    with whole_file(path) as part:
        assert mode(part) == 0o600
        part.write_text("records")
        assert mode(part) == 0o600
    assert mode(path) == 0o664
    with whole_file(path, private=True) as part:
        part.write_text("counts")
    assert mode(path) == 0o600
    assert path.read_text() == "counts"


@pytest.mark.usefixtures("loose_umask")
def test_nobody_else_enters_a_folder_while_it_is_written(tmp_path):
    with whole_folder(tmp_path / "out") as part:
        assert mode(part) == 0o700
        (part / "one").write_text("records")
    assert mode(tmp_path / "out") == 0o775


def test_writers_that_open_the_part_by_its_name_work(tmp_path):
    table = pa.table({"x": [1, 2, 3]})
    with whole_file(tmp_path / "out.parquet") as part:
        assert part.suffix == ".parquet"
        pq.write_table(table, part)
    assert pq.read_table(tmp_path / "out.parquet") == table
    with whole_file(tmp_path / "out.txt") as part:  # one that has a part of its own
        (tmp_path / "other").write_text("x")
        (tmp_path / "other").replace(part)
    assert (tmp_path / "out.txt").read_text() == "x"


def test_a_link_in_the_place_of_the_part_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    names = iter([HEX, "f" * 16])
    monkeypatch.setattr("alphalift.whole.secrets.token_hex", lambda _: next(names))
    (tmp_path / f".{HEX}.part-out.txt").symlink_to(victim)
    with whole_file(tmp_path / "out.txt") as part:
        part.write_text("ours")
    assert victim.read_text() == "theirs"
    assert (tmp_path / "out.txt").read_text() == "ours"
    assert (tmp_path / f".{HEX}.part-out.txt").is_symlink()


def test_a_place_that_is_no_file_is_refused_in_our_words(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for place, words in (
        ("pipe", "a device or pipe"),
        ("folder", "it is a folder"),
        ("no/such/x", "in a folder that exists"),
    ):
        with pytest.raises(InputError, match=words), whole_file(tmp_path / place):
            pytest.fail("nothing is written")
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]


KILLED = """
import os, signal, sys
from pathlib import Path
from alphalift.whole import private_folder, whole_file, whole_folder
kind, place = sys.argv[1], Path(sys.argv[2])
with {"file": whole_file, "folder": whole_folder, "spill": private_folder}[kind](place) as part:
    (part if kind == "file" else part / "ids").write_text("seven hundred thousand ids")
    print("ready", flush=True)
    sys.stdin.read()
"""


def started(kind, place):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, kind, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


def killed(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("kind", ["file", "folder", "spill"])
def test_what_a_kill_leaves_is_private_and_gone_at_the_next_run(tmp_path, kind):
    out = tmp_path / "out.csv"
    process = started(kind, out)
    try:
        [left] = os.listdir(tmp_path)
        assert mode(tmp_path / left) in (0o600, 0o700)
        remove_leftovers(out)
        assert os.listdir(tmp_path) == [left], "its writer lives"
    finally:
        killed(process)
    assert os.listdir(tmp_path) == [left]
    with whole_file(out) as part:
        part.write_text("new")
        assert left not in os.listdir(tmp_path)
    assert os.listdir(tmp_path) == ["out.csv"]


def test_only_our_own_leftovers_of_this_name_are_removed(tmp_path):
    kept = [f".{HEX}.part-other.csv", f".{HEX[:-1]}.part-out.csv", f".{HEX}.pert-out.csv", "out.csv", ".out.csv"]
    for name in kept:
        (tmp_path / name).write_text("x")
    (tmp_path / f".{HEX}.part-out.csv").symlink_to(tmp_path / "out.csv")
    os.mkfifo(tmp_path / f".{HEX}.spill-out.csv")
    before = sorted(os.listdir(tmp_path))
    remove_leftovers(tmp_path / "out.csv")
    assert sorted(os.listdir(tmp_path)) == before
    (tmp_path / f".{'0' * 16}.part-out.csv").write_text("half")
    remove_leftovers(tmp_path / "out.csv")
    assert sorted(os.listdir(tmp_path)) == before
    remove_leftovers(tmp_path / "no" / "such" / "folder")


def test_many_writers_of_one_name_never_remove_each_others_parts(tmp_path):
    """The moment between a part's creation and its lock is the one that another's cleaning can hit."""
    out, failed = tmp_path / "out.txt", []

    def write(number):
        try:
            for _ in range(150):
                with whole_file(out, durable=False) as part:
                    part.write_text(str(number))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_spill_folder_is_beside_the_output_and_goes_with_its_block(tmp_path):
    def fail():
        with private_folder(tmp_path / "out.csv") as spill:
            (spill / "deep").mkdir()
            (spill / "deep" / "ids").write_text("ids")
            assert spill.parent == tmp_path
            assert mode(spill) == 0o700
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert os.listdir(tmp_path) == []


def test_kills_at_any_moment_leave_the_old_file_or_the_whole_new_one(tmp_path):
    out = tmp_path / "out.txt"
    program = (
        "import sys; from pathlib import Path; from alphalift.whole import whole_file\n"
        "print('ready', flush=True)\n"
        "for i in range(10**9):\n"
        "    with whole_file(Path(sys.argv[1]), private=True) as part: part.write_text(f'{i}\\n' * 1000)\n"
    )
    out.write_text("old\n" * 1000)
    for pause in (0.001, 0.02, 0.05, 0.1):
        process = subprocess.Popen([sys.executable, "-c", program, str(out)], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        time.sleep(pause)
        killed(process)
        lines = out.read_text().splitlines()
        assert len(lines) == 1000
        assert len(set(lines)) == 1
    with whole_file(out) as part:
        part.write_text("end")
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_key_a_ledger_and_the_given_files_are_never_written_over(tmp_path):
    (tmp_path / "table.csv").write_text("a,b\n")
    os.link(tmp_path / "table.csv", tmp_path / "linked.csv")
    (tmp_path / "pointer").symlink_to(tmp_path / "table.csv")
    (tmp_path / "key").write_text("alphalift-key-1 00\n")
    (tmp_path / "key.old").symlink_to(tmp_path / "key")
    (tmp_path / "key.ledger").write_bytes(b"SQLite format 3\0" + bytes(100))
    (tmp_path / "fine.json").write_text("{}")
    others = [tmp_path / "table.csv", tmp_path / "new.json"]
    for name, words in (
        ("table.csv", "table.csv is one of the files that are read or written already; choose another name"),
        ("linked.csv", "linked.csv is the same file as .*table.csv, which is read or written already; choose"),
        ("pointer", "pointer is the same file as .*table.csv"),
        ("new.json", "new.json is one of the files"),
        ("sub/../new.json", "new.json is the same file as .*new.json"),
        ("key", "is a key"),
        ("key.old", "is a key"),
        ("key.ledger", "is a ledger"),
    ):
        with pytest.raises(InputError, match=words):
            require_not(tmp_path / name, others)
    require_not(tmp_path / "fine.json", others)
    require_not(tmp_path / "other.json", others)
