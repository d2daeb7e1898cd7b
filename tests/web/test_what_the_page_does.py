"""What the page says while a slider moves, the commands that it gives, and that work can be ended."""

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from served import COMMAND, Served

from alphalift import AlphaLift, Joint, Optimal, curve, design
from alphalift.__main__ import main
from alphalift.web.live import Groups, Stairs, kept_words
from alphalift.web.place import shown_name

JOINT = Joint([[30, 5, 5, 1], [10, 40, 12, 9], [3, 9, 20, 6], [1, 2, 2, 7]], counts=True)


@pytest.mark.parametrize("alpha", [2, 10, float("inf")])
@pytest.mark.parametrize("epsilon", [0, 0.05, 0.4])
def test_no_group_gains_more_than_the_sentence_says(alpha, epsilon):
    """Whatever lifts the promise allows, of whatever group; and one comes near to it."""
    region, p_s = AlphaLift(alpha, epsilon), JOINT.p_s
    told = Groups("S", JOINT.s_labels, tuple(p_s.tolist())).risk(region)
    most = float(told.split("becomes more than ")[1].split(" times")[0])
    assert f"the rarest, {JOINT.s_labels[int(p_s.argmin())]} ({p_s.min():.1%})" in told
    posteriors = np.random.default_rng(1).dirichlet(np.ones(4) * 0.5, 20_000)
    lifts = posteriors / p_s
    lifts = 1 + (lifts - 1) * np.random.default_rng(2).random((len(lifts), 1))
    allowed = lifts[region.allows(lifts, p_s)]
    rarest = np.arange(4) == p_s.argmin()
    for members in itertools.product([False, True], repeat=4):
        group = np.array(members)
        if group.any():
            gained = allowed[:, group] @ p_s[group] / p_s[group].sum()
            assert gained.max(initial=1.0) <= most + 1e-9, members
    attained = region.group_limit(rarest, p_s) if epsilon else 1.0
    assert attained <= most <= attained + 0.0101


def test_the_largest_groups_factor_is_told_too():
    told = Groups("S", JOINT.s_labels, tuple(JOINT.p_s.tolist())).risk(AlphaLift(10, 0.1))
    largest = int(JOINT.p_s.argmax())
    limit = AlphaLift(10, 0.1).group_limit(np.arange(4) == largest, JOINT.p_s)
    said = float(told.rpartition("at most ")[2].split(" times")[0])
    assert limit <= said + 1e-9 <= limit + 0.0101
    assert f"The largest, {JOINT.s_labels[largest]} ({JOINT.p_s[largest]:.1%})" in told


@pytest.fixture(scope="module")
def envelope():
    (found,) = curve(JOINT, AlphaLift, alpha=10, accuracy=0.05, time_limit=60)
    return found


@pytest.fixture(scope="module")
def stairs(envelope):
    return Stairs(*(own.tolist() for own in envelope.stairs))


@pytest.mark.parametrize("epsilon", [0.0, 0.013, 0.1, 0.237, 0.5, 1.0, 3.0])
def test_the_range_has_what_the_optimum_keeps(envelope, stairs, epsilon):
    lower, upper = stairs.at(epsilon)
    exact = design(JOINT, AlphaLift(10, epsilon), solver=Optimal(relative_gap=1e-5)).normalized_utility
    assert lower - 1e-4 <= exact <= upper + 1e-9
    assert 0 <= upper - lower <= envelope.accuracy + 1e-9


@pytest.mark.parametrize("share", [0.2, 0.5, 0.77, 0.95, 1.0])
def test_the_epsilon_for_a_share_keeps_it_and_smaller_ones_do_not(stairs, share):
    epsilon, fails = stairs.least_epsilon(share), stairs.not_below(share)
    assert stairs.at(epsilon)[0] >= share
    assert 0 <= fails <= epsilon
    found = design(JOINT, AlphaLift(10, fails), solver=Optimal(relative_gap=1e-5)).normalized_utility
    assert found < share or fails == 0


def test_nothing_keeps_more_than_all(stairs):
    assert stairs.least_epsilon(1.1) is None


def test_a_range_is_rounded_to_the_safe_side():
    assert "keeps 91.2% to 93.5% of" in kept_words(0.91299, 0.93401, "job")
    assert "keeps 91.2% of" in kept_words(0.912, 0.912, "job")
    assert "keeps 0.0% to 100.0% of" in kept_words(0.0, 1.0, "job")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a.csv", "a.csv"),
        ("../b/a.csv", "a.csv"),
        ("C:\\x\\a.csv", "a.csv"),
        ("a\nb.csv", "a\N{REPLACEMENT CHARACTER}b.csv"),
        ("..", "table.csv"),
        ("x" * 500, "table.csv"),
    ],
)
def test_names_are_shown_without_their_folder_and_without_what_terminals_obey(given, shown):
    assert shown_name(given) == shown


# --- a server ---

PEOPLE = 2000
CHOICES = {
    "everybody": {"sensitive": ["ill"], "useful": ["job"], "everybody": True},
    "a sample": {"sensitive": ["ill"], "useful": ["job"], "everybody": False},
    "several columns, bins and missing values": {
        "sensitive": ["ill"],
        "useful": ["town's", "age"],
        "bins": ["age=30,60"],
        "drop_missing": True,
        "everybody": True,
    },
    "bins from the table": {"sensitive": ["ill"], "useful": ["age"], "bins": ["age=quantiles:4"], "everybody": True},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(3)
    job, age = rng.integers(0, 4, PEOPLE), rng.integers(18, 90, PEOPLE)
    ill = rng.random(PEOPLE) < np.array([0.2, 0.3, 0.4, 0.5])[job] * (1 + (age > 60)) / 1.5
    town = np.where(rng.random(PEOPLE) < 0.05, "", np.where(ill ^ (rng.random(PEOPLE) < 0.4), "north", "south"))
    lines = [f"{n},{'abcd'[job[n]]},{'yes' if ill[n] else 'no'},{age[n]},{town[n]}" for n in range(PEOPLE)]
    (folder / "my people.csv").write_text("\n".join(["who,job,ill,age,town's", *lines]) + "\n")
    own = Served(folder, "my people.csv")
    own.enter()
    state = json.loads(own.ask("GET", "/api/state").text)
    assert own.job(state["look"])["result"] == {"columns": ["who", "job", "ill", "age", "town's"]}
    yield own
    assert "Traceback" not in own.end()
    assert not list(own.tmp.iterdir())


@pytest.mark.parametrize("name", CHOICES)
def test_command_and_script_make_the_same_file(server, tmp_path, name):
    number = server.post("design", CHOICES[name] | {"alpha": "10", "epsilon": "0.02"})["job"]
    job = server.job(number)
    assert job["state"] == "done", job["error"]
    made = server.ask("GET", f"/api/files/{number}/mechanism.json").text
    table = (server.folder / "my people.csv").read_bytes()
    (tmp_path / "my people.csv").write_bytes(table)
    program, *words = shlex.split(json.loads(server.ask("GET", f"/api/same/{number}").text)["commands"][0])
    assert program == "alphalift"
    subprocess.run([sys.executable, "-c", COMMAND, *words], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "mechanism.json").read_text() == made
    (tmp_path / "mechanism.json").unlink()
    script = server.ask("GET", f"/api/files/{number}/design.py").text
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "mechanism.json").read_text() == made


def test_what_columns_tell_is_what_the_joint_says(server):
    look = json.loads(server.ask("GET", "/api/state").text)["look"]
    number = server.post("tells", {"look": look, "sensitive": ["ill"], "of": ["who", "job", "town's"]})["job"]
    who, job, _ = server.job(number)["result"]["found"]
    assert who == {"column": "who", "identifier": True}
    rows = [line.split(",") for line in (server.folder / "my people.csv").read_text().splitlines()[1:]]
    counts = np.array([[sum((row[1], row[2]) == (x, s) for row in rows) for x in "abcd"] for s in ("no", "yes")])
    p = counts / counts.sum()
    p_s, p_x = p.sum(axis=1), p.sum(axis=0)
    told = float((p * np.log(p / np.outer(p_s, p_x))).sum()) / float(-(p_s * np.log(p_s)).sum())
    assert job["share"] == pytest.approx(told)
    assert job["largest_lift"] == pytest.approx(float((p / np.outer(p_s, p_x)).max()))
    assert job["values"] == 4


def test_a_curve_of_other_columns_or_another_alpha_says_nothing(server):
    own = {"sensitive": ["ill"], "useful": ["job"]}
    counted = server.post("count", own)["job"]
    assert server.job(counted)["state"] == "done"
    for columns, alpha in ((own, "10"), (own, "3"), ({"sensitive": ["ill"], "useful": ["town's"]}, "10")):
        drawn = server.post("curve", columns | {"alpha": alpha})["job"]
        assert server.job(drawn)["state"] == "done"
        told = server.post("live", {"count": counted, "curve": drawn, "alpha": "10", "epsilon": "0.02"})
        assert ("kept" in told) == (columns is own and alpha == "10")
        assert "risk" in told


def test_work_that_is_stopped_ends_and_the_next_goes_on(server):
    long = {"sensitive": ["ill"], "useful": ["age", "job"], "alpha": "1.5", "epsilon": "0.05", "everybody": False}
    number = server.post("design", long)["job"]
    while json.loads(server.ask("GET", f"/api/jobs/{number}").text)["state"] == "waiting":
        time.sleep(0.02)
    before = children(server.process.pid)
    begun = time.monotonic()
    assert server.post("stop", {"job": number}) == {"state": "stopped"}
    assert time.monotonic() - begun < 5
    ended = before - children(server.process.pid)
    assert len(ended) == 1
    assert (
        server.job(server.post("design", CHOICES["everybody"] | {"alpha": "10", "epsilon": "0.01"})["job"])["state"]
        == "done"
    )
    assert len(children(server.process.pid)) <= 3  # two workers, and what Python watches them with


def test_of_many_questions_the_last_is_answered(server):
    asked = [
        server.post("design", CHOICES["everybody"] | {"alpha": "10", "epsilon": f"0.0{n}"})["job"] for n in range(1, 8)
    ]
    states = [server.job(number)["state"] for number in asked]
    assert states[-1] == "done"
    assert states.count("stopped") >= 4


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return set(file.read().split())


def test_workers_have_a_part_of_the_memory_and_leave_no_core_files(server):
    """Both are Python's own processes; the third watches them."""
    limits = [Path(f"/proc/{pid}/limits").read_text() for pid in children(server.process.pid)]
    bounded = [re.search(r"Max data size +(\d+) ", own) for own in limits]
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert sum(found is not None and int(found[1]) < whole for found in bounded) == 2
    assert sum(re.search(r"Max core file size +0 ", own) is not None for own in limits) >= 2


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda own: own.name)
def test_however_a_page_ends_nothing_stays(tmp_path, by):
    own = Served(tmp_path)
    own.enter()
    own.job(json.loads(own.upload(b"a,b\n1,2\n").text)["job"])
    assert any("table" in name for name in own.files)
    assert "Traceback" not in own.end(by)
    assert not list(own.tmp.iterdir())


def test_a_page_that_was_killed_is_cleaned_up_by_the_next(tmp_path):
    first = Served(tmp_path)
    assert len(list(first.tmp.iterdir())) == 1
    workers = children(first.process.pid)
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    first.process.stdout.close()
    assert len(list(first.tmp.iterdir())) == 1
    old = {own.name for own in first.tmp.iterdir()}
    second = Served(tmp_path)
    now = {own.name for own in second.tmp.iterdir()}
    assert len(now) == 1
    assert not now & old
    second.end()
    assert not list(second.tmp.iterdir())
    assert not [pid for pid in workers if os.path.exists(f"/proc/{pid}/exe")]  # they end with their server


def test_without_the_extra_it_is_said_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr("alphalift.cli.page.find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["alphalift", "serve", "--no-browser"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert (
        capsys.readouterr().err
        == "alphalift: the page needs the extra: pip install 'alphalift[web]'; all else works without it\n"
    )


def test_a_port_that_is_taken_is_one_line(server, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["alphalift", "serve", "--no-browser", "--port", str(server.port)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert (
        capsys.readouterr().err
        == f"alphalift: port {server.port} is taken, or not yours; choose another one, or leave --port out\n"
    )
