"""What the README and the pages of docs show runs, in their order, and prints what they say."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

from alphalift.cli import app
from pages import ROOT, Reader, blocks
from test_cli_files import run

DOCS = ROOT / "docs"
README = ROOT / "README.md"
READ = [f"howto/{name}" for name in ("choose", "csv", "several", "verify", "receive")]
READ += ["commands", "gallery", "tutorials/array", "tutorials/file"]
# Pages whose code other tests run: tests/test_docs.py, tests/show, tests/report, tests/test_reference.py, tests/web, tests_spark; Coq's is below.
ELSEWHERE = {"format", "page", "pictures", "report", "howto/spark", "verified"}
PAGES = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in DOCS.rglob("*.md")}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a reader stands: the repository's sources, and tables of the names that the pages use."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").symlink_to(ROOT / "src")
    (tmp_path / "images").mkdir()
    rng, people = np.random.default_rng(0), 300
    work, school = rng.integers(0, 3, people), rng.integers(0, 3, people)
    jobs = np.array(["clerk", "cook", "driver"])
    table = pd.DataFrame(
        {
            "id": range(people),
            "occupation": jobs[work],
            "job": jobs[work],
            "education": np.array(["none", "some", "much"])[school],
            "years": 4 * school,
            "diagnosis": np.where(rng.random(people) < 0.2 + 0.2 * work, "yes", "no"),
            "income": rng.choice(["low", "high"], people),
            "age": rng.integers(16, 80, people),
        }
    )
    table.to_csv("people.csv", index=False)
    (tmp_path / "order.txt").write_text("none\nsome\nmuch\n")
    (tmp_path / "levels.csv").write_text("clerk,indoors\ncook,indoors\ndriver,outdoors\n")
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


def test_the_readme_fits_on_a_page():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 92


def test_the_readme_and_the_tutorial_with_the_census_run(folder, monkeypatch, capsys):
    """The words of the demo, which is not made here, are the next test's."""
    done = {}
    reader = Reader(monkeypatch, capsys, done)
    reader.follow(README, leaving="text")
    solution = reader.names["solution"]
    assert 0 < solution.normalized_utility < 1
    assert solution.utility <= solution.upper_bound
    assert {path.name for path in folder.iterdir()} >= {
        "m.json",
        "census.key",
        "released.csv",
        "report.html",
        "mine.json",
    }
    for path in folder.iterdir():  # the tutorial begins again
        if not path.is_dir():
            path.unlink()
    Reader(monkeypatch, capsys, done).follow(PAGES["tutorials/table"], tolerance=0.03)
    assert {path.name for path in folder.iterdir()} >= {"released.csv", "public.html"}


def test_the_demo_says_what_the_readme_says(folder, monkeypatch, capsys):
    code, told, complaint = run(monkeypatch, capsys, "demo", "--out", "demo")
    assert code == 0, complaint
    (shown,) = [text for language, text in blocks(README) if language == "text"]
    assert shown in told


@pytest.mark.parametrize("page", READ)
def test_pages_run_and_print_what_they_show(folder, monkeypatch, capsys, page):
    Reader(monkeypatch, capsys).follow(PAGES[page])


def test_every_page_with_code_is_run_by_a_test():
    run_here = {*READ, "tutorials/table"}
    with_code = {page for page, path in PAGES.items() if blocks(path) and not page.startswith("reference/")}
    assert with_code == run_here | ELSEWHERE


def test_theorems_that_are_shown_are_those_that_are_proven():
    proven = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "verified").glob("*.v")))
    shown = [text for language, text in blocks(PAGES["verified"]) if language == "coq"]
    assert shown
    for text in shown:
        assert text in proven, text


def test_pictures_of_the_pages_are_those_of_the_gallery():
    drawn = set(re.findall(r'"images/([\w.]+)"', PAGES["gallery"].read_text(encoding="utf-8")))
    shown = {
        name
        for path in [README, *PAGES.values()]
        for name in re.findall(r"\]\([./docs]*images/([\w.]+)\)", path.read_text(encoding="utf-8"))
    }
    assert drawn == shown == {path.name for path in (DOCS / "images").iterdir()}


def test_commands_and_options_in_the_text_exist():
    known, commands = {*options(get_command(app)), "--help"}, get_command(app).commands
    for path in [README, *PAGES.values()]:
        text = path.read_text(encoding="utf-8")
        for line in re.findall(r"`(alphalift [a-z][^`]+)`", text):
            name, *arguments = shlex.split(line)[1:]
            whole = any("." in argument for argument in arguments) and "..." not in line
            assert parsed(name, *arguments) if whole else name in commands, f"{path.name}: {line}"
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known, path.name
