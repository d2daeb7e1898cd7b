"""From mechanisms to released tables: plans, keys, ledgers, and who draws. A key is made and read without what draws."""

from typing import TYPE_CHECKING

from alphalift.choices import ONE_NAMESPACE
from alphalift.lazily import when_used

if TYPE_CHECKING:
    from alphalift.release.apply import Released, release, written_beside
    from alphalift.release.history import Told
    from alphalift.release.keys import Key, read_key
    from alphalift.release.ledger import Ledger, new_key
    from alphalift.release.plan import Plan, Releasable
    from alphalift.release.public import codebook, manifest
else:
    __getattr__ = when_used(
        __name__,
        {
            "apply": "Released release written_beside",
            "history": "Told",
            "keys": "Key read_key",
            "ledger": "Ledger new_key",
            "plan": "Plan Releasable",
            "public": "codebook manifest",
        },
    )

__all__ = [
    "ONE_NAMESPACE",
    "Key",
    "Ledger",
    "Plan",
    "Releasable",
    "Released",
    "Told",
    "codebook",
    "manifest",
    "new_key",
    "read_key",
    "release",
    "written_beside",
]
