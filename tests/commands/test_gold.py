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


def test_a_padded_batch_beside_trees_needs_lengths(deptree, put):
    """Its matrices have more words than the trees, and nothing in them looks like padding."""
    put("batch.npy", np.random.default_rng(0).normal(size=(8, 13, 13)))
    for line in (
        ("inspect", "batch.npy", "--gold", DATA / "gold.conllu"),
        ("score", "batch.npy", DATA / "gold.conllu"),
    ):
        ran = deptree(*line, "--from", "supar", "-q")
        assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
        assert "8" in ran.err
        assert "12" in ran.err
        assert "If this is a padded batch, pass --lengths FILE or --conllu FILE." in ran.err
    ran = deptree("agree", DATA / "gold.conllu", DATA / "gold.conllu", "--scores", "batch.npy", "--from", "supar", "-q")
    assert "12 words at batch.npy, matrix 1, but 8 here. If this is a padded batch, pass --lengths FILE." in ran.err
    ran = deptree("combine", "batch.npy", DATA / "gold.conllu", "--from", "supar", "-q")
    assert "but 12 here. If this is a padded batch, pass --conllu FILE." in ran.err
    assert deptree("inspect", "batch.npy", "--from", "supar", "--conllu", DATA / "gold.conllu").code == 0
    put("batch.npy", np.random.default_rng(0).normal(size=(8, 4, 4)))
    ran = deptree("inspect", "batch.npy", "--from", "supar", "--gold", DATA / "gold.conllu")
    assert "padded" not in ran.err


def test_messages_name_what_they_mean(deptree, put):
    put("large.npy", np.full((3, 3), 1e16))
    ran = deptree("partition", "large.npy", "--from", "head-dep,log")
    assert "is too large for a score (beyond 1e+15)" in ran.err
