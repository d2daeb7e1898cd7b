"""What memory a search may take."""

from alphalift.effort import MOST_TREE_BYTES, most_nodes
from alphalift.geometry.tree import Tree
from strategies import random_joint


def test_the_tree_of_the_most_nodes_fits():
    """As it is allocated: old and doubled arrays together."""
    joint = random_joint(0, (5, 40))
    per_node = sum(part.nbytes for part in Tree.unit_box(64, 40, 5 + 1)) / 64
    assert most_nodes(joint) * per_node * 1.5 <= MOST_TREE_BYTES
    assert most_nodes(joint) * per_node * 1.5 > 0.9 * MOST_TREE_BYTES
