"""A utility has one text, which `repr` writes and `parse` reads; what cannot be read is refused in one line."""

import pytest

from alphalift import Decision, FInformation, GuessingAccuracy, MutualInformation, SettingError, SquaredError
from alphalift.proof import checker
from alphalift.utilities import UTILITIES, parse
from alphalift.utilities.f_information import CURVES

KNOWN = [
    MutualInformation(),
    *(FInformation(name) for name in CURVES),
    GuessingAccuracy(),
    Decision([[1, 0.5, "-2"], [0, 0.1, 3]]),
    Decision([[1, 2], [3, 4]], actions=["go", "stay"], values=["a", "b"]),
    SquaredError(),
    SquaredError([1, 2.5, -3]),
    SquaredError([[1, 2], [2.5, 0]]),
    SquaredError({"a": 1, "b": 2.5}),
]


@pytest.mark.parametrize("utility", KNOWN, ids=repr)
def test_the_text_is_read_as_it_is_written(utility):
    assert parse(repr(utility)) == utility
    assert parse(f"  {utility!r} ") == utility


def test_brackets_may_be_left_out():
    assert parse("MutualInformation") == MutualInformation()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        "Mutual Information",
        "MutualInformation(1)",
        "Decision(gains.csv)",
        "FInformation(hellinger)",
        "FInformation('hellinger', 3)",
        "FInformation()",
        "MutualInformation(x=1)",
        "MutualInformation() & MutualInformation()",
        "MutualInformation(**{})",
        "MutualInformation(__import__('os'))",
        "lambda: 1",
        "3",
        "(" * 90_000,
        "MutualInformation(" + "1," * 90_000 + ")",
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(text):
    with pytest.raises(
        SettingError, match=r"^the utility cannot be read: write for instance .*MutualInformation"
    ) as error:
        parse(text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 1000


def test_the_nearest_name_is_told():
    with pytest.raises(SettingError, match="there is no utility 'MutualInfo', perhaps MutualInformation: "):
        parse("MutualInfo()")
    with pytest.raises(SettingError, match="no f-divergence 'chi-square', perhaps 'chi_square'; there are kl, "):
        parse("FInformation('chi-square')")
    with pytest.raises(SettingError, match="there is no utility 'Zzz': "):
        parse("Zzz()")


def test_every_utility_is_shown_as_it_is_written():
    with pytest.raises(SettingError) as error:
        parse("Decision(gains.csv)")
    assert all(name in str(error.value) for name in UTILITIES)
    assert "Decision('gains.csv')" in str(error.value)


def test_files_and_the_command_line_have_the_same_names():
    assert set(UTILITIES) == set(checker.UTILITIES)
