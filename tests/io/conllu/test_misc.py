"""Places in MISC that are filled after trees were spliced in: each tree gets its own values, all else stays."""

from __future__ import annotations

import io

import numpy as np
import pytest

from deptree_cli.io.conllu.blocks import Block, read_blocks
from deptree_cli.io.conllu.misc import filled, with_places
from deptree_cli.io.conllu.splicing import with_trees

ROWS = """\
# sent_id = s1
1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_
1\ta\t_\t_\t_\t_\t0\troot\t_\t_
2\tb\t_\t_\t_\t_\t1\tobj\t_\tA=1|P=old|B=x=y

"""


def block(text: str) -> Block:
    (only,) = read_blocks(io.BytesIO(text.encode()), "x")
    return only


def written(text: str, keys: list[str], values: list[str], trees: list[list[int]]) -> str:
    """The sentence with these trees, and the values in the places for the keys."""
    with_them, mark = with_places(block(text), keys)
    names = ["s1"] * len(trees)
    return filled(with_trees(with_them, np.array(trees, dtype=np.int32), names), mark, values).decode()


def test_every_tree_has_its_own_values() -> None:
    """An older value of the key goes; other entries stay, and so does a multiword token."""
    both = written(ROWS, ["P", "Q"], ["1", "2", "3", "4", "5", "6", "7", "8"], [[0, 1], [2, 0]])
    first = ROWS.replace("root\t_\t_", "root\t_\tP=1|Q=2").replace("A=1|P=old|B=x=y", "A=1|B=x=y|P=3|Q=4")
    second = first.replace("0\troot\t_\tP=1|Q=2", "2\tdep\t_\tP=5|Q=6").replace("1\tobj", "0\troot")
    assert both == first + second.replace("P=3|Q=4", "P=7|Q=8")


@pytest.mark.parametrize("odd", ["\0", "\0\1", "\0\1\1", "\1\0"])
def test_bytes_that_look_like_a_place_stay(odd: str) -> None:
    text = ROWS.replace("A=1", f"A={odd}").replace("# sent_id", f"# note = {odd}\n# sent_id")
    expected = text.replace("root\t_\t_", "root\t_\tP=1").replace("|P=old|B=x=y", "|B=x=y|P=2")
    assert written(text, ["P"], ["1", "2"], [[0, 1]]) == expected


def test_values_are_as_many_as_places() -> None:
    for values in (["1"], ["1", "2", "3"]):
        with pytest.raises(ValueError, match="zip"):
            written(ROWS, ["P"], values, [[0, 1]])
