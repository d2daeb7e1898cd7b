"""Dependencies run one way, down ARCHITECTURE.md's picture, and the public list is what it says."""

import ast
import re
from graphlib import TopologicalSorter
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path

import pytest

import alphalift

ROOT = Path(alphalift.__file__).parent
PICTURE = (Path(__file__).parent.parent / "ARCHITECTURE.md").read_text(encoding="utf-8").split("```")[1]
CHECKER = "proof.checker"
# Geometry knows no privacy words.
FORBIDDEN = {"geometry": {"joint", "measures", "regions", "utilities"}}


def layers():
    """A module may import from its own folder and from those before it: the checker, which stands alone, then the
    picture's names, at its left edge or after ";   ", then the public list, which nobody imports from inside."""
    lines = PICTURE.splitlines()
    drawn = [name for line in lines for name in re.findall(r"\w+", line[:18]) + re.findall(r";   (\w+)/?:", line)]
    return [CHECKER, *drawn, "__init__", "__main__"]


def layer_of(module):
    """The layer of a dotted name: that of the folder or module below alphalift which it is in."""
    below = module.removeprefix("alphalift").removeprefix(".")
    return CHECKER if below == CHECKER else below.split(".")[0] or "__init__"


def imports(source, package):
    """Dotted names that a module of the package imports, in every form and place, and whether at the top of the file."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [own.name for own in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), package)
            names = [f"{origin}.{own.name}" for own in node.names]
        elif is_import(node) and isinstance(node.args[0], ast.Constant):
            names = [resolve_name(node.args[0].value, package)]
        yield from ((name, node in tree.body) for name in names)


def is_import(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__")


def dotted(path):
    """What Python calls the module in a file; a folder's `__init__` is the folder."""
    return ".".join(["alphalift", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")


def package_of(path):
    return ".".join(["alphalift", *path.relative_to(ROOT).parent.parts])


MODULES = {dotted(path): path for path in ROOT.rglob("*.py")}


def module_of(name):
    """The module that a dotted name is or is in; nothing for those of other packages."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name


def imported_modules(source, package):
    return {module for name, _ in imports(source, package) if (module := module_of(name))}


def complaints(module, source, package):
    order, layer = layers(), layer_of(module)
    for other in map(layer_of, imported_modules(source, package)):
        if order.index(other) > order.index(layer):
            yield f"{module} imports {other}, which is above it"
        if other in FORBIDDEN.get(layer, set()):
            yield f"{module} imports {other}, which {layer} may not know"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import alphalift", {"alphalift"}),
        ("import alphalift.a.b", {"alphalift.a.b"}),
        ("import os, alphalift.a as c", {"os", "alphalift.a"}),
        ("from alphalift import a", {"alphalift.a"}),
        ("from alphalift.a.b import c as d, e", {"alphalift.a.b.c", "alphalift.a.b.e"}),
        ("from alphalift.a import *", {"alphalift.a.*"}),
        ("from . import c", {"alphalift.folder.c"}),
        ("from .c import d", {"alphalift.folder.c.d"}),
        ("from .. import c", {"alphalift.c"}),
        ("from ..c.d import e", {"alphalift.c.d.e"}),
        ("importlib.import_module('alphalift.a')", {"alphalift.a"}),
        ("import_module('..a', __package__)", {"alphalift.a"}),
        ("__import__('alphalift.a')", {"alphalift.a"}),
        ("print('import alphalift.a')  # import alphalift.b", set()),
    ],
)
@pytest.mark.parametrize(
    ("block", "at_top"),
    [
        ("{}", True),
        ("def function():\n    {}", False),
        ("class Kind:\n    async def method(self):\n        for _ in self:\n            {}", False),
        ("try:\n    pass\nexcept ImportError:\n    {}", False),
        ("if TYPE_CHECKING:\n    {}", False),
    ],
)
def test_an_import_is_seen_in_every_form_and_place(source, found, block, at_top):
    seen = list(imports(block.format(source), "alphalift.folder"))
    assert {name for name, _ in seen} == found
    # A call is an expression inside a statement, wherever it stands.
    assert all(top == (at_top and "(" not in source) for _, top in seen)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("alphalift.joint", "from alphalift.solvers import Optimal"),
        ("alphalift.joint", "def late():\n    import alphalift.solvers.optimal"),
        ("alphalift.regions.kl", "from ..design import design"),
        ("alphalift.cli", "from alphalift import Joint"),
        ("alphalift.geometry.concave", "from ..joint import Joint"),
        ("alphalift.proof.checker", "from . import statement"),
    ],
)
def test_an_import_from_above_is_complained_of(module, source):
    assert len(list(complaints(module, source, module.rpartition(".")[0]))) == 1


def test_imports_run_one_way():
    assert len(MODULES) > 100
    for name, path in MODULES.items():
        assert not list(complaints(name, path.read_text(), package_of(path)))


def test_only_lists_of_names_import_by_computed_names():
    """Their names are the ones that they import for type checkers, which are seen."""
    for name, path in MODULES.items():
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if is_import(node)]
        assert name in ("alphalift", "alphalift.lazily") or all(
            isinstance(call.args[0], ast.Constant) for call in calls
        )


def test_there_are_no_import_cycles():
    """Between modules, so inside of folders too; imports in functions included: they would hide one."""
    graph = {name: imported_modules(path.read_text(), package_of(path)) - {name} for name, path in MODULES.items()}
    assert sum(map(len, graph.values())) > 300
    assert set(TopologicalSorter(graph).static_order()) == set(MODULES)


def test_functions_of_tables_import_other_libraries_alone():
    """Those that not every table needs; an import of ours in a function would hide a cycle."""
    for path in (ROOT / "tables").glob("*.py"):
        for name, at_top in imports(path.read_text(), "alphalift.tables"):
            assert at_top or not name.startswith("alphalift"), f"{path.name} imports {name} in a block"


@pytest.mark.parametrize("package", ["audit", "release", "show"])
def test_names_that_are_imported_when_used_come_from_where_checkers_are_told(package):
    tree = ast.parse((ROOT / package / "__init__.py").read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    told = {(own.name, node.module) for node in checked.body for own in node.names}
    (call,) = [node for node in ast.walk(checked) if isinstance(node, ast.Call)]
    listed = ast.literal_eval(call.args[1])
    assert told == {(name, f"alphalift.{package}.{home}") for home, names in listed.items() for name in names.split()}
    module = import_module(f"alphalift.{package}")
    assert all(getattr(module, name) for name in module.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing  # noqa: B018  asking is what is tested


def test_the_picture_has_every_layer_once():
    assert len(layers()) == len(set(layers()))
    assert set(layers()) == {layer_of(name) for name in MODULES}


def test_the_public_list_is_complete_and_real():
    assert len(alphalift.__all__) == len(set(alphalift.__all__))
    tree = ast.parse((ROOT / "__init__.py").read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    homes = {own.name: node.module for node in checked.body for own in node.names}
    assert set(homes) == set(alphalift.__all__)
    # What is imported when it is used comes from where type checkers are told.
    modules = {name for name, home in homes.items() if home == "alphalift"}
    assert {name: home for name, home in homes.items() if name not in modules} == alphalift._HOMES
    assert {f"alphalift.{name}" for name in modules} <= set(MODULES)
