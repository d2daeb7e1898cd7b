"""A table of people, a design for it and a plan, for the tests of releases."""

import numpy as np
import pandas as pd
import pyarrow as pa

from alphalift import AlphaLift, design, read_joint
from alphalift.release import Key, Plan, release

KEY = Key.of_bytes(bytes(range(32)))
ROWS = 3000


def people(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    job = rng.choice(["cook", "clerk, senior", 'smith "x"', "driver"], rows, p=[0.4, 0.3, 0.2, 0.1])
    ill = np.where(rng.random(rows) < np.where(job == "cook", 0.6, 0.2), "yes", "no")
    return pd.DataFrame({"id": rng.permutation(rows) + 10**9, "job": job, "ill": ill})


TABLE = people()
JOINT = read_joint(TABLE, sensitive="ill", useful="job")
SOLUTION = design(JOINT, AlphaLift(3, 0.05))


def plan(**options):
    """As a test wants it; without a ledger, since this key has no file, and with real ids, to compare records by."""
    usual = {"mechanism": SOLUTION, "key": KEY, "record_id": "id", "ledger": "none", "show_ids": "real"}
    return Plan(**(usual | options))


def arrow(table):
    if isinstance(table, pa.Table):
        return table
    table = table.collect() if hasattr(table, "collect") else table
    return table.to_arrow() if hasattr(table, "to_arrow") else pa.Table.from_pandas(table, preserve_index=False)


def by_id(released):
    table = arrow(getattr(released, "table", released))
    return dict(zip(map(str, table.column("id").to_pylist()), table.column("released job").to_pylist(), strict=True))


def run(table, *, out=None, workers=None, **options):
    return release(plan(**options), table, out=out, workers=workers)
