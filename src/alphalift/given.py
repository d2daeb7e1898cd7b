"""What was typed, as the library takes it: promises, shares, places to write to, declared columns. Nothing here computes for long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_FLOOR, Decimal, InvalidOperation, localcontext
from pathlib import Path
from typing import TYPE_CHECKING

from alphalift.errors import InputError
from alphalift.regions import AlphaLift, MaxLift, Region, parse
from alphalift.regions.parse import PROMISES
from alphalift.whole import require_file_place, require_not, require_outside, whole_file

if TYPE_CHECKING:
    from alphalift.document import Stored
    from alphalift.joint import Joint, Variable
    from alphalift.tables import Quantiles
    from alphalift.tables.file import TableFile
    from alphalift.utilities import Utility

# What no group may gain more than where no promise is named: half as likely again, the step that people call notable.
USUAL_MOST = "1.5"
# The orders of curves where none is named.
USUAL_ALPHAS = ("inf", "10")
# Of --at-most: the largest, the digits of its logarithm before it is rounded down, and to what.
_MOST_TIMES, _LOGARITHM_DIGITS, _EPSILON_UNIT = Decimal(10) ** 100, 60, Decimal("0.000001")


def region_of(promise: str | None, alpha: str | None, epsilon: str | None, at_most: str | None = None) -> Region:
    """The promise: one text, alpha and epsilon, or what a group may gain at most; of nothing the usual most that it may gain."""
    match promise, alpha, epsilon, at_most:
        case None, None, None, None:
            return MaxLift(most_gained(USUAL_MOST))
        case str(), None, None, None:
            return parse(promise)
        case None, str(), str(), None:
            return AlphaLift(alpha, epsilon)  # type: ignore[arg-type]  # texts keep the digits that were typed
        case None, None, None, str():
            return MaxLift(most_gained(at_most))
        case None, str(), None, None:
            raise InputError(f"--alpha {alpha} needs --epsilon beside it, like --epsilon 0.3, or for `design` --keep")
        case None, None, str(), None:
            raise InputError(
                f"--epsilon {epsilon} needs --alpha beside it: 'inf' for the strictest promise, or like 10"
            )
    raise InputError(
        "give the promise as --alpha and --epsilon, as --at-most, or as --promise, and in one of these ways only"
    )


def chosen_words(region: Region, at_most: str | None, promise: str | None, alpha: str | None) -> str:
    """What a promise that was not given as alpha and epsilon, or as a text, is in those terms, and why; else nothing."""
    if promise is not None or alpha is not None:
        return ""
    epsilon = region.parameters["epsilon"]
    means = f"No group may become more than {(at_most or USUAL_MOST).strip()} times as likely: alpha = inf, epsilon = {epsilon}, its logarithm rounded down."
    if at_most is not None:
        return means
    return (
        f"Chosen, since no promise was named: --at-most {USUAL_MOST}. {means} It holds for every group, however rare, and for every released "
        "value, so that there is no alpha to choose; others are --at-most 2, --alpha 10 --epsilon 0.3, or --promise."
    )


def most_gained(text: str) -> str:
    """The epsilon of max-lift with which no group becomes more than so many times as likely: its logarithm, rounded down."""
    try:
        times = Decimal(text.strip())
    except InvalidOperation:
        times = Decimal("NaN")
    if not (times.is_finite() and 1 <= times <= _MOST_TIMES):
        raise InputError(
            f"--at-most is {text!r}, expected how many times as likely a group may become: a number of 1 or more, like 1.5"
        )
    with localcontext(prec=_LOGARITHM_DIGITS):
        return f"{times.ln().quantize(_EPSILON_UNIT, ROUND_FLOOR):f}"


def utility_of(text: str | None) -> Utility | None:
    """The utility that is typed, if one is."""
    if text is None:
        return None
    from alphalift.utilities import parse as parse_utility

    return parse_utility(text)


def share_of(text: str, option: str) -> float:
    """A share as people type it: 90% or 0.9."""
    share = text.strip().removesuffix("%")
    try:
        number = float(share) / (100 if share != text.strip() else 1)
    except ValueError:
        number = math.nan
    if not 0 < number <= 1:
        raise InputError(f"{option} is {text!r}, expected a share above 0% and at most 100%, like 90% or 0.9")
    return number


def kind_of(name: str) -> type[Region]:
    """A kind of promise with an epsilon and nothing else, by its name."""
    kinds = {own: kind for own, kind in PROMISES.items() if own not in ("AlphaLift", "Renyi")}
    if name.strip() not in kinds:
        raise InputError(f"the kind of promise is {name!r}, expected one of {', '.join(kinds)}, or --alpha instead")
    return kinds[name.strip()]


@dataclass(frozen=True)
class Asked:
    """A kind of promise without its epsilon, and its other parameters: of each, what one curve has, or all of them."""

    kind: type[Region]
    parameters: dict[str, list[float]]

    def about(self, joint: Joint) -> Joint:
        """The joint whose secret these promises are about."""
        return self._one.about(joint)

    def called(self, secret: str, useful: str) -> dict[str, str]:
        """What secret and useful column are called: a promise about X has that for its secret."""
        itself = type(self._one).about is not Region.about
        return {"secret": useful if itself else secret, "useful": useful}

    @property
    def _one(self) -> Region:
        return self.kind(**self.single, epsilon=1.0)  # type: ignore[call-arg]

    @property
    def single(self) -> dict[str, float]:
        """The parameters where there is one promise."""
        return {name: values[0] for name, values in self.parameters.items()}


def asked_kind(promise: str | None, alphas: Sequence[str | float]) -> Asked:
    """A kind that is named, or alpha-lift of these orders, the strictest first."""
    if promise is not None and alphas:
        raise InputError("give --alpha, or --promise with the name of a kind alone, like --promise KL, and not both")
    if promise is not None:
        return Asked(kind_of(promise), {})
    orders = {AlphaLift(alpha, 0).alpha for alpha in alphas}  # type: ignore[arg-type]  # texts keep the digits that were typed
    return Asked(AlphaLift, {"alpha": sorted(orders, reverse=True)})


def table_of(table: Path, separator: str | None, sheet: str | None) -> Path | TableFile:
    """The table, with what its header does not tell."""
    if separator is None and sheet is None:
        return table
    from alphalift.tables import TableFile

    return TableFile(table, separator, sheet)


def confidence_of(text: str) -> float:
    """A confidence as people type it: 95% or 0.95."""
    share = text.strip().removesuffix("%")
    try:
        number = float(share) / (100 if share != text.strip() else 1)
    except ValueError:
        raise InputError(f"--confidence is {text!r}, expected a share like 95% or 0.95") from None
    if not 0 < number <= 1:
        raise InputError(f"--confidence is {text!r}, expected more than 0% and at most 100%")
    return number


def check_folder(out: Path) -> None:
    """Fail before the work, not after it."""
    if any(place.exists() and not place.is_dir() for place in (out, *out.parents)):
        raise InputError(f"{out} is a file, or lies in one; expected a folder to write to")


def check_output(out: Path, given: Sequence[Path]) -> None:
    """Fail before the work, not after it, and never write over the table, which is the first, or what else is given."""
    require_not(out, given)
    require_outside(out, given[0])
    require_file_place(out)


def check_report(out: Path, given: Sequence[Path]) -> None:
    """Fail before the work: a page has a page's ending, so that no table or mechanism is written over, and is nothing that is read."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{out}: a report is a page; expected a name that ends in .html")
    require_not(out, given)
    for path in given:
        require_outside(out, path)
    require_file_place(out)


def check_workers(count: int | None, dask: str | None) -> None:
    """Fail before anything is read."""
    if count is not None and dask is not None:
        raise InputError("give --workers, for processes on this machine, or --dask, for a cluster, not both")


def date_of(text: str) -> str:
    """A day as people write it for machines."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise InputError(f"--date is {text!r}, expected a day like 2026-05-31") from None


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """The text as a file that appears whole; with `private` readable by its owner alone."""
    with whole_file(path, private=private) as part:
        part.write_text(text, encoding="utf-8", newline="")


@dataclass(frozen=True)
class Declared:
    """What was declared about a table's columns."""

    drop_missing: bool
    bins: dict[str, list[float] | Quantiles]
    alphabet: dict[str, list[str]] = field(default_factory=dict)
    anyway: bool = False

    def read(
        self, table: Path | TableFile, sensitive: list[str], useful: list[str], after: Sequence[Stored] = ()
    ) -> Joint:
        """The joint, with the columns beside it that were released before."""
        from alphalift.tables import read_joint

        beside: Sequence[Variable] = ()
        if after:
            from alphalift.together import columns_before

            beside = columns_before(after)
        if not all(variable.columns for variable in beside):
            raise InputError("a mechanism given with --after does not say which columns it releases; design it again")
        return read_joint(
            table,
            sensitive=sensitive,
            useful=useful,
            missing="drop" if self.drop_missing else "symbol",
            bins=self.bins,
            alphabet=self.alphabet,
            beside=beside,
            anyway=self.anyway,
        )

    @property
    def said(self) -> list[str]:
        """What is to be disclosed of what was declared."""
        return [
            f"The bin edges of {column} are computed from the table: they tell something about its records that no promise covers. "
            f"Edges that are public tell nothing: --bins {column}=..."
            for column in self._computed
        ]

    @property
    def _computed(self) -> list[str]:
        return [column for column, edges in self.bins.items() if not isinstance(edges, list)]

    def source(self, columns: list[str]) -> str:
        """Where the domain came from, for the file's provenance."""
        declared = [column for column in (*self.bins, *self.alphabet) if column not in self._computed]
        read = [column for column in columns if column not in (*self.bins, *self.alphabet)]
        ways = {
            "declared": declared,
            "read from the table": read,
            "bins with edges computed from the table": self._computed,
        }
        parts = [f"{way} for {', '.join(names)}" for way, names in ways.items() if names]
        return f"domain {' and '.join(parts)}"


def read_alphabet(texts: list[str] | None) -> dict[str, list[str]]:
    """Declared values by column, read from files with one value a line."""
    declared = {}
    for column, file in alphabet_files(texts).items():
        try:
            declared[column] = file.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            raise InputError(f"{file} is not a text in UTF-8; expected one value a line") from None
    return declared


def alphabet_files(texts: list[str] | None) -> dict[str, Path]:
    return files_of(texts, "an alphabet", "--alphabet")


def files_of(texts: list[str] | None, what: str, option: str) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for text in texts or []:
        column, sign, file = text.partition("=")
        if not sign or not Path(file).is_file():
            raise InputError(f"{what} is written as 'column=FILE' with a file that exists, not {text!r}")
        if column in files:
            raise InputError(f"{option} is given twice for the column {column!r}; put all its values into one file")
        files[column] = Path(file)
    return files


def public_bins(texts: list[str] | None) -> dict[str, list[float]]:
    """Declared bins by column: 'age=18,30' are <18, 18 to <30 and >=30."""
    bins: dict[str, list[float]] = {}
    for column, edges in _bins_by_column(texts):
        try:
            bins[column] = [float(edge) for edge in edges.split(",")]
        except ValueError:
            raise InputError(f"bins are written as 'column=18,30,65', not {f'{column}={edges}'!r}") from None
    return bins


def read_bins(texts: list[str] | None) -> dict[str, list[float] | Quantiles]:
    """The same, and 'age=quantiles:5', whose edges are chosen."""
    chosen: dict[str, list[float] | Quantiles] = {}
    declared = []
    for column, edges in _bins_by_column(texts):
        name, sign, count = edges.partition(":")
        if not sign or name.strip() != "quantiles" or not count.strip().isdecimal():
            declared.append(f"{column}={edges}")
            continue
        from alphalift.tables import Quantiles

        chosen[column] = Quantiles(int(count))
    return {**public_bins(declared), **chosen}


def _bins_by_column(texts: list[str] | None) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for text in texts or []:
        column, sign, edges = text.rpartition("=")
        if not sign:
            raise InputError(f"bins are written as 'column=18,30,65' or 'column=quantiles:5', not {text!r}")
        if column in found:
            raise InputError(f"--bins is given twice for the column {column!r}; put all its edges into one")
        found[column] = edges
    return list(found.items())
