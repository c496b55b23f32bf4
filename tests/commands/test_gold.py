"""Known heads: one way of pairing for every command that compares with them, and no score where none is known."""

from __future__ import annotations

import numpy as np

from tests.sample import DATA, SCORES

TEXT = (DATA / "gold.conllu").read_text(encoding="utf-8")
BLOCKS = [f"{block}\n\n" for block in TEXT.rstrip("\n").split("\n\n")]


def without_heads(text: str) -> str:
    rows = [line.split("\t") for line in text.split("\n")]
    return "\n".join("\t".join([*row[:6], "_", *row[7:]]) if len(row) == 10 else row[0] for row in rows)


def test_attachment_without_known_heads_is_null(done, put):
    gold = put("gold.conllu", "".join([BLOCKS[0], without_heads(BLOCKS[1]), *BLOCKS[2:]]))
    for quantity in ("attachment", "risk"):
        rows = done("expect", quantity, *SCORES, "--gold", gold, "--grad").rows
        assert rows[0][quantity] > 0
        assert rows[1] == {
            "sent_id": "en-2",
            "n": 8,
            quantity: None,
            "reason": "no word of the sentence has a gold head",
        }


def test_messages_name_what_they_mean(deptree, put):
    put("large.npy", np.full((3, 3), 1e16))
    ran = deptree("partition", "large.npy", "--orient", "head-dep", "--scale", "log")
    assert "is too large for a score (beyond 1e+15)" in ran.err
