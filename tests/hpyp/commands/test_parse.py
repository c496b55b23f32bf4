"""`deptree hpyp parse`: trees and tags in the sentences' own bytes and in JSON Lines."""

from __future__ import annotations

import re

import pytest

from deptree_cli.hpyp import Parser
from deptree_cli.hpyp.model.parsing import parse
from tests.hpyp.commands.texts import RAW, blocks_of


def without_trees(data: bytes) -> bytes:
    """CoNLL-U without our comments, and with HEAD, DEPREL and DEPS blank."""
    data = re.sub(rb"(?m)^# (generator|derivation_logprob|effective_size|particles) = .*\n", b"", data)
    return re.sub(rb"(?m)^(\d+(?:\t[^\t\n]*){5})(?:\t[^\t\n]*){3}", rb"\1\t_\t_\t_", data)


def without_tags(data: bytes) -> bytes:
    """CoNLL-U with UPOS blank too."""
    return re.sub(rb"(?m)^(\d+(?:\t[^\t\n]*){2})\t[^\t\n]*", rb"\1\t_", without_trees(data))


@pytest.mark.parametrize("tags", ["given", "predict"])
@pytest.mark.parametrize("beam", [None, 3])
def test_best_trees(parsed, parser: Parser, sentences, tmp_path, tags: str, beam: int | None) -> None:
    """Those of the library, in the sentences' own bytes and in JSON Lines."""
    predicts = tags == "predict"
    args = ("--tags", tags, *(("--beam", beam) if beam else ()))
    out, rows = parsed(*args).out, parsed(*args, "--format", "jsonl").rows
    blank = without_tags if predicts else without_trees
    assert blank(out) == blank(RAW.read_bytes())
    for block, row, sentence in zip(blocks_of(out), rows, sentences, strict=True):
        best = parse(parser.trained, sentence, 50, predicts, 3) if beam else parser.parse(sentence, 50, predicts)
        assert block.heads == row["heads"] == best.heads.tolist()
        assert tuple(block.deprels) == tuple(row["deprels"]) == best.deprels
        assert tuple(block.column("upos")) == best.tags
        assert row.get("tags") == (list(best.tags) if predicts else None)
        assert row["log_prob"] == pytest.approx(best.log_prob)
        assert block.comment("derivation_logprob") == f"{best.log_prob:.6f}"
        assert block.sent_id == row["sent_id"] == sentence.sent_id


def test_tags_go_into_the_models_column(done, treebank_file, tmp_path) -> None:
    path = tmp_path / "xpos.npz"
    Parser.train(treebank_file, column="xpos", iterations=2, seed=1).save(path)
    bare = tmp_path / "bare.conllu"
    bare.write_bytes(without_tags(RAW.read_bytes()))
    (first, *_) = blocks_of(done("hpyp", "parse", path, bare, "--tags", "predict").out)
    assert set(first.column("upos")) == {"_"}
    assert first.column("xpos")[0] == "DT"


@pytest.mark.parametrize("tags", ["given", "predict"])
def test_drawn_trees(parsed, parser: Parser, sentences, tmp_path, tags: str) -> None:
    """Those that the library's filter draws, each with its own tags; what is said of the filter stands once."""
    predicts = tags == "predict"
    args = ("--tags", tags, "-k", 3, "--seed", 5)
    blocks = blocks_of(parsed(*args).out)
    rows = parsed(*args, "--format", "jsonl").rows
    tag = parser.trained.symbols.tags.symbol
    for number, (block, row) in enumerate(zip(blocks, rows, strict=True)):
        sentence, rank = sentences[number // 3], number % 3
        found = parser.filter(sentence, 5, 50, predicts, 3)
        assert block.heads == row["heads"] == found.heads[found.drawn[rank]].tolist()
        assert block.deprels == row["deprels"]
        drawn = [tag(each) for each in found.tags[found.drawn[rank]].tolist()]
        assert block.column("upos") == drawn
        assert row.get("tags") == (drawn if predicts else None)
        assert (block.sent_id, row["sample"]) == (f"{sentence.sent_id}/sample_{rank + 1}", rank + 1)
        assert row.get("effective_size") == (pytest.approx(found.effective_size) if rank == 2 else None)
        assert block.comment("effective_size") == (f"{found.effective_size:.2f}" if rank == 2 else None)
        assert (block.comment("particles"), row.get("particles")) == (("50", 50) if rank == 2 else (None, None))


def test_some_trees_differ_in_tags(parsed) -> None:
    """Else writing the tags of one tree into all would go unnoticed."""
    rows = parsed("--tags", "predict", "-k", 20, "--seed", 1, "--format", "jsonl").rows
    assert any(len({tuple(row["tags"]) for row in rows[at : at + 20]}) > 1 for at in range(0, len(rows), 20))


def test_the_signature_names_what_was_random(parsed, tmp_path) -> None:
    assert parsed().err == ""
    assert "seed" not in parsed().signature
    assert "|size:2|seed:" in parsed("-k", 2).signature
    scores = tmp_path / "s.npz"
    assert "|seed:" in parsed("--to-scores", scores).signature


def test_notes_of_another_tree_go(done, model, tmp_path) -> None:
    first = tmp_path / "first.conllu"
    first.write_bytes(done("hpyp", "parse", model, RAW, "-k", 1, "--seed", 1, "--sent-id-format", "{id}.{k}").out)
    out = done("hpyp", "parse", model, first).out
    assert b"# particles" in first.read_bytes()
    assert b"# particles" not in out
    assert b"# effective_size" not in out
    assert out.count(b"# derivation_logprob") == 12
