"""Labels of combinations and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphalift import TableError
from alphalift.tables import key_of, label_of

PARTS = st.text(st.sampled_from('ab, \\\n"é'), max_size=5) | st.text(max_size=5)


@given(key=st.lists(PARTS, min_size=1, max_size=4).map(tuple))
def test_a_label_has_one_combination(key):
    assert key_of(label_of(key), len(key)) == key


@given(one=st.lists(PARTS, min_size=2, max_size=2).map(tuple), other=st.lists(PARTS, min_size=2, max_size=2).map(tuple))
def test_no_two_combinations_share_a_label(one, other):
    assert (label_of(one) == label_of(other)) == (one == other)


@pytest.mark.parametrize(
    ("label", "count"),
    [("a, b", 3), ("a", 2), ("a,b", 2), ("a\\b, c", 2), ("a\\, b", 2), ("a, b\\", 2), ("a, b, c", 2)],
)
def test_what_is_no_label_of_so_many_values(label, count):
    with pytest.raises(TableError, match=f"not one of {count} values"):
        key_of(label, count)
