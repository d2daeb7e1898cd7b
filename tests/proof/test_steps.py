"""The table of steps in docs/theory.md and the docstrings of the checker name the same functions for the same steps."""

import ast
import re
from pathlib import Path

from alphalift.proof import checker

THEORY = Path(__file__).parents[2] / "docs" / "theory.md"
SECTION = THEORY.read_text(encoding="utf-8").split("## What the checker relies on\n")[1].split("\n## ")[0]


def definitions(tree, prefix=""):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield prefix + node.name, ast.get_docstring(node) or ""
            yield from definitions(node, f"{prefix}{node.name}.")


def in_docstrings():
    """(step, function) for every `Step 7.` or `Steps 7 and 7a.`"""
    found = set()
    for name, text in definitions(ast.parse(Path(checker.__file__).read_text(encoding="utf-8"))):
        for steps in re.findall(r"\bSteps? (\w+(?:(?:, | and )\w+)*)\.", text):
            found |= {(step, name) for step in re.split(", | and ", steps)}
    return found


def in_table():
    rows = re.findall(r"^\| (\d+[ab]?) \| [^|]+ \| ([^|]+) \|$", SECTION, re.MULTILINE)
    return [(step, name) for step, names in rows for name in re.findall(r"`([^`]+)`", names)]


def test_the_table_and_the_docstrings_name_the_same_functions():
    table = in_table()
    assert len(table) == len(set(table)) > 0
    assert set(table) == in_docstrings()


def test_every_step_has_a_proof_and_a_function():
    proofs = re.findall(r"^\*\*(\d+[ab]?)\. ", SECTION, re.MULTILINE)
    assert len(proofs) == len(set(proofs))
    assert set(proofs) == {step for step, _ in in_table()}


def test_every_region_of_the_checker_has_its_own_formulas():
    """The table names what a region must have; none may do without, or inherit another's but Renyi, which is alpha-lift."""
    for region in checker.REGIONS.values():
        own = checker.AlphaLift if region is checker.Renyi else region
        assert {"sides", "unseen", "support"} <= set(vars(own))
