"""Plan: everything that decides a release, validated before anything is read."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from alphalift.choices import ONE_NAMESPACE, ShownIds
from alphalift.errors import InputError
from alphalift.joint import Bins, Joint, Origin, Variable
from alphalift.proof.checker import Integers
from alphalift.proof.statement import checkable
from alphalift.regions import Region
from alphalift.release.entry import Entry
from alphalift.release.keys import KEY_BYTES, Key
from alphalift.release.ledger import Ledger
from alphalift.release.outputs import Outputs
from alphalift.release.work import Work
from alphalift.tables import Columns, bin_edges
from alphalift.together import Proven

_LONGEST_NAMESPACE = 1000
_CHOICES = {
    "ids": ("check", "unique"),
    "show_ids": get_args(ShownIds),
    "unseen": ("refuse", "answer"),
    **dict.fromkeys(("redefine", "new_release", "new_people", "one_shot"), (False, True)),
}


class Releasable(Proven, Protocol):
    """A proven mechanism that says what it promises."""

    @property
    def region(self) -> Region: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """Which mechanism answers for whom, by which columns, and what leaves.

    The columns to release, and the bins of their numbers, are those that the mechanism was designed for; it knows them
    if it was designed from a table. Others are refused, unless `redefine` says that they mean the same.

    `record_id` names the column that identifies a record; it is shown as a pseudonym under the key, or as it is
    (`show_ids="real"`), or not at all (`"none"`). An id that occurs with two values would be answered twice, so that is
    checked, unless `ids="unique"` trusts the caller. `one_shot` needs neither ids nor key and draws fresh randomness:
    never do it twice for the same people. Values that the mechanism does not know are refused, or with
    `unseen="answer"` answered by its proven law for them.

    `keep` copies other columns, which no promise covers; the secret or a useful column only if `publish` names it, too.

    `ledger` remembers releases, beside the key unless told otherwise; a second release about the people of a `namespace`
    is refused by it, unless it is a retry, or the mechanism was designed after the others, or `new_release` asks for it.
    So is a retry about ids that were not released before, since they may be the same people written otherwise, unless
    `new_people` says that further people have come, or `new_release`. Releases under the keys in `also` count as well. `after` names mechanisms that have answered for the same people:
    what all tell together is then counted from the table.
    """

    mechanism: Releasable
    key: Key | None = None
    record_id: str | None = None
    useful: Columns | None = None
    bins: Mapping[str, Sequence[float]] | None = None
    redefine: bool = False
    namespace: str = ONE_NAMESPACE
    ids: Literal["check", "unique"] = "check"
    show_ids: Literal["pseudonym", "real", "none"] = "pseudonym"
    unseen: Literal["refuse", "answer"] = "refuse"
    keep: Sequence[str] = ()
    publish: Sequence[str] = ()
    ledger: Ledger | Literal["beside", "none"] = "beside"
    new_release: bool = False
    new_people: bool = False
    one_shot: bool = False
    also: Sequence[Key] = ()
    after: Sequence[Releasable] = ()
    variable: Variable = field(init=False)
    outputs: Outputs = field(init=False)

    def __post_init__(self) -> None:
        _require_choices(self)
        _require_proven(self.mechanism, self.unseen)
        _require_namespace(self.namespace)
        for name in ("also", "after"):
            object.__setattr__(self, name, _listed(getattr(self, name), name))
        for mechanism in self.after:
            proven(mechanism)
        _require_key(self)
        for name in ("keep", "publish"):
            object.__setattr__(self, name, _names(getattr(self, name), name))
        object.__setattr__(self, "variable", _variable(self))
        object.__setattr__(self, "outputs", Outputs.of(self.integers, self.variable))
        _require_columns(self)

    @property
    def integers(self) -> Integers:
        """The integers that were proven."""
        return proven(self.mechanism)

    @property
    def secret(self) -> tuple[str, ...]:
        """The secret columns, where the mechanism knows them."""
        origin = self.mechanism.joint.origin
        return () if origin is None else origin.sensitive

    @property
    def entry(self) -> Entry:
        """This release as a ledger remembers it."""
        joint = self.mechanism.joint
        if joint.origin is None:
            origin = Origin((), self.variable.columns, self.variable.bins)
            joint = Joint(joint.weights, joint.s_labels, joint.x_labels, counts=True, origin=origin)
        # A promise about all releases together was proven for the designed columns and for no others.
        after = _counted_in(self.mechanism) if self.variable == self.mechanism.joint.useful else ()
        return Entry(self.namespace, self.variable, self.record_id, self.integers, joint, after, self.promise)

    @property
    def promise(self) -> str:
        """The mechanism's promise in words."""
        promise = checkable(self.mechanism.region)
        return str(self.mechanism.region) if promise is None else promise.text

    def work(self) -> Work:
        """What those who draw need to know, and no more; without a key, under a fresh one."""
        return Work(
            key=secrets.token_bytes(KEY_BYTES) if self.key is None else self.key.secret,
            integers=self.integers,
            namespace=self.namespace,
            variable=self.variable,
            record_id=self.record_id,
            keep=tuple(self.keep),
            show_ids=self.shown_ids,
            answer_unseen=self.unseen == "answer",
            without_mass=tuple(self.mechanism.joint.x_without_mass),
        )

    @property
    def checks_ids(self) -> bool:
        """Whether ids are compared: there are some, and nobody vouches for them."""
        return self.ids == "check" and not self.one_shot

    @property
    def shown_ids(self) -> Literal["pseudonym", "real", "none"]:
        """How ids leave; without ids none do."""
        return "none" if self.record_id is None else self.show_ids


def _counted_in(mechanism: Proven) -> tuple[tuple[str, Variable], ...]:
    """The mechanisms that this one was designed after, with what they read; those of unknown columns are left out."""
    earlier = mechanism.after
    if earlier is None:
        return ()
    return tuple(
        (integers.identity, own)
        for integers, own in zip(earlier.integers, earlier.variables, strict=True)
        if own.columns
    )


def _require_choices(plan: Plan) -> None:
    for name, choices in _CHOICES.items():
        given = getattr(plan, name)
        if type(given) is not type(choices[0]) or given not in choices:
            raise InputError(f"{name} is {given!r}, expected {' or '.join(map(repr, choices))}")
    if not isinstance(plan.ledger, Ledger) and plan.ledger not in ("beside", "none"):
        raise InputError(f"ledger is {plan.ledger!r}, expected 'beside', 'none' or a Ledger")
    for name in ("record_id", "namespace"):
        if not isinstance(getattr(plan, name), str) and not (name == "record_id" and plan.record_id is None):
            raise InputError(f"{name} is of type {type(getattr(plan, name)).__name__}, expected a text")


def proven(mechanism: Proven) -> Integers:
    """The integers that were proven."""
    integers = getattr(mechanism, "integers", None)
    if not isinstance(integers, Integers):
        raise InputError("only a proven mechanism is released; this one has no integers (see design and prove)")
    return integers


def _listed(given: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InputError(f"{name} is of type {type(given).__name__}, expected a list")
    return tuple(given)


def _require_proven(mechanism: Proven, unseen: str) -> None:
    integers = proven(mechanism)
    if unseen == "answer" and integers.unseen is None:
        raise InputError("this mechanism has no law for unseen values; they can only be refused")


def _require_namespace(namespace: str) -> None:
    try:
        namespace.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("the namespace is no valid Unicode text; expected a short name for these people") from None
    if not 0 < len(namespace) <= _LONGEST_NAMESPACE:
        raise InputError(f"the namespace has {len(namespace)} characters, expected 1 to {_LONGEST_NAMESPACE}")


def _require_key(plan: Plan) -> None:
    for key in [*([] if plan.key is None else [plan.key]), *plan.also]:
        if not isinstance(key, Key):
            raise InputError(f"a key is a Key, as read_key reads it or Key.of_bytes makes it, not {type(key).__name__}")
    if {plan.record_id is None, plan.key is None} != {plan.one_shot}:
        raise InputError(
            "a release needs the column that identifies a record (record_id=) and a key (key=), so that a record is never "
            "answered twice with fresh randomness; without ids it can be done once and never again: one_shot=True"
        )
    if plan.one_shot and (plan.new_release or plan.also or plan.after or isinstance(plan.ledger, Ledger)):
        raise InputError(
            "a release with one_shot=True has no key, so no ledger remembers it: leave out what is about one"
        )
    if plan.key is not None and plan.ledger == "beside":
        Ledger.beside(plan.key)
    if any(key.path is None for key in plan.also):
        raise InputError("a key in also= has no file, so there is no ledger beside it that could be counted")


def _names(columns: Sequence[str], what: str) -> tuple[str, ...]:
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise InputError(f"{what} needs different names of columns")
    return names


def _variable(plan: Plan) -> Variable:
    """The useful columns and their bins: those of the design, or the caller's where it knows none or they are meant."""
    designed = plan.mechanism.joint.useful
    useful = designed.columns if plan.useful is None else _names(plan.useful, "useful")
    if not useful:
        raise InputError("this mechanism does not know the columns that it was designed for; name them with useful=")
    bins = designed.bins if plan.bins is None and useful == designed.columns else _bins(plan.bins or {})
    odd = [column for column, _ in bins if column not in useful]
    if odd:
        raise InputError(f"bins are declared for column {odd[0]!r}, which is not released")
    if designed.columns and not plan.redefine:
        if useful != designed.columns:
            raise InputError(
                f"the mechanism was designed for {', '.join(designed.columns)}, not for {', '.join(useful)}: its promise says "
                "nothing about other columns. If they mean the same under another name, say redefine=True"
            )
        if dict(bins) != dict(designed.bins):
            raise InputError(
                f"the mechanism was designed for other bins of {', '.join(designed.columns)}, and knows them: leave bins= out"
            )
    return Variable(useful, tuple(plan.integers.labels["x"]), bins)


def _bins(bins: Mapping[str, Sequence[float]]) -> Bins:
    return tuple((column, tuple(bin_edges(column, edges))) for column, edges in bins.items())


def _require_columns(plan: Plan) -> None:
    """Raise if an id, a kept or a released column says more than its owner may want."""
    told: dict[str, str] = {}
    earlier = [variable for _, variable in _counted_in(plan.mechanism)] + [one.joint.useful for one in plan.after]
    for variable in earlier:
        told |= dict.fromkeys(variable.columns, "released by an earlier mechanism")
    told |= dict.fromkeys(plan.secret, "the secret")
    told |= dict.fromkeys(plan.variable.columns, "released by the mechanism")
    if plan.record_id in told:
        raise InputError(
            f"column {plan.record_id!r} is {told[plan.record_id]}: it cannot also be the id. An id identifies a person and "
            "tells nothing else"
        )
    if plan.record_id in plan.keep:
        raise InputError(
            f'column {plan.record_id!r} is the id; whether it is shown is a matter of show_ids="real", not of keep='
        )
    for name in plan.keep:
        if name in told and name not in plan.publish:
            raise InputError(
                f"column {name!r} is {told[name]}: keeping it publishes it as it is, for every record. If that is meant, "
                "name it in publish= as well"
            )
    odd = [name for name in plan.publish if name not in plan.keep]
    if odd:
        raise InputError(f"publish= names column {odd[0]!r}, which is not kept; expected a column of keep=")
    taken = {plan.record_id, *plan.keep, *plan.variable.columns}
    for name in plan.outputs.columns():
        if name in taken:
            raise InputError(f"a released column is called {name!r}, and so is one that is read; rename it")
