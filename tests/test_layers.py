"""Dependencies run one way, and the public list is what it says."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import alphalift

ROOT = Path(alphalift.__file__).parent
# Every module may import from those before it and from its own folder.
LAYERS = [
    "errors",
    "whole",
    "exact",
    "workers",
    "compiled",
    "convex",
    "joint",
    "labels",
    "measures",
    "tables",
    "regions",
    "utilities",
    "geometry",
    "mechanism",
    "proof",
    "together",
    "solution",
    "solvers",
    "baselines",
    "design",
    "sharing",
    "sweep",
    "compare",
    "release",
    "data",
    "document",
    "learn",
    "show",
    "paper",
    "terminal",
    "cli",
]
# Geometry knows no privacy words.
FORBIDDEN = {"geometry": {"joint", "measures", "regions", "utilities"}}


def imported_layers(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("alphalift."):
            yield node.module.split(".")[1]


def test_imports_run_one_way():
    modules = [
        path
        for path in ROOT.rglob("*.py")
        if path.name not in ("__main__.py",) and path.parent / path.name != ROOT / "__init__.py"
    ]
    assert len(modules) > 30
    for path in modules:
        layer = path.relative_to(ROOT).with_suffix("").parts[0]
        for other in imported_layers(path):
            assert LAYERS.index(other) <= LAYERS.index(layer), f"{path.name} imports {other}, which is above it"
            assert other not in FORBIDDEN.get(layer, set()), f"{path.name} imports {other}"


def test_there_are_no_import_cycles():
    """Imports inside functions included: they would hide one."""
    files = {
        ".".join(["alphalift", *path.relative_to(ROOT).with_suffix("").parts]): path for path in ROOT.rglob("*.py")
    }
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    graph = {}
    for name, path in files.items():
        nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        asked = {(f"{node.module}.{own.name}", node.module) for node in nodes for own in node.names}
        graph[name] = {full if full in files else module for full, module in asked} & files.keys() - {name}
    assert sum(map(len, graph.values())) > 300
    assert set(TopologicalSorter(graph).static_order()) == set(graph)


def test_functions_of_tables_import_nothing_but_pyspark():
    for path in (ROOT / "tables").glob("*.py"):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.col_offset:
                assert str(node.module).startswith("pyspark"), f"{path.name} imports {node.module} in a block"


def test_every_module_is_in_a_layer():
    found = {path.relative_to(ROOT).with_suffix("").parts[0] for path in ROOT.rglob("*.py")}
    assert found - {"__init__", "__main__"} == set(LAYERS)


def test_the_public_list_is_complete_and_real():
    assert len(alphalift.__all__) == len(set(alphalift.__all__))
    tree = ast.parse((ROOT / "__init__.py").read_text())
    imported = {own.name for node in tree.body if isinstance(node, ast.ImportFrom) for own in node.names} - {"version"}
    assert imported == set(alphalift.__all__)
