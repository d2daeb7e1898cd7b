"""The checker is one file that anybody can read, copy and run."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import examples
import pytest

from alphalift.document import to_json, withhold_joint
from alphalift.proof import checker

SOURCE = Path(checker.__file__)


def test_it_imports_the_standard_library_and_flint_only():
    imported = set()
    for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module.split(".")[0])
        elif isinstance(node, ast.Name):
            assert node.id not in {"__import__", "eval", "exec", "importlib"}
    assert imported - set(sys.stdlib_module_names) == {"flint"}


@pytest.fixture
def run(tmp_path):
    """Runs a copy of the checker, isolated from the package's folder and from the environment."""
    copy = shutil.copy(SOURCE, tmp_path / "checker.py")

    def _run(*contents):
        paths = []
        for number, content in enumerate(contents):
            paths.append(tmp_path / f"{number}.json")
            paths[-1].write_text(content, encoding="utf-8")
        command = [sys.executable, "-I", str(copy), *map(str, paths)]
        result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
        assert result.stderr == ""
        return result.returncode, result.stdout.splitlines()

    return _run


def test_it_proves_a_file(run):
    code, lines = run(examples.text("random 3"))
    assert code == 0
    assert [line.split(":")[0].split(maxsplit=1) for line in lines] == [
        ["proven", claim] for claim in ("form", "promise", "unseen values", "utility", "optimum")
    ]


def test_it_refuses_a_false_claim_and_says_which(run):
    document = examples.document("random 3")
    document["claims"]["utility_at_least"] = "9"
    code, lines = run(to_json(document))
    assert code == 1
    assert [line.strip().split(":")[0] for line in lines if "NOT PROVEN" in line] == ["NOT PROVEN  utility"]


def test_it_opens_a_withheld_joint(run):
    hidden, opening = withhold_joint(examples.document("random 3"), "ab" * 16)
    assert run(to_json(hidden), to_json(opening))[0] == 0
    code, lines = run(to_json(hidden))
    assert code == 1
    assert [line.split(":")[0].split()[-1] for line in lines if "NOT PROVEN" in line] == [
        "promise",
        "utility",
        "optimum",
    ]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1, "a": 1}', "9" * 5000])
def test_it_refuses_what_is_no_file(run, content):
    code, lines = run(content)
    assert code == 1
    assert len(lines) == 1
    assert lines[0].startswith("NOT PROVEN  form")


def test_it_says_how_it_is_used():
    result = subprocess.run(
        [sys.executable, "-I", str(SOURCE)], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 2
    assert "usage" in result.stderr


def test_it_refuses_a_file_that_is_not_there(tmp_path, capsys):
    assert checker.main([str(tmp_path / "nothing.json")]) == 1
    assert "NOT PROVEN  form" in capsys.readouterr().out
