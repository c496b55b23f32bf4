"""Enhanced graphs: what is wrong with them, as the validator of Universal Dependencies has it."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from io import BytesIO

import pytest

from deptree_cli.io.conllu.blocks import read_blocks_or_errors
from deptree_cli.io.conllu.enhanced import wrong_arcs

RULES = {
    *("invalid-deps", "invalid-ehead", "unknown-ehead", "unsorted-deps", "unsorted-deps-2", "repeated-deps"),
    *("deps-self-loop", "unconnected-egraph", "enhanced-0-is-not-root", "enhanced-root-is-not-0"),
}


def wrong(text):
    (block,) = read_blocks_or_errors(BytesIO(text.encode()), "a.conllu", any_heads=True)
    return [(each.rule, each.id) for each in wrong_arcs(block)]


def sentence(**deps):
    """Three words, the second the root, and what is said behind a word's number: `x2="..."`, or `x2_1` of 2.1."""
    rows = {"1": "2:det", "2": "0:root", "3": "2:obj"}
    rows |= {each[1:].replace("_", "."): value for each, value in deps.items()}
    basic = {"1": "2\tdet", "2": "0\troot", "3": "2\tobj"}
    cells = sorted(rows.items(), key=lambda row: float(row[0]))
    return "".join(f"{n}\tw\t_\t_\t_\t_\t{basic.get(n, chr(9).join('__'))}\t{value}\t_\n" for n, value in cells) + "\n"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("deps", "rules"),
    [
        ({}, []),
        ({"x1": "_", "x2": "_", "x3": "_"}, []),
        ({"x3": "2:obj|2.1:conj:and", "x2_1": "2:conj"}, []),
        ({"x3": "_"}, [("unconnected-egraph", "3")]),
        (
            {"x1": "_", "x2": "_", "x3": "_", "x2_1": "_"},
            [("unconnected-egraph", each) for each in ("1", "2", "2.1", "3")],
        ),
        ({"x1": "3:det", "x3": "1:obj"}, [("unconnected-egraph", "1"), ("unconnected-egraph", "3")]),
        ({"x1": "7:det"}, [("unknown-ehead", "1")]),
        ({"x1": "2.1:det"}, [("unknown-ehead", "1")]),
        ({"x1": "two:det"}, [("invalid-ehead", "1")]),
        ({"x1": "2"}, [("invalid-deps", "1")]),
        ({"x1": "3:det|2:det"}, [("unsorted-deps", "1")]),
        ({"x1": "2:det|2:case"}, [("unsorted-deps-2", "1")]),
        ({"x1": "2:det|2:det"}, [("repeated-deps", "1")]),
        ({"x1": "1:dep|2:det"}, [("deps-self-loop", "1")]),
        ({"x1": "0:det"}, [("enhanced-0-is-not-root", "1")]),
        ({"x1": "2:root:x"}, [("enhanced-root-is-not-0", "1")]),
    ],
)
def test_what_is_wrong(deps, rules):
    assert wrong(sentence(**deps)) == rules


def test_check_lists_them(deptree, put):
    put("a.conllu", sentence(x3="2:obj|9:nsubj", x2_1="2.1:conj"))
    rows = deptree("check a.conllu").rows
    assert [(row["rule"], row["word"], row["head"]) for row in rows] == [
        ("deps-self-loop", "2.1", None),
        ("unknown-ehead", 3, None),
    ]


@pytest.mark.slow("process")
def test_as_the_validator_has_it(shared, udvalidate, tmp_path):
    """700 real sentences, most with a damaged word. Where a head is unknown it does not look at the order.

    A head that is not a number it calls unknown too.
    """
    rng, path = random.Random(5), tmp_path / "damaged.conllu"
    sentences = (shared / "real_en" / "gold.conllu").read_text(encoding="utf-8").strip().split("\n\n")[:700]
    for number, text in enumerate(sentences):
        lines = text.split("\n")
        at = rng.choice([at for at, line in enumerate(lines) if re.match(r"\d+(\.\d+)?\t", line)])
        cells = lines[at].split("\t")
        loop, turned, above = (
            f"{cells[0]}:dep",
            "|".join(reversed(f"{cells[8]}|9:dep".split("|"))),
            int(float(cells[0])) - 1,
        )
        changed = [
            "77:dep",
            loop,
            turned,
            "_",
            f"{cells[8]}|{cells[8]}",
            "0:dep",
            f"{max(1, above)}:root",
            cells[8],
            "two:x",
        ]
        cells[8] = rng.choice(changed)
        lines[at] = "\t".join(cells)
        sentences[number] = "\n".join(lines)
    path.write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
    theirs, ours = defaultdict(set), defaultdict(set)
    ran = udvalidate(path, 3)
    for sent_id, rule in re.findall(r"Sent (\S+?)\].*?\[L\d \w+ ([\w-]+)\]", ran.stdout + ran.stderr):
        theirs[sent_id] |= {rule} & RULES
    with path.open("rb") as stream:
        for block in read_blocks_or_errors(stream, "damaged", any_heads=True):
            ours[block.sent_id] = {each.rule for each in wrong_arcs(block)}
    assert sum(map(bool, ours.values())) > 300
    for sent_id, rules in ours.items():
        unknown = (
            {"unknown-ehead", *rules} & {"unknown-ehead", "invalid-ehead"}
            if "invalid-ehead" in rules
            else (rules & {"unknown-ehead"})
        )
        assert theirs[sent_id] == (unknown or rules - ({"repeated-deps"} if "unsorted-deps" in rules else set())), (
            sent_id
        )
