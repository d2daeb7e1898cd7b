"""What can go wrong, and whose turn it is.

    AlphaliftError
    ├── InputError (also ValueError)      what was given cannot be used; the message says what to give
    │   ├── JointError                    a joint distribution or table of counts
    │   ├── TableError                    a file or data frame: columns, values, rows
    │   │   └── IdentifierError           a column that has almost a value of its own in every record
    │   ├── PromiseError                  alpha, epsilon or another parameter of a promise
    │   └── SettingError                  a solver's or sweep's setting, or a solver unfit for the problem
    ├── ProofError                        a mechanism file whose claims are not proven
    ├── WorkerError (also RuntimeError)   processes or a cluster were lost on the way; what was kept is kept
    └── SolverError (also RuntimeError)   the numerics gave up; no answer is returned

Messages name columns, shapes and limits, never a cell value of a private table.
"""

from __future__ import annotations


class AlphaliftError(Exception):
    """Base of every error that alphalift raises on purpose."""


class InputError(AlphaliftError, ValueError):
    """What was given cannot be used."""


class JointError(InputError):
    """A joint distribution or table of counts is not one."""


class TableError(InputError):
    """A file or data frame lacks what was asked of it."""


class IdentifierError(TableError):
    """A column has almost a value of its own in every record: an identifier, or numbers that need bins."""


class PromiseError(InputError):
    """A parameter of a privacy promise is out of range."""


class SettingError(InputError):
    """A setting is out of range, or a solver does not fit the problem."""


class ProofError(AlphaliftError):
    """A mechanism file is malformed, or a claim of it is not proven; it is not used."""


class WorkerError(AlphaliftError, RuntimeError):
    """Processes or a cluster that do the work were lost, or cannot be reached."""


class SolverError(AlphaliftError, RuntimeError):
    """The numerics gave up; no answer is returned."""
