"""``deptree eval`` where tokens, words and sentences are not those of the gold trees."""

from __future__ import annotations

import pytest

from tests.commands.test_eval import FEW, ours, script

CAN_T = """1\tWe\twe\tPRON\t_\t_\t4\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\t_\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_
4\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_
"""
CANT = """1\tWe\twe\tPRON\t_\t_\t3\tnsubj\t_\t_
2\tcan't\tcan\tAUX\t_\t_\t3\taux\t_\t_
3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_
"""


@pytest.mark.parametrize("by", [False, True])
def test_other_tokens(done, put, by) -> None:
    """Words are aligned by their characters; gold words are right, of its own and of the system's words."""
    gold, system = put("g.conllu", CAN_T + "\n" + CANT + "\n"), put("s.conllu", CANT + "\n" + CANT + "\n")
    ran = done("eval", gold, system, *FEW, *(("--by", "label") if by else ()))
    if by:
        assert {row["class"]: (row["correct"], row["gold"], row["predicted"]) for row in ran.rows} == {
            **{"nsubj": (2, 2, 2), "aux": (1, 2, 2), "root": (2, 2, 2), "advmod": (0, 1, 0)}
        }
    else:
        assert ours(ran.rows) == script(gold, system)
        row = ran.rows[0]
        assert (row["correct"], row["gold"], row["predicted"], row["aligned"]) == (5, 7, 6, 5)
        assert (row["precision"], row["recall"], row["aligned_accuracy"]) == (5 / 6, 5 / 7, 1.0)
    assert "(n = 2 sentences, 7 words)" in ran.err


def test_other_sentences(done, put) -> None:
    """What both cut alike is resampled together, and said."""
    text = CANT + "\n" + CANT + "\n"
    rows = [row.split("\t") for row in CANT.splitlines()]
    more = [
        "\t".join([str(int(row[0]) + 3), *row[1:6], str(int(row[6]) + 3 * (row[6] != "0")), *row[7:]]) for row in rows
    ]
    joined = CANT + "\n".join(more) + "\n"
    gold, system = put("g.conllu", text * 2), put("s.conllu", joined.replace("\t0\troot", "\t3\troot", 0) + "\n" + text)
    ran = done("eval", gold, system, *FEW)
    assert "(n = 4 sentences in 3 groups with the same ends, 12 words)" in ran.err
    assert {row["metric"]: (row["correct"], row["gold"], row["predicted"]) for row in ran.rows}["Sentences"] == (
        2,
        4,
        3,
    )
    assert "1 tree with several roots" in ran.err
