"""What words are given beside a tree: each tree has its own, all else stays."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import entries_of, filled, unused_mark
from deptree_cli.io.conllu.splicing import with_trees
from tests.tree_files import read_blocks

ROWS = """\
# sent_id = s1
1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_
1\ta\t_\t_\t_\t_\t0\troot\t_\t_
2\tb\t_\t_\t_\t_\t1\tobj\t_\tA=1|HeadProb=old|B=x=y

"""


def block(text: str) -> Block:
    (only,) = read_blocks(io.BytesIO(text.encode()), "x")
    return only


def written(text: str, keys: list[str], values: list[str], trees: list[list[int]]) -> str:
    """The sentence with these trees, and the values of the keys for each word in MISC."""
    entries = ["|".join(map("{}={}".format, keys, each)) for each in zip(*[iter(values)] * len(keys), strict=True)]
    heads = np.array(trees, dtype=np.int32)
    return with_trees(block(text).fresh(), heads, ["s1"] * len(trees), entries=entries).data.decode()


def test_every_tree_has_its_own_values() -> None:
    """An older probability goes; other entries stay, and so does a multiword token."""
    both = written(ROWS, ["HeadProb", "Q"], ["1", "2", "3", "4", "5", "6", "7", "8"], [[0, 1], [2, 0]])
    first = ROWS.replace("root\t_\t_", "root\t_\tHeadProb=1|Q=2")
    first = first.replace("A=1|HeadProb=old|B=x=y", "A=1|B=x=y|HeadProb=3|Q=4")
    second = first.replace("0\troot\t_\tHeadProb=1|Q=2", "2\tdep\t_\tHeadProb=5|Q=6").replace("1\tobj", "0\troot")
    assert both == first + second.replace("HeadProb=3|Q=4", "HeadProb=7|Q=8")


@pytest.mark.parametrize("end", ["\r\n", "\n", ""])
def test_how_lines_end_stays(end: str) -> None:
    text = ROWS.rstrip("\n").replace("\n", end or "\n") + end
    expected = text.replace("root\t_\t_", "root\t_\tP=1").replace("|HeadProb=old|B=x=y", "|B=x=y|P=2")
    assert written(text, ["P"], ["1", "2"], [[0, 1]]) == expected


@given(st.lists(st.lists(st.sampled_from([0.0, 0.25, 1 - 1e-9, 1.0]), min_size=3, max_size=3), min_size=1, max_size=3))
def test_entries(rows: list[list[float]]) -> None:
    """A probability below 1 is never shown as 1; there is an entry for each word of each tree."""
    probs, shown = np.array(rows), {0.0: "0", 0.25: "0.25", 1 - 1e-9: "0.999999999", 1.0: "1"}
    assert entries_of({"P": probs}) == [f"P={shown[prob]}" for row in rows for prob in row]
    assert entries_of({"P": probs, "Q": 1 - probs})[0].startswith(f"P={shown[rows[0][0]]}|Q=")
    assert entries_of({}) == []


@pytest.mark.parametrize("odd", ["\0", "\0\1", "\0\1\1", "\1\0"])
def test_bytes_that_look_like_a_place_stay(odd: str) -> None:
    given = block(ROWS.replace("A=1", f"A={odd}").replace("# sent_id", f"# note = {odd}\n# sent_id"))
    mark = unused_mark(given.raw)
    with_places = given.with_column("upos", [mark.decode()] * given.n)
    expected = given.raw.replace(b"\ta\t_\t_\t", b"\ta\t_\tX\t").replace(b"\tb\t_\t_\t", b"\tb\t_\tY\t")
    assert filled(with_places.raw, mark, ["X", "Y"]) == expected
    for values in (["1"], ["1", "2", "3"]):
        with pytest.raises(ValueError, match="zip"):
            filled(with_places.raw, mark, values)
