"""`alphalift key new` and `alphalift apply`, as a person runs them."""

import csv
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import alphalift as alphalift_package
from alphalift.terminal import in_options

TABLE = "id,colour,ill\n" + "".join(
    f"{i:03d},{colour},{ill}\n"
    for i, (colour, ill) in enumerate(
        [("red", "yes"), ("red", "no"), ("blue", "no"), ("blue", "no"), ("green", "yes")] * 20
    )
)


def alphalift(*arguments, folder, **options):
    command = [sys.executable, "-m", "alphalift", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=400, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    (folder / "t.csv").write_text(TABLE)
    designed = alphalift(
        "design",
        "t.csv",
        "-s",
        "ill",
        "-u",
        "colour",
        "--promise",
        "LIP(0.1)",
        "--population",
        "--out",
        "m.json",
        folder=folder,
    )
    assert designed.returncode == 0, designed.stderr
    assert alphalift("key", "new", "k", folder=folder).returncode == 0
    return folder


APPLY = ("apply", "m.json", "t.csv", "--id", "id", "--key", "k")


def test_three_commands_from_a_table_to_a_release(folder):
    done = alphalift(*APPLY, "--ids", "real", "--out", "y.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "Released 100 records" in done.stdout
    assert "about ill" in done.stdout, "the promise names its secret"
    assert "the table's own" in done.stdout
    assert "Rows keep the table's order" in done.stdout
    rows = list(csv.DictReader((folder / "y.csv").read_text().splitlines()))
    assert [row["id"] for row in rows] == [f"{i:03d}" for i in range(100)], "007 stays 007"
    codebook = json.loads((folder / "y.csv.codebook.json").read_text())
    assert {row["released colour"] for row in rows} <= {output["label"] for output in codebook["outputs"]}
    manifest = json.loads((folder / "y.csv.manifest.json").read_text())
    assert (manifest["rows"], manifest["columns"], manifest["id_column"]) == (100, ["colour"], "id")
    again = alphalift(*APPLY, "--ids", "real", "--out", "z.csv", folder=folder)
    assert again.returncode == 0
    assert (folder / "z.csv").read_bytes() == (folder / "y.csv").read_bytes()
    assert (folder / "z.csv.manifest.json").read_bytes() == (folder / "y.csv.manifest.json").read_bytes()


def test_ids_are_pseudonyms_unless_real_ones_are_asked_for(folder):
    outputs = {}
    for ids, names in (("pseudonym", {"id", "released colour"}), ("none", {"released colour"})):
        done = alphalift(*APPLY, "--ids", ids, "--out", f"{ids}.csv", folder=folder)
        assert done.returncode == 0, done.stderr
        outputs[ids] = list(csv.DictReader((folder / f"{ids}.csv").read_text().splitlines()))
        assert set(outputs[ids][0]) == names
    assert all(len(row["id"]) == 32 for row in outputs["pseudonym"])
    assert alphalift(*APPLY, "--ids", "pseudo", "--out", "x.csv", folder=folder).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (APPLY[:3], "needs the column that identifies a record (--id) and a key (--key)"),
        (APPLY[:3], "once and never again: --one-shot"),
        ((*APPLY, "-u", "ill"), "was designed for colour, not for ill"),
        ((*APPLY, "-u", "ill"), "say --other-columns"),
        ((*APPLY, "-u", "ill", "--other-columns", "--namespace", "n"), "does not look like the column"),
        ((*APPLY, "--bins", "colour=1"), "leave --bins out"),
        ((*APPLY, "--bins", "colour=1", "--bins", "colour=2"), "--bins is given twice for the column 'colour'"),
        ((*APPLY[:3], "--id", "size", *APPLY[5:]), "no column 'size'"),
        ((*APPLY[:3], "--id", "colour", *APPLY[5:]), "cannot also be the id"),
        ((*APPLY[:5], "--key", "gone"), "there is no such key"),
        ((*APPLY, "--also", "gone"), "there is no such key"),
        ((*APPLY, "--keep", "ill"), "name it in --yes-publish as well"),
        (("apply", "gone.json", *APPLY[2:]), "gone.json: there is no such file"),
        (("apply", "t.csv", *APPLY[2:]), "is refused"),
        ((*APPLY[:2], "gone.csv", *APPLY[3:]), "there is no such file"),
    ],
)
def test_what_is_refused_writes_nothing(folder, arguments, message):
    done = alphalift(*arguments, "--out", "x.csv", folder=folder)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "Errno" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (folder / "x.csv").exists()


def test_a_place_that_is_not_there(folder):
    done = alphalift(*APPLY, "--out", "no/such/x.csv", folder=folder)
    assert (done.returncode, "in a folder that exists" in done.stderr) == (1, True)
    for name in ("k", "m.json", "t.csv", "k.ledger"):
        before = (folder / name).read_bytes()
        done = alphalift(*APPLY, "--out", name, folder=folder)
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
        assert (folder / name).read_bytes() == before


def test_messages_name_options_as_they_are_typed():
    """Every option of a plan that a message of the library names is translated; no text of ours has another form."""
    root = Path(alphalift_package.__file__).parent
    named = {"record_id=", "key=", "also=", "useful=", "bins=", "keep=", "publish="}
    named |= {f"{name}=True" for name in ("new_release", "one_shot", "redefine")}
    text = "".join(path.read_text() for path in (root / "release").rglob("*.py"))
    for name in named:
        assert name in text
        assert in_options(f"say {name}, please").startswith("say --")


def test_one_shot_says_what_it_means(folder):
    done = alphalift("apply", "m.json", "t.csv", "--one-shot", "--out", "once.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "second release of the same people would undo the promise" in done.stdout
    assert "Rows keep the table's order" in done.stdout


def test_a_second_mechanism_needs_to_be_asked_for(folder):
    alphalift(*APPLY, "--out", "y.csv", folder=folder)
    alphalift(
        "design",
        "t.csv",
        "-s",
        "ill",
        "-u",
        "colour",
        "--promise",
        "KL(0.02)",
        "--population",
        "--out",
        "n.json",
        folder=folder,
    )
    other = ("apply", "n.json", *APPLY[2:])
    refused = alphalift(*other, "--out", "x.csv", folder=folder)
    assert refused.returncode == 1
    assert "--new-release" in refused.stderr
    assert "new_release" not in refused.stderr
    done = alphalift(*other, "--new-release", "--out", "x.csv", folder=folder)
    assert "2 releases have now answered" in done.stdout
    (folder / "x.csv").unlink()


def test_key_new_explains_one_key(folder):
    done = alphalift("key", "new", "second", folder=folder)
    assert "one key for all releases about the same people" in done.stdout
    done = alphalift(*APPLY[:5], "--key", "second", "--out", "x.csv", folder=folder)
    assert "releases about the same people under other keys are not counted" in done.stdout
    assert "--also" in done.stdout
    (folder / "x.csv").unlink()
    again = alphalift("key", "new", "second", folder=folder)
    assert again.returncode == 1
    assert "exists already; use it, one key serves all releases" in again.stderr


def test_a_disk_that_is_full_leaves_the_old_file_and_one_line(folder):
    """Files may not grow beyond 300 bytes, which is what a full disk looks like to the writer."""
    alphalift(*APPLY, "--out", "y.csv", folder=folder)
    (folder / "old.csv").write_text("old")
    limit = (300, 300)
    done = alphalift(
        *APPLY, "--out", "old.csv", folder=folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert (folder / "old.csv").read_text() == "old"
    assert not list(folder.glob(".*"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_to(folder):
    shut = folder / "shut"
    shut.mkdir(mode=0o500)
    done = alphalift(*APPLY, "--out", "shut/y.csv", folder=folder)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert not list(shut.iterdir())


def test_the_file_says_where_the_domain_came_from(folder):
    (folder / "ill.txt").write_text("yes\nno\nperhaps\n")
    design = (
        "design",
        "t.csv",
        "-s",
        "ill",
        "-u",
        "colour",
        "--promise",
        "LIP(0.1)",
        "--population",
        "--out",
        "d.json",
    )
    assert alphalift(*design, "--alphabet", "ill=ill.txt", folder=folder).returncode == 0
    solver = json.loads((folder / "d.json").read_text())["provenance"]["solver"]
    assert solver.endswith("domain declared for ill and read from the table for colour")
    (folder / "ill.txt").write_text("yes\n")
    refused = alphalift(*design, "--alphabet", "ill=ill.txt", folder=folder)
    assert refused.returncode == 1
    assert "outside of its alphabet in 60 rows" in refused.stderr


@pytest.mark.parametrize("name", ["over.csv.codebook.json", "over.csv.manifest.json"])
def test_nothing_that_is_written_replaces_the_mechanism(folder, name):
    (folder / name).write_bytes((folder / "m.json").read_bytes())
    done = alphalift("apply", name, "t.csv", "--id", "id", "--key", "k", "--out", "over.csv", folder=folder)
    assert done.returncode != 0
    assert "choose another name" in done.stderr
    assert (folder / name).read_bytes() == (folder / "m.json").read_bytes()


def test_a_second_column_designed_after_the_first_needs_no_permission(tmp_path):
    """The README's two commands: what they print about several releases is about both."""
    rows = [f"{i},{i % 2},{(i // 2) % 2},{(i % 2) ^ ((i // 2) % 2) if i % 5 else i % 2}\n" for i in range(400)]
    (tmp_path / "t.csv").write_text("id,a,b,s\n" + "".join(rows))
    usual = ("-s", "s", "--alpha", "inf", "--epsilon")
    for arguments in (
        ("design", "t.csv", "-u", "a", *usual, "0.1", "--population", "--out", "a.json"),
        ("design", "t.csv", "-u", "b", *usual, "0.3", "--population", "--after", "a.json", "--out", "b.json"),
        ("design", "t.csv", "-u", "b", *usual, "0.3", "--population", "--out", "alone.json"),
        ("key", "new", "k"),
    ):
        done = alphalift(*arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    common = ("t.csv", "--id", "id", "--key", "k")
    assert alphalift("apply", "a.json", *common, "--out", "a.csv", folder=tmp_path).returncode == 0
    refused = alphalift("apply", "alone.json", *common, "--out", "x.csv", folder=tmp_path)
    assert refused.returncode == 1
    assert "--new-release" in refused.stderr
    both = alphalift("apply", "b.json", *common, "--out", "b.csv", folder=tmp_path)
    assert both.returncode == 0, both.stderr
    assert "2 releases have now been made about these people" in both.stdout
    assert "entirely" not in both.stdout
    told = alphalift(
        "apply", "alone.json", *common, "--new-release", "--after", "a.json", "--after", "b.json", "--out", "x.csv",
        folder=tmp_path,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert "times as likely" in told.stdout, "counted from the table"
    assert "mechanism that it comes after" in alphalift("verify", "b.json", folder=tmp_path).stdout
