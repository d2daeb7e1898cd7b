"""Cells in a folder that somebody else could have written: what can be checked is, and what is wrong is computed again."""

import hashlib
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from alphalift import AlphaLift, InputError, Mechanism, MutualInformation, sweep
from alphalift.baselines import SubsetMerging
from alphalift.sweep.store import Store, addresses
from killing import Counting
from strategies import random_joint

JOINT, REGION, SOLVER = random_joint(5, (3, 4)), AlphaLift(3, 0.1), Counting()
ADDRESS = addresses(JOINT, [(REGION,)], MutualInformation(), SOLVER)[0]


def resumed(folder):
    return sweep(JOINT, [REGION], solver=SOLVER, workers=1, resume=folder)


@pytest.fixture
def folder(tmp_path):
    resumed(tmp_path / "cells")
    return tmp_path / "cells"


def table_in(folder):
    return pa.ipc.open_stream(Store(folder).get(ADDRESS)).read_all()


def put(folder, table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    Store(folder).put(ADDRESS, bytes(sink.getvalue()))


def changed(table, **values):
    for name, value in values.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(name), pa.array([value], table.schema.field(name).type))
    return table


def consistent(table, matrix):
    """A cell whose figures are those of its mechanism, as a forger would make it."""
    mechanism = Mechanism(JOINT, matrix)
    return changed(
        table,
        utility=mechanism.utility(),
        normalized_utility=mechanism.normalized_utility(),
        upper_bound=1e-9 + mechanism.utility(),
        value=mechanism.worst_value(REGION),
        max_lift_leakage=mechanism.leakage(float("inf")),
        outputs=len(mechanism.p_y),
        places=np.flatnonzero(mechanism.p_y_given_x).tolist(),
        p_y_given_x=mechanism.p_y_given_x[mechanism.p_y_given_x > 0].tolist(),
    )


def flat(table):
    return table.column("p_y_given_x")[0].as_py()


def places(table):
    return table.column("places")[0].as_py()


FORGERIES = {
    "a utility of 99": lambda t: changed(t, utility=99.0),
    "a utility of NaN": lambda t: changed(t, utility=float("nan")),
    "a share of 99": lambda t: changed(t, normalized_utility=99.0),
    "a bound below the utility": lambda t: changed(t, upper_bound=0.0),
    "a bound above all information": lambda t: changed(t, upper_bound=99.0),
    "a bound of NaN": lambda t: changed(t, upper_bound=float("nan")),
    "another value": lambda t: changed(t, value=1.0),
    "another leakage": lambda t: changed(t, max_lift_leakage=0.0),
    "no outputs": lambda t: changed(t, outputs=0),
    "negative outputs": lambda t: changed(t, outputs=-1),
    "too many outputs": lambda t: changed(t, outputs=10**12),
    "an output more than there are": lambda t: changed(t, outputs=t.column("outputs")[0].as_py() + 1),
    "an output less than there are": lambda t: changed(t, outputs=t.column("outputs")[0].as_py() - 1),
    "negative places": lambda t: changed(t, places=[place - 1 for place in places(t)]),
    "places that repeat": lambda t: changed(t, places=[places(t)[0], *places(t)[:-1]]),
    "places that fall": lambda t: changed(t, places=places(t)[::-1]),
    "places beyond the mechanism": lambda t: changed(t, places=[*places(t)[:-1], 10**15]),
    "no places": lambda t: changed(t, places=[]),
    "places with gaps": lambda t: changed(t, places=[None] * len(places(t))),
    "an unknown status": lambda t: changed(t, status="splendid"),
    "a status that is never stored": lambda t: changed(t, status="interrupted"),
    "columns that do not sum to one": lambda t: changed(t, p_y_given_x=[2 * p for p in flat(t)]),
    "a negative probability": lambda t: changed(t, p_y_given_x=[-p for p in flat(t)]),
    "a probability of NaN": lambda t: changed(t, p_y_given_x=[float("nan")] * len(flat(t))),
    "a mechanism of another shape": lambda t: changed(t, p_y_given_x=flat(t)[:-1]),
    "no mechanism": lambda t: changed(t, p_y_given_x=None),
    "a mechanism with gaps": lambda t: changed(t, p_y_given_x=[None] * len(flat(t))),
    "another mechanism": lambda t: changed(t, p_y_given_x=flat(t)[::-1]),
    "one that breaks the promise": lambda t: consistent(t, np.eye(4)),
    "nothing": lambda t: t.slice(0, 0),
    "a cell too many": lambda t: pa.concat_tables([t, t]),
    "other columns": lambda t: t.drop_columns(["status"]),
    "another type": lambda t: t.set_column(0, "utility", pa.array(["99"])),
    "another order": lambda t: t.select(t.column_names[::-1]),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_cell_with_a_valid_digest_that_is_not_true_is_computed_again(folder, forgery):
    expected = resumed(folder).to_frame()
    put(folder, FORGERIES[forgery](table_in(folder)))
    again = resumed(folder)
    assert again.resumed == 0
    assert again.to_frame().equals(expected)
    assert resumed(folder).resumed == 1, "and stored again"


@pytest.mark.parametrize("content", [b"", b"no Arrow", b"\xff\xff\xff\xff\xff\xff\xff\x7f" + bytes(40)])
def test_bytes_that_are_no_cell_count_as_missing(folder, content):
    Store(folder).put(ADDRESS, content)
    assert resumed(folder).resumed == 0


def test_arrow_that_was_tampered_with_counts_as_missing_or_is_the_same(folder):
    """Every byte of the entry, changed: lengths and offsets of its buffers among them."""
    expected, entry = resumed(folder).to_frame(), Store(folder).get(ADDRESS)
    for place in range(0, len(entry), 7):
        Store(folder).put(ADDRESS, entry[:place] + bytes([entry[place] ^ 0x55]) + entry[place + 1 :])
        found = resumed(folder).to_frame()
        found, known = (frame.drop(columns="upper_bound") for frame in (found, expected))
        pd.testing.assert_frame_equal(found, known, rtol=1e-8, atol=1e-8)


def test_a_folder_in_the_place_of_a_cell_counts_as_missing(tmp_path):
    store = Store(tmp_path)
    (tmp_path / ADDRESS[:2] / ADDRESS[2:]).mkdir(parents=True)
    assert store.get(ADDRESS) is None


def test_honest_cells_from_nothing_to_all_are_resumed(tmp_path):
    joint, regions = random_joint(1, (3, 4)), [AlphaLift(3, epsilon) for epsilon in (0.0, 0.1, 9.0)]
    for solver in (SOLVER, SubsetMerging()):
        first = sweep(joint, regions, solver=solver, workers=1, resume=tmp_path)
        assert len({cell.figures["outputs"] for cell in first.cells[0]}) > 1
        assert sweep(joint, regions, solver=solver, workers=1, resume=tmp_path).resumed == 3


@pytest.mark.skipif(os.name != "posix", reason="modes of folders")
def test_a_folder_that_others_can_write_to_is_refused(tmp_path, monkeypatch):
    for mode in (0o770, 0o707, 0o777, 0o1777):
        (tmp_path / "open").mkdir(exist_ok=True)
        (tmp_path / "open").chmod(mode)
        with pytest.raises(InputError, match="others can write"):
            Store(tmp_path / "open")
    (tmp_path / "open").chmod(0o755)
    Store(tmp_path / "open")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(InputError, match="belongs to another user"):
        Store(tmp_path / "open")


def test_digests_are_what_they_were(folder):
    [file] = [path for path in folder.rglob("*") if path.is_file()]
    content = file.read_bytes()
    assert content[:32] == hashlib.sha256(content[32:]).digest()
