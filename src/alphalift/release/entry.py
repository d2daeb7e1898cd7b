"""One release as the ledger remembers it: what makes it this release and no other, and a sealed copy of its joint."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from alphalift.errors import InputError
from alphalift.joint import Beside, Bins, Joint, Origin, Variable
from alphalift.proof.checker import Integers, rows_of
from alphalift.release.keys import Key, derived
from alphalift.release.trace import Trace

_NONCE = 12
# What has to be the same for a retry, in the words that name a difference.
_FACTS = {
    "identity": "another mechanism",
    "useful": "another useful column",
    "bins": "other bins",
    "secret": "another secret column",
    "secret_as": "other bins or values of the secret",
    "record_id": "another id column",
}


@dataclass(frozen=True)
class Entry:
    """A mechanism that answers for the people of a namespace, by their values of the variable and their ids.

    `after` are the mechanisms that its promise counts in, by their identities, and what each has answered for; `promise`
    is the promise in words, and `trace` what is known of the records that it has answered for.
    """

    namespace: str
    variable: Variable
    record_id: str | None
    integers: Integers
    joint: Joint
    after: tuple[tuple[str, Variable], ...] = ()
    promise: str = ""
    trace: Trace | None = None

    @property
    def secret(self) -> Variable:
        """The secret: X itself if the promise is about it; without columns where the joint came from no table.

        Two binnings of a column are two secrets: a promise about one says nothing about the other.
        """
        origin, labels = self.joint.origin, tuple(sorted(self.joint.s_labels))
        if origin is None:
            return Variable((), labels)
        columns = origin.useful if self.joint.is_about_x else origin.sensitive
        return Variable(columns, labels, tuple(pair for pair in origin.bins if pair[0] in columns))

    @property
    def facts(self) -> dict[str, Any]:
        """What makes it this release: plain values that JSON keeps as they are."""
        return {
            "namespace": self.namespace,
            "identity": self.integers.identity,
            "useful": list(self.variable.columns),
            "bins": _plain(self.variable.bins),
            "secret": list(self.secret.columns),
            "secret_as": [_plain(self.secret.bins), _digest(self.secret.labels)],
            "record_id": self.record_id,
        }

    def differences(self, other: Entry) -> list[str]:
        """What another release for the same namespace does otherwise, in words; nothing for a retry."""
        own, theirs = self.facts, other.facts
        return [words for name, words in _FACTS.items() if own[name] != theirs[name]]

    def covers(self, others: Sequence[Entry]) -> bool:
        """Whether its promise is about all of these together with itself: the same secret and ids, each counted in."""
        same = all(other.record_id == self.record_id and other.secret == self.secret for other in others)
        named = bool(self.secret.columns) or not others  # secrets without a name may be any two
        return (
            same
            and named
            and Counter((other.integers.identity, other.variable) for other in others) <= Counter(self.after)
        )

    def sealed(self, key: Key) -> bytes:
        """The integers and the joint, readable with the key alone and bound to the facts."""
        joint, origin = self.joint, self.joint.origin
        content = {
            "variable": [self.variable.columns, self.variable.labels, self.variable.bins],
            "promise": self.promise,
            "trace": self.trace and [self.trace.ids, self.trace.tables],
            "after": [[identity, [own.columns, own.labels, own.bins]] for identity, own in self.after],
            "integers": [getattr(self.integers, name) for name in ("labels", "bits", "listed", "unseen", "dense")],
            "weights": joint.weights,
            "s_labels": joint.s_labels,
            "x_labels": joint.x_labels,
            "origin": origin and [origin.sensitive, origin.useful, origin.bins, origin.declared],
            "beside": joint.beside
            and [[[v.columns, v.labels, v.bins] for v in joint.beside.variables], joint.beside.cells],
        }
        nonce = secrets.token_bytes(_NONCE)
        text = json.dumps(content, separators=(",", ":")).encode("ascii")
        return nonce + _cipher(key).encrypt(nonce, text, as_text(self.facts).encode("ascii"))


def as_text(facts: dict[str, Any]) -> str:
    """The facts as one text, the same for the same facts."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"))


def opened(text: str, sealed: bytes, key: Key) -> Entry:
    """The entry that was sealed with the facts in this text; anything else is refused."""
    try:
        content = json.loads(_cipher(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], text.encode("ascii")))
        facts = json.loads(text)
        joint = Joint(
            content["weights"],
            content["s_labels"],
            content["x_labels"],
            counts=True,
            origin=_origin(content["origin"]),
            beside=_beside(content["beside"]),
        )
        variable = _variable(content["variable"])
        after = tuple((identity, _variable(parts)) for identity, parts in content["after"])
        return Entry(
            facts["namespace"],
            variable,
            facts["record_id"],
            _integers(*content["integers"]),
            joint,
            after,
            content["promise"],
            content["trace"] and Trace(*map(tuple, content["trace"])),
        )
    except (InvalidTag, ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            "an entry of the ledger was not written by this key, or was changed; restore the ledger from a copy"
        ) from None


def _integers(labels: Any, bits: int, listed: Any, unseen: Any, dense: bool = True) -> Integers:
    """As they are sealed; entries from before version 3 of files do not say how weights are listed."""
    return Integers(labels, bits, rows_of(listed, dense=dense), unseen, dense)


def _plain(bins: Bins) -> list[Any]:
    return [[column, list(map(float, edges))] for column, edges in bins]


def _digest(labels: Sequence[str]) -> str:
    """Tells lists of labels apart without a list of them in the open part of the ledger."""
    return hashlib.sha256(json.dumps(labels).encode("ascii")).hexdigest()[:32]


def _cipher(key: Key) -> AESGCM:
    return AESGCM(derived(key.secret, "ledger"))


def _origin(parts: list[Any] | None) -> Origin | None:
    if parts is None:
        return None
    sensitive, useful, bins, declared = parts
    return Origin(tuple(sensitive), tuple(useful), _bins(bins), tuple(declared))


def _beside(parts: list[Any] | None) -> Beside | None:
    if parts is None:
        return None
    variables, cells = parts
    return Beside(tuple(map(_variable, variables)), tuple(map(tuple, cells)))


def _variable(parts: list[Any]) -> Variable:
    columns, labels, bins = parts
    return Variable(tuple(columns), tuple(labels), _bins(bins))


def _bins(parts: list[Any]) -> Any:
    return tuple((column, tuple(edges)) for column, edges in parts)
