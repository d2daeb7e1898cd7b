"""Finished cells on disk: found again, never taken for others, and nothing damaged is used."""

import ast
import importlib
import linecache
import math
import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pytest

import alphalift
from alphalift import (
    AlphaLift,
    Custom,
    InputError,
    Joint,
    MaxLift,
    MutualInformation,
    Optimal,
    SettingError,
    grid,
    sweep,
)
from alphalift.baselines import SubsetMerging
from alphalift.sweep.store import COMPUTING, Store, addresses
from killing import Counting
from strategies import random_joint

REGIONS = grid(AlphaLift, alpha=[math.inf, 3], epsilon=[0.05, 0.1, 0.2])
JOINTS = [random_joint(seed, (3, 4)) for seed in range(3)]
SOLVER = Counting()


def content(tradeoff):
    """All bytes of a result."""
    matrices = b"".join(
        cell.places.tobytes() + cell.p_y_given_x.tobytes() for cells in tradeoff.cells for cell in cells
    )
    return tradeoff.to_frame().to_csv().encode() + matrices


@cache
def expected():
    return content(sweep(JOINTS, REGIONS, solver=SOLVER, workers=1))


def entries(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_sweep_goes_on_from_what_is_there_and_computes_only_the_rest(tmp_path):
    solver, folder = replace(SOLVER, log=tmp_path / "log"), tmp_path / "cells"
    first = sweep(JOINTS[:2], REGIONS, solver=solver, workers=1, resume=folder)
    assert first.resumed == 0
    assert len(entries(folder)) == 12
    assert folder.stat().st_mode & 0o777 == 0o700
    # A part is lost: the last two cells of a chain.
    for address in addresses(JOINTS[1], [(region,) for region in REGIONS[3:]], MutualInformation(), SOLVER)[1:]:
        (folder / address[:2] / address[2:]).unlink()
    (tmp_path / "log").unlink()
    again = sweep(JOINTS, REGIONS, solver=solver, workers=1, resume=folder)
    assert again.resumed == 10
    assert content(again) == expected()
    assert len((tmp_path / "log").read_text().splitlines()) == 18 - 10


def test_what_is_damaged_is_computed_again(tmp_path):
    sweep(JOINTS, REGIONS, solver=SOLVER, workers=1, resume=tmp_path)
    files = entries(tmp_path)
    for place, damage in enumerate((b"", files[0].read_bytes()[:-1], bytes(500), files[1].read_bytes() + b"x")):
        files[place].write_bytes(damage)
    again = sweep(JOINTS, REGIONS, solver=SOLVER, workers=1, resume=tmp_path)
    assert again.resumed < 18
    assert content(again) == expected()
    assert sweep(JOINTS, REGIONS, solver=SOLVER, workers=1, resume=tmp_path).resumed == 18


def test_solvers_that_answer_all_together_have_one_entry_a_joint(tmp_path):
    first = sweep(JOINTS, REGIONS, solver=SubsetMerging(), resume=tmp_path, workers=1)
    assert len(entries(tmp_path)) == 3
    again = sweep(JOINTS, REGIONS, solver=SubsetMerging(), resume=tmp_path, workers=1)
    assert (again.resumed, content(again)) == (18, content(first))


def test_whatever_numbers_depend_on_is_in_the_address():
    joint, steps = JOINTS[0], [(MaxLift(0.1),), (MaxLift(0.2),)]
    base = addresses(joint, steps, MutualInformation(), Optimal())
    assert base[0] != base[1]
    assert addresses(joint, steps[:1], MutualInformation(), Optimal()) == base[:1], "later steps do not matter"
    assert addresses(joint, steps, MutualInformation(), Optimal(threads=1)) == base, "nor do threads"
    for others in (
        addresses(JOINTS[1], steps, MutualInformation(), Optimal()),
        addresses(joint, steps[::-1], MutualInformation(), Optimal()),
        addresses(joint, [(*steps[0], *steps[1])], MutualInformation(), Optimal()),
        addresses(joint, steps, MutualInformation(), Optimal(relative_gap=1e-3)),
        addresses(joint, steps, MutualInformation(), SubsetMerging()),
    ):
        assert not {*others} & {*base}
    relabelled = Joint([[1, 2], [3, 4]], ["a", "b"], counts=True), Joint([[1, 2], [3, 4]], counts=True)
    one, two = (addresses(j, steps, MutualInformation(), Optimal()) for j in relabelled)
    assert one == two, "labels do not matter to numbers"


@dataclass(frozen=True)
class Hiding(Counting):
    secret: int = field(default=0, repr=False)


def test_the_code_of_a_solver_of_ones_own_is_in_its_address(tmp_path, monkeypatch):
    code = "from killing import Counting\nclass Mine(Counting): pass\n"
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    mine = importlib.import_module("mine")
    before = addresses(JOINTS[0], [REGIONS], MutualInformation(), mine.Mine())
    assert before == addresses(JOINTS[0], [REGIONS], MutualInformation(), mine.Mine())
    (tmp_path / "mine.py").write_text(code + "# changed\n")
    linecache.checkcache()
    assert before != addresses(JOINTS[0], [REGIONS], MutualInformation(), importlib.reload(mine).Mine())


def test_the_same_problem_twice_is_computed_once(tmp_path):
    solver = replace(SOLVER, log=tmp_path / "log")
    sweep([JOINTS[0]] * 3, REGIONS, solver=solver, workers=1, resume=tmp_path / "cells")
    assert len((tmp_path / "log").read_text().splitlines()) == len(REGIONS)


def test_cells_are_private_in_a_folder_that_is_not(tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)
    sweep(JOINTS[0], REGIONS[:1], solver=SOLVER, resume=tmp_path / "open")
    (file,) = entries(tmp_path / "open")
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_what_no_text_tells_completely_is_not_resumed(tmp_path):
    class Settled:
        def solve(self, joint, regions, utility):
            raise AssertionError

    with pytest.raises(SettingError, match=r"does not tell \(all\)"):
        sweep(JOINTS, REGIONS, solver=Settled(), resume=tmp_path)
    with pytest.raises(SettingError, match=r"does not tell \(secret\)"):
        sweep(JOINTS, REGIONS, solver=Hiding(secret=1), resume=tmp_path)
    mine = Custom("MaxLift", 1.2, lambda lifts, p_s: lifts.max(axis=1), lambda w, p_s: w.max(axis=1))
    with pytest.raises(SettingError, match="promise of your own"):
        sweep(JOINTS, [mine], resume=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        sweep(JOINTS, REGIONS, resume=tmp_path / "file")


def test_files_appear_whole(tmp_path, monkeypatch):
    store = Store(tmp_path / "s")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        store.put("ab" * 32, b"x")
    assert not entries(tmp_path)
    assert store.get("ab" * 32) is None


def test_all_code_that_computes_is_in_the_address():
    """Whatever the solvers import, directly or not, is on the list."""
    root = Path(alphalift.__file__).parent
    todo = [*(root / "solvers").glob("*.py"), *(root / "baselines").glob("*.py"), root / "sweep" / "cells.py"]
    seen = set()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("alphalift."):
                place = root.joinpath(*node.module.split(".")[1:])
                todo += [*place.glob("*.py")] if place.is_dir() else [place.with_suffix(".py")]
    names = {path.relative_to(root).as_posix() for path in seen}
    listed = "|".join(re.escape(name) for name in COMPUTING)
    missing = {name for name in names if not re.match(f"({listed})(/|$)", name)}
    assert missing == {"errors.py", "lazily.py", "shown.py"}, "messages, imports and pictures compute nothing"
