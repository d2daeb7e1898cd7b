"""From mechanisms to released tables: plans, keys, ledgers, and who draws."""

from alphalift.choices import ONE_NAMESPACE
from alphalift.release.apply import Released, release, written_beside
from alphalift.release.history import Told
from alphalift.release.keys import Key, read_key
from alphalift.release.ledger import Ledger, new_key
from alphalift.release.plan import Plan, Releasable
from alphalift.release.public import codebook, manifest

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
