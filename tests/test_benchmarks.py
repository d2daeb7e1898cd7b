"""Benchmarks are run by `make bench`, and their results say what they were measured with."""

import ast
import platform
import re
import subprocess
from pathlib import Path

import pytest

import where

ROOT = Path(__file__).parent.parent
FILES = {path.name: ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "benchmarks").glob("*.py")}
# What runs by itself is a benchmark; the others are helpers.
BENCHMARKS = sorted(name for name, tree in FILES.items() if any(isinstance(node, ast.If) for node in tree.body))


def test_make_bench_runs_every_benchmark_and_nothing_else():
    recipe = re.search(r"^bench:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(set(re.findall(r"benchmarks/(\w+\.py)", recipe[1]))) == BENCHMARKS
    assert len(BENCHMARKS) > 10


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_prints_where_it_ran(name):
    main = next(node for node in FILES[name].body if isinstance(node, ast.FunctionDef) and node.name == "main")
    calls = [node for node in ast.walk(main) if isinstance(node, ast.Call)]
    assert any(ast.unparse(call.func) == "where" for call in calls)


@pytest.mark.parametrize("name", [path.name for path in ROOT.glob("benchmarks/*") if path.suffix in (".csv", ".txt")])
def test_a_result_names_its_commit(name):
    """In its head, where the commit that it was measured with or, of old ones, that brought the figures, stands."""
    head = (ROOT / "benchmarks" / name).read_text(encoding="utf-8").splitlines()[:5]
    assert re.search(r"\bcommit [0-9a-f]{7}", "\n".join(head))


def test_where_names_command_sources_machine_and_packages(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/benchmarks/release.py", "law", "--rows", "10"])
    command, machine, packages = where.where("pyarrow").splitlines()
    assert command == "$ python benchmarks/release.py law --rows 10"
    assert re.fullmatch(r"(commit \w+( with changes)?|no commit known), \d{4}-\d\d-\d\d; \d+ cores, .+ GB, .*", machine)
    assert packages.startswith(f"python {platform.python_version()}, alphalift ")
    assert ", pyarrow " in packages


def test_sources_are_a_commit_and_whether_they_differ_from_it(tmp_path):
    assert where.sources(tmp_path / "nowhere") == "no commit known"

    def git(*arguments):
        names = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(["git", *names, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True)

    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n")
    (tmp_path / "result.txt").write_text("old\n")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    commit = git("rev-parse", "--short", "HEAD").stdout.strip()
    (tmp_path / "result.txt").write_text("new\n")
    assert where.sources(tmp_path) == f"commit {commit}"
    (tmp_path / "src" / "a.py").write_text("a = 2\n")
    assert where.sources(tmp_path) == f"commit {commit} with changes"
