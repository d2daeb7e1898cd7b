"""Keyed draws: the law is the proven integers, and nothing but key, mechanism, names, id and value matters."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from outputs_of_words import outputs_of_words
from scipy.stats import chi2

from alphalift import InputError, TableError
from alphalift.proof.checker import Integers, rows_of
from alphalift.release.ids import RisingIds, as_text, quick_hashes
from alphalift.release.keyed import KeyedDraw, Pseudonyms
from alphalift.release.keys import Key

KEY = bytes(range(32))
NAMES = ("n", ["job"], "id")


def mechanism(bits=52, outputs=5, symbols=4, seed=0, unseen=True):
    rng = np.random.default_rng(seed)
    columns = []
    for _ in range(symbols + 1):
        shares = rng.integers(0, 1000, outputs)
        shares[rng.integers(outputs)] += 1
        column = [int(share) * (1 << bits) // int(shares.sum()) for share in shares]
        column[int(shares.argmax())] += (1 << bits) - sum(column)
        columns.append(column)
    weights = [[column[y] for column in columns[:-1]] for y in range(outputs)]
    labels = {"s": ["s"], "x": [f"x{i}" for i in range(symbols)], "y": [f"y{i}" for i in range(outputs)]}
    return Integers(labels, bits, rows_of(weights, dense=True), columns[-1] if unseen else None, dense=True)


def cipher(*names):
    """AES under the key for these names, one block at a time, as integers."""
    info = json.dumps(["alphalift release 2", *names], separators=(",", ":")).encode("ascii")
    aes = Cipher(algorithms.AES(HKDF(SHA256(), 32, salt=None, info=info).derive(KEY)), modes.ECB())
    return lambda number: int.from_bytes(aes.encryptor().update(number.to_bytes(16, "big")), "big")


def mac(block, text, x):
    """F again, one record at a time: CBC-MAC by hand, in Python's integers."""
    content = text.encode()
    message = len(content).to_bytes(2, "big") + x.to_bytes(3, "big") + content
    message += bytes(-len(message) % 16)
    state = 0
    for start in range(0, len(message), 16):
        state = block(state ^ int.from_bytes(message[start : start + 16], "big"))
    return state


def word(law, text, x):
    """The bits that select the output."""
    draw, extend = (cipher(purpose, law.identity, *NAMES) for purpose in ("draw", "extend"))
    state = mac(draw, text, x)
    whole, left = divmod(law.bits, 64)
    if whole >= 2:
        bits = b"".join(extend(state ^ counter).to_bytes(16, "big") for counter in range(whole // 2 + 1))
    else:
        bits = state.to_bytes(16, "big")
    limbs = [int.from_bytes(bits[8 * i : 8 * i + 8], "big") for i in range(whole + 1)]
    number = limbs[0] >> (64 - left) if left else 0
    for limb in limbs[1:]:
        number = number << 64 | limb
    return number


@pytest.mark.parametrize("bits", [1, 8, 52, 63, 64, 65, 100, 127, 128, 129, 300])
def test_every_draw_is_what_the_words_select(bits):
    law = mechanism(bits)
    rng = np.random.default_rng(bits)
    texts = [
        "",
        "7",
        "007",
        "a" * 11,
        "b" * 12,
        "c" * 27,
        "d" * 28,
        "é€😀",
        "x" * 1000,
        *map(str, rng.integers(-(10**12), 10**12, 30)),
    ]
    x = rng.integers(0, 5, len(texts))
    drawn, total = KeyedDraw(KEY, law, *NAMES).drawn(pa.array(texts), x)
    for text, symbol, y in zip(texts, x.tolist(), drawn.tolist(), strict=True):
        number = None if symbol == 4 else symbol
        assert outputs_of_words(law, number, [word(law, text, symbol)]) == [y]
    macs = [mac(cipher("draw", law.identity, *NAMES), text, int(symbol)) for text, symbol in zip(texts, x, strict=True)]
    halves = [[int.from_bytes(one.to_bytes(16, "big")[i : i + 8], "little") for one in macs] for i in (0, 8)]
    assert total.tolist() == [sum(half) % 2**64 for half in halves]


def test_integers_are_their_decimal_digits():
    numbers = [0, 7, -7, 10, -10, 99999999999, 2**63 - 1, -(2**63), 10**15]
    draw, x = KeyedDraw(KEY, mechanism(), *NAMES), np.zeros(len(numbers), np.int64)
    expected = draw.outputs(pa.array(list(map(str, numbers))), x).tolist()
    assert draw.outputs(pa.array(numbers), x).tolist() == expected
    assert draw.outputs(pa.array(list(map(str, numbers)), pa.large_string()), x).tolist() == expected
    assert draw.outputs(pa.array(list(map(str, numbers))).dictionary_encode(), x).tolist() == expected
    assert draw.outputs(pa.array([2**64 - 1], pa.uint64()), x[:1]) == draw.outputs(pa.array([str(2**64 - 1)]), x[:1])


def test_only_key_mechanism_namespace_id_and_value_matter():
    rng = np.random.default_rng(0)
    ids, x = pa.array(rng.permutation(5000)), rng.integers(0, 4, 5000)
    draw = KeyedDraw(KEY, mechanism(), *NAMES)
    usual = draw.outputs(ids, x)
    order = rng.permutation(5000)
    np.testing.assert_array_equal(draw.outputs(ids.take(pa.array(order)), x[order]), usual[order])
    parts = [draw.outputs(ids[start : start + 700], x[start : start + 700]) for start in range(0, 5000, 700)]
    np.testing.assert_array_equal(np.concatenate(parts), usual)
    same_law = [dict.fromkeys(range(4), row[0]) for row in mechanism().weights if 0 in row]
    constant = replace(mechanism(), weights=same_law, unseen=None)
    assert (
        KeyedDraw(KEY, constant, *NAMES).outputs(ids, x) != KeyedDraw(KEY, constant, *NAMES).outputs(ids, (x + 1) % 4)
    ).any()
    others = [
        (bytes(32), mechanism(), *NAMES),
        (KEY, mechanism(seed=1), *NAMES),
        (KEY, mechanism(), "m", ["job"], "id"),
        (KEY, mechanism(), "n", ["age"], "id"),
        (KEY, mechanism(), "n", ["job", "age"], "id"),
        (KEY, mechanism(), "n", ["job"], "other id"),
    ]
    for other in others:
        assert (KeyedDraw(*other).outputs(ids, x) != usual).mean() > 0.1


def test_the_law_is_the_integers_and_a_test_would_notice_another():
    """Chi-square over 2,000,000 draws: accepts the law, rejects one with a single entry moved by 1e-2."""
    law, rows = mechanism(), 2_000_000
    counts = np.bincount(
        KeyedDraw(KEY, law, *NAMES).outputs(pa.array(np.arange(rows)), np.zeros(rows, np.int64)), minlength=5
    )
    expected = np.array([row.get(0, 0) for row in law.weights]) / 2.0**52

    def p_value(shares):
        some = shares > 0
        return chi2.sf(((counts[some] - rows * shares[some]) ** 2 / (rows * shares[some])).sum(), some.sum() - 1)

    assert counts[expected == 0].sum() == 0
    assert p_value(expected) > 1e-3
    moved = expected.copy()
    moved[[moved.argmax(), moved[moved > 0].argmin()]] += [-1e-2, 1e-2]
    assert p_value(moved) < 1e-12


def test_what_cannot_identify_a_record_is_refused():
    draw, x = KeyedDraw(KEY, mechanism(), *NAMES), np.zeros(1, np.int64)
    for bad in (pa.array([1.0]), pa.array([True]), pa.array([None], pa.string()), pa.array([b"x"])):
        with pytest.raises(TableError):
            draw.outputs(bad, x)
    with pytest.raises(TableError, match="longer than"):
        draw.outputs(pa.array(["x" * 60_001]), x)
    with pytest.raises(InputError, match="32 bytes"):
        Key.of_bytes(b"short")


def test_a_pseudonym_is_the_mac_of_the_id_under_a_key_of_its_own():
    texts = ["", "7", "007", "é€😀", "x" * 100]
    found = Pseudonyms(KEY, "n", "id").of(pa.array(texts)).to_pylist()
    assert found == [f"{mac(cipher('pseudonym', 'n', 'id'), text, 0):032x}" for text in texts]
    assert Pseudonyms(KEY, "n", "id").of(pa.array([7])).to_pylist() == [found[1]], "whatever the type of the column"
    assert Pseudonyms(KEY, "n", "id").of(pa.array([], pa.string())).to_pylist() == []
    for other in (Pseudonyms(bytes(32), "n", "id"), Pseudonyms(KEY, "m", "id"), Pseudonyms(KEY, "n", "other")):
        assert other.of(pa.array(texts)).to_pylist() != found


@pytest.mark.parametrize(
    ("ids", "rising"),
    [
        ([1, 2, 3], True),
        ([1, 2, 2], False),
        ([2, 1], False),
        ([-3, -1, 0], True),
        (["a", "b", "aa", "ab"], True),
        (["a", "a"], False),
        (["b", "a"], False),
        (["aa", "b"], False),
        (["", "0"], True),
        (["ab", "ac", "ab"], False),
        (["é", "è"], False),
    ],
)
def test_rising_ids_are_recognised_in_any_chunks(ids, rising):
    for size in range(1, len(ids) + 1):
        order = RisingIds()
        for start in range(0, len(ids), size):
            order.see(as_text(pa.array(ids[start : start + size])))
        assert order.rising is rising


def test_a_quick_hash_is_that_of_the_text_whatever_the_type():
    numbers = [0, 7, -7, 10**17, 2**63 - 1, -(2**63), -1, 42]
    texts = pa.array(
        [*map(str, numbers), "007", "-0", "+7", "7 ", "", "9223372036854775808", "é", "-"], pa.large_string()
    )
    own = quick_hashes(np.array(numbers), 5)
    every = quick_hashes(texts, 5)
    np.testing.assert_array_equal(own, every[: len(numbers)])
    assert len(set(every.tolist())) == len(texts), "and no other text has it"
    assert not set(every.tolist()) & set(quick_hashes(texts, 6).tolist())
