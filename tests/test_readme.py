"""What the README shows runs, in its order, and prints what the README says."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

from alphalift.cli import app
from alphalift.release import new_key
from test_cli_files import run

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [
    shlex.split(line, comments=True) for language, text in BLOCKS if language == "sh" for line in text.splitlines()
]
PYTHON = [text for language, text in BLOCKS if language == "python"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a reader stands: the repository's sources, and a table, key and folder of the names that the README uses."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").symlink_to(ROOT / "src")
    rng, people = np.random.default_rng(0), 300
    work = rng.integers(0, 3, people)
    table = pd.DataFrame(
        {
            "id": range(people),
            "occupation": np.array(["clerk", "cook", "driver"])[work],
            "diagnosis": np.where(rng.random(people) < 0.2 + 0.2 * work, "yes", "no"),
            "income": rng.choice(["low", "high"], people),
        }
    )
    table.to_csv("people.csv", index=False)
    table.to_parquet("people.parquet")
    new_key(Path("k"))
    return tmp_path


def parsed(name, *arguments):
    """The options that a command line is understood as; nothing runs."""
    command = get_command(app).commands[name]
    while hasattr(command, "commands"):
        command, *arguments = command.commands[arguments[0]], *arguments[1:]
    return command.make_context(name, list(arguments)).params


def options(command):
    yield from (text for parameter in command.params for text in (*parameter.opts, *parameter.secondary_opts))
    for other in getattr(command, "commands", {}).values():
        yield from options(other)


def test_every_block_is_of_a_kind_that_is_tested():
    assert [language for language, _ in BLOCKS] == ["sh", "text", "sh", "sh", "python", "python", "sh"]


def test_the_commands_run_one_after_the_other(folder, monkeypatch, capsys):
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    told = ""
    for program, *arguments in COMMANDS:
        if program == "make":
            assert set(arguments) <= set(targets)
        elif arguments[0] == "reproduce":  # ten minutes; tests/test_cli.py runs a smaller one
            assert parsed(*arguments)["distributions"] == 100
        else:
            code, told, complaint = run(monkeypatch, capsys, *arguments)
            assert code == 0, complaint
    assert "2 releases have now been made about these people" in told
    written = {path.name for path in folder.iterdir()} - {"src", "k", "people.csv", "people.parquet"}
    beside = {
        f"{name}.{kind}.json" for name in ("released.csv", "occupations.csv") for kind in ("codebook", "manifest")
    }
    assert written == beside | {
        "m.json", "m2.json", "census.key", "census.key.ledger", "k.ledger", "released.csv", "occupations.csv", "pictures",
        "report.html",
    }  # fmt: skip
    assert {path.name for path in Path("pictures").iterdir()} >= {"compare.csv", "curve.csv", "curve.png"}


def test_the_demo_says_what_the_readme_says(folder, monkeypatch, capsys):
    code, told, complaint = run(monkeypatch, capsys, "demo", "--out", "demo")
    assert code == 0, complaint
    (shown,) = [text for language, text in BLOCKS if language == "text"]
    assert told.startswith(shown)


def test_commands_and_options_in_the_text_exist():
    inline = re.findall(r"`(alphalift [^`]+)`", PAGE)
    assert len(inline) >= 3
    for line in inline:
        assert parsed(*shlex.split(line)[1:])
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) <= set(options(get_command(app)))


def test_python_runs_and_is_what_its_comments_say(folder):
    names = {}
    exec(compile(PYTHON[0], "README.md", "exec"), names)
    solution = names["solution"]
    assert 0 < solution.normalized_utility < 1
    assert solution.utility <= solution.upper_bound
    assert solution.mechanism.p_y_given_x.sum(axis=0) == pytest.approx(1)
    assert solution.integers.bits == 52
    assert names["load"]("m.json").region == solution.region
    assert len(pd.read_parquet("released.parquet")) == 300
    assert len(names["tradeoff"].to_frame()) == 9
    assert any(Path("cells").iterdir())


def test_the_transformer_runs(folder):
    names = {"people": pd.read_csv("people.csv")}
    with pytest.warns(UserWarning, match="first release under this key"):
        exec(compile(PYTHON[1], "README.md", "exec"), names)
    assert len(names["released"]) == 300
