"""Heads that are no tree are an error with their line, for every command that reads samples."""

from __future__ import annotations

import json

import pytest

from tests.sample import FIGURE1

CYCLES = {"of two": [2, 1, 0], "of one": [1, 1, 0], "of all": [3, 1, 2], "behind a tail": [2, 3, 2]}
NONE = {"out of range": [0, 1, 4], "negative": [0, 1, -1], "not a number": [0, 1, None]}


def rows(*trees: list[int], form: str) -> str:
    """Trees as swor writes them, in either format."""
    note = {"log_prob": -1.5}
    if form == "jsonl":
        lines = [{"sent_id": "1", "heads": heads, **note} for heads in trees]
        lines[-1] |= {"tau": 3.0}
        return "".join(json.dumps(line) + "\n" for line in lines)
    blocks = []
    for number, heads in enumerate(trees, 1):
        tau = "# swor_tau = 3.0\n" if number == len(trees) else ""
        words = "".join(f"{word}\tw\t_\t_\t_\t_\t{head}\tx\t_\t_\n" for word, head in enumerate(heads, 1))
        blocks.append(f"# sent_id = 1/sample_{number}\n# tree_logprob = -1.5\n{tau}{words}\n")
    return "".join(blocks)


@pytest.mark.parametrize("command", ["estimate {}", "check-bias {scores} --samples {}"])
@pytest.mark.parametrize("form", ["jsonl", "conllu"])
@pytest.mark.parametrize("heads", CYCLES.values(), ids=CYCLES)
def test_cycles(command, form, heads, deptree, put) -> None:
    name = put(f"x.{form}", rows([0, 1, 1], heads, [2, 3, 0], form=form))
    line = command.replace("{scores}", " ".join(map(str, FIGURE1))).replace("{}", name)
    for more in ((), ("--multi-root",) if "check" in command else ("--quantity", "depth")):
        ran = deptree(*line.split(), "-q", *more)
        assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
        assert f"{name}:{2 if form == 'jsonl' else 7}" in ran.err
        assert "not a tree" in ran.err


@pytest.mark.parametrize("heads", NONE.values(), ids=NONE)
def test_heads_that_are_none(heads, deptree, put) -> None:
    put("x.jsonl", rows([0, 1, 1], heads, form="jsonl"))
    for command in (("estimate", "x.jsonl"), ("check-bias", *FIGURE1, "--samples", "x.jsonl")):
        ran = deptree(*command, "-q")
        assert (ran.code, len(ran.said)) == (2, 1)
        assert "x.jsonl:2" in ran.err


def test_several_roots_are_a_tree_of_another_space(deptree, done, put) -> None:
    """An estimate takes them; an audit of a sampler counts them as impossible."""
    put("x.jsonl", rows([0, 1, 1], [0, 0, 1], form="jsonl"))
    assert done("estimate", "x.jsonl").rows[0]["trees"] == 2
    assert deptree("check-bias", *FIGURE1, "--samples", "x.jsonl").rows[0]["impossible"] == 1
