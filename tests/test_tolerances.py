"""docs/theory.md lists every tolerance of the mathematics, with its value, and what must exceed what does."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import alphalift

ROOT = Path(alphalift.__file__).parent
THEORY = (Path(__file__).parent.parent / "docs" / "theory.md").read_text(encoding="utf-8")
# Where numbers decide what is solved, bounded, kept or proven; what is shown and released rounds in its own ways.
ROOMS = [
    "convex",
    "measures",
    "regions",
    "geometry",
    "mechanism",
    "solution",
    "proof",
    "solvers",
    "baselines",
    "design",
]
ROOMS += ["utilities", "presolve", "sharing", "nearby", "sweep", "compare"]
SMALL = 0.01


def rows():
    """Name as `module.NAME`, value, and the names that it must exceed."""
    section = THEORY.split("## Tolerances")[1].split("\n## ")[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[0].startswith("`"):
            yield cells[0].strip("`"), float(cells[1]), re.findall(r"`([\w.]+)`", cells[2])


TABLE = {name: (value, below) for name, value, below in rows()}


def value_of(name):
    module, constant = name.rsplit(".", 1)
    return float(getattr(import_module(f"alphalift.{module}"), constant))


def sources():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] in ROOMS:
            yield ".".join(parts), ast.parse(path.read_text(encoding="utf-8"))


def is_small(node):
    if isinstance(node, ast.UnaryOp):  # -1e-13 is as small
        return is_small(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) is float and 0 < node.value < SMALL


def constants(tree):
    """Names of module constants that are given small floats, one by one or as a tuple."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(target, ast.Tuple) else [node.value]
            yield from (name.id for name, value in zip(names, values, strict=True) if is_small(value))


def test_the_table_has_every_small_constant_and_no_other():
    found = {f"{module}.{name}" for module, tree in sources() for name in constants(tree)}
    assert found == set(TABLE)
    assert len(found) > 30


@pytest.mark.parametrize("name", TABLE)
def test_values_and_order_are_those_of_the_code(name):
    value, below = TABLE[name]
    assert value == value_of(name)
    assert all(value > value_of(other) for other in below)


def test_functions_have_no_small_literals():
    for module, tree in sources():
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert not [(module, node.lineno) for own in functions for node in ast.walk(own) if is_small(node)]
