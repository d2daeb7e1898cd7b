"""Numbers as people write them: exact fractions, where a float means its shortest decimal."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np

Number = int | float | Decimal | Fraction | str
_MOST_DIGITS = 5000


def exact(value: object) -> Fraction:
    """The fraction that a person means by a finite number: 0.1 is 1/10, "1/3" is 1/3.

    Raises ValueError for NaN, infinities and what is no number; the message never repeats the value, since
    it may be a cell of a private table.
    """
    if isinstance(value, numbers.Integral | Fraction) and not isinstance(value, bool | np.bool_):
        return Fraction(value)
    if isinstance(value, numbers.Real | Decimal) and not isinstance(value, bool | np.bool_):
        # str of a float or numpy float is its shortest decimal; of a Decimal, itself.
        value = str(value)
    if isinstance(value, str):
        try:
            if "/" in value:
                return Fraction(value)
            number = Decimal(value)
            # Digits are written out exactly: an exponent of millions would take the memory.
            if number.is_finite() and not -_MOST_DIGITS < number.adjusted() < _MOST_DIGITS:
                raise ValueError
            return Fraction(number)
        except (InvalidOperation, ValueError, OverflowError, ZeroDivisionError):
            raise ValueError("not a finite number") from None
    raise ValueError(f"not a number but {type(value).__name__}")


def decimal(number: float) -> str:
    """A float's shortest decimal, written out; what is meant exactly by it."""
    return "inf" if math.isinf(number) else f"{Decimal(repr(float(number))):f}".removesuffix(".0")


def to_float(value: Number, *, upwards: bool) -> float:
    """The float nearest to a value whose shortest decimal is not below it (`upwards`) or not above it.

    A promise is stored as floats; whatever rounding that costs must make it stronger, never weaker.
    """
    if isinstance(value, float) or (isinstance(value, str) and value.strip().lower() in ("inf", "infinity")):
        return float(value)
    target = exact(value)
    try:
        rounded = float(target)
    except OverflowError:
        rounded = math.inf
    if math.isinf(rounded):
        return rounded if upwards else float(np.finfo(np.float64).max)
    towards = math.inf if upwards else -math.inf
    while (exact(rounded) < target) if upwards else (exact(rounded) > target):
        rounded = math.nextafter(rounded, towards)
    return rounded


def written_out(number: Fraction) -> str:
    """The decimal that the fraction is; ValueError if none ends."""
    rest, twos, fives = number.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest > 1:
        raise ValueError("not a decimal that ends")
    places = max(twos, fives)
    digits = tuple(map(int, str(abs(number.numerator) * 10**places // number.denominator)))
    return f"{Decimal((int(number < 0), digits, -places)):f}"
