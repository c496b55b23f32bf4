"""`deptree hpyp parse`: trees and tags in the sentences' own bytes, in JSON Lines, and as scores for other commands."""

import re

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.hpyp import Parser
from deptree_cli.hpyp.kernels.configurations import read_tree
from deptree_cli.hpyp.kernels.search import search
from deptree_cli.hpyp.model.parsing import parse
from deptree_cli.hpyp.model.sentences import as_annotated
from tests.hpyp.toys import blocks_of
from tests.lines import table
from tests.sample import DATA

RAW = (DATA / "raw.conllu").read_bytes()
TAGS = pytest.mark.parametrize("tags", ["given", "predict"])


@pytest.fixture
def parsed(done, model):
    """Call with options: what is said of `RAW`, with few particles."""
    return lambda options="": done(f"hpyp parse {model} $DATA/raw.conllu --particles 50 {options}")


def without_trees(data):
    """CoNLL-U without our comments, and with HEAD, DEPREL and DEPS blank."""
    data = re.sub(rb"(?m)^# (generator|derivation_logprob|effective_size|particles) = .*\n", b"", data)
    return re.sub(rb"(?m)^(\d+(?:\t[^\t\n]*){5})(?:\t[^\t\n]*){3}", rb"\1\t_\t_\t_", data)


def without_tags(data):
    """CoNLL-U with UPOS blank too."""
    return re.sub(rb"(?m)^(\d+(?:\t[^\t\n]*){2})\t[^\t\n]*", rb"\1\t_", without_trees(data))


@TAGS
@pytest.mark.parametrize("beam", [None, 3])
def test_best_trees(done, model, parser, sentences, tags, beam):
    """Those of the library, in the sentences' own bytes and in JSON Lines."""
    predicts, how = tags == "predict", f"--beam {beam}" if beam else "--particles 50"
    line = f"hpyp parse {model} $DATA/raw.conllu --tags {tags} {how}"
    out, rows = done(line).out, done(f"{line} --format jsonl").rows
    blank = without_tags if predicts else without_trees
    assert blank(out) == blank(RAW)
    for block, row, sentence in zip(blocks_of(out), rows, sentences, strict=True):
        best = parse(parser.trained, sentence, 50, predicts, 3) if beam else parser.parse(sentence, 50, predicts)
        assert block.heads == row["heads"] == best.heads.tolist()
        assert tuple(block.deprels) == tuple(row["deprels"]) == best.deprels
        assert tuple(block.column("upos")) == best.tags
        assert row.get("tags") == (list(best.tags) if predicts else None)
        assert row["log_prob"] == pytest.approx(best.log_prob)
        assert block.comment("derivation_logprob") == f"{best.log_prob:.6f}"
        assert block.sent_id == row["sent_id"] == sentence.sent_id


def test_tags_go_into_the_models_column(done, put):
    Parser.train(DATA / "treebank.conllu", column="xpos", iterations=2, seed=1).save(put("xpos.npz", ""))
    put("bare.conllu", without_tags(RAW))
    (first, *_) = blocks_of(done("hpyp parse xpos.npz bare.conllu --tags predict").out)
    assert set(first.column("upos")) == {"_"}
    assert first.column("xpos")[0] == "DT"


@TAGS
def test_drawn_trees(parsed, parser, sentences, tags):
    """Those that the library's filter draws, each with its own tags; what is said of the filter stands once."""
    predicts, options, differ = tags == "predict", f"--tags {tags} -k 20 --seed 5", False
    blocks, rows = blocks_of(parsed(options).out), parsed(f"{options} --format jsonl").rows
    for number, (block, row) in enumerate(zip(blocks, rows, strict=True)):
        sentence, rank = sentences[number // 20], number % 20
        found = parser.filter(sentence, 5, 50, predicts, 20)
        assert block.heads == row["heads"] == found.heads[found.drawn[rank]].tolist()
        assert block.deprels == row["deprels"]
        drawn = [parser.trained.symbols.tags.symbol(each) for each in found.tags[found.drawn[rank]].tolist()]
        assert block.column("upos") == drawn
        assert row.get("tags") == (drawn if predicts else None)
        assert (block.sent_id, row["sample"]) == (f"{sentence.sent_id}/sample_{rank + 1}", rank + 1)
        assert row.get("effective_size") == (pytest.approx(found.effective_size) if rank == 19 else None)
        assert block.comment("effective_size") == (f"{found.effective_size:.2f}" if rank == 19 else None)
        assert (block.comment("particles"), row.get("particles")) == (("50", 50) if rank == 19 else (None, None))
        differ |= rank > 0 and drawn != blocks[number - 1].column("upos")
    assert differ == predicts


def test_the_signature_names_what_was_random(parsed):
    assert parsed().err == ""
    assert "seed" not in parsed().signature
    assert "|size:2|seed:" in parsed("-k 2").signature
    assert "|seed:" in parsed("--to-scores s.npz").signature


def test_notes_of_another_tree_go(done, model, put):
    first = done(f"hpyp parse {model} $DATA/raw.conllu -k 1 --seed 1 --sent-id-format {{id}}.{{k}}").out
    assert b"# particles" in first
    out = done(f"hpyp parse {model} {put('first.conllu', first)}").out
    assert not re.search(b"# particles|# effective_size", out)
    assert out.count(b"# derivation_logprob") == 12


BARE = "# sent_id = a\n1\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
    MODEL -                                            |  standard input: no word has a tag in UPOS.  |  --tags predict
    XPOS $DATA/raw.conllu --tags predict               |  a parser without words cannot predict tags
    MODELx $DATA/raw.conllu                            |  model.npzx: no such file. Did you mean   |  model.npz?
    MODEL $DATA/raw.conllux                            |  no such file. Did you mean
    $DATA/scores.npz $DATA/raw.conllu                  |  not a model of deptree hpyp
    MODEL $DATA/raw.conllu --beam 2 -k 2               |  --beam cannot be combined with -k. Remove one
    MODEL $DATA/raw.conllu --score-kind log            |  --score-kind needs --to-scores FILE
    MODEL - --to-scores s.npz --score-kind maxnet      |  Did you mean maxent?
    MODEL $DATA/raw.conllu --to-scores s.txt           |  this command does not write .txt
    MODEL $DATA/raw.conllu --to-scores p.npy           |  --projective --from head-dep,first,log. Write .npz
    MODEL $DATA/raw.conllu --to-scores p.npy.gz        |  --projective --from head-dep,first,log. Write .npz
    MODEL $DATA/raw.conllu --to-scores -               |  --to-scores and --output would write the same file
    MODEL $DATA/raw.conllu $DATA/raw.conllu --to-scores s.npz -q -o p.conllu  |  raw-01: an .npz cannot hold two
    """),
)
def test_one_line_for_what_is_wrong(refused, model, xpos_model, line, says):
    line = line.replace("MODEL", str(model)).replace("XPOS", str(xpos_model))
    refused(f"hpyp parse {line}", *says, stdin=BARE.encode())


def unseen(words):
    """A sentence of this many nouns that no treebank has."""
    return b"".join(b"%d\tzz%dx\t_\tNOUN\t_\t_\t_\t_\t_\t_\n" % (i, i) for i in range(1, words + 1)) + b"\n"


@pytest.mark.parametrize("tags", ["NOUN", "_"])
@pytest.mark.parametrize(("size", "is_beam"), [(1, False), (1000, False), (1, True), (100, True)])
def test_records_do_not_grow_with_the_square_of_words(parser, tags, size, is_beam):
    """Stacks are as deep as the sentence is long; all that 1,000 particles ever try would be 154,136 records."""
    symbols, n = parser.trained.symbols, 300
    words, tags = symbols.words_of(as_annotated(([f"zz{i}x" for i in range(n)], [tags] * n))), symbols.tags.id(tags)
    arena, last, log_prob = search(parser.trained.model, words, np.full(n, tags, dtype=np.int32), size, is_beam)
    assert len(arena.records) < 100 * n
    assert -np.inf < log_prob < 0
    heads, deprels, _ = found = np.full((3, n), 777, dtype=np.int32)
    read_tree(arena, last, len(symbols.labels), *found)
    assert (heads == 0).sum() == 1
    assert deprels.max() < len(symbols.labels)


@pytest.mark.parametrize("command", ["parse", "parse -k 2", "surprisal", "perplexity"])
def test_longer_sentences_are_refused_and_can_be_skipped(deptree, model, command):
    """And so is a sentence whose HEAD is none of its words."""
    name, *options = command.split()
    line = " ".join(["hpyp", name, str(model), "-", *options])
    text = unseen(1001) + b"1\tdog\t_\tNOUN\t_\t_\t7\t_\t_\t_\n\n" + unseen(3)
    ran = deptree(line, stdin=text)
    assert ran.code == 2
    assert "(1): the sentence has 1,001 words, but the parser reads at most 1,000. Split it" in ran.said[-1]
    ran = deptree(f"{line} --on-error skip", stdin=text)
    assert (ran.code, "deptree: 2 sentences skipped" in ran.said) == (1, True)
    assert command == "perplexity" or b"zz3x" in ran.out


def test_what_takes_long_is_announced(done, model, monkeypatch):
    """Before the work, unless --quiet; here everything takes long."""
    monkeypatch.setattr("deptree_cli.hpyp.options.PATIENCE", 0.0)
    line = f"hpyp surprisal {model} - --seed 1 --particles 10"
    assert "1: 3 words with this many particles take 0 seconds or more" in done(line, stdin=unseen(3)).err
    assert done(f"{line} -q", stdin=unseen(3)).err == ""
    monkeypatch.setattr("deptree_cli.hpyp.model.score_matrices.MOST_WORK", 1)
    monkeypatch.setattr("deptree_cli.hpyp.model.score_matrices.TOO_FAR", 1.0)
    ran = done(f"hpyp parse {model} - --seed 1 --particles 10 --to-scores s.npz", stdin=unseen(3))
    assert "1: a long sentence: after" in ran.err


@pytest.fixture
def scored(parsed):
    """Call with a file: write scores there, with a seed and more options."""
    return lambda name, options="": parsed(f"--seed 3 --quiet --to-scores {name} {options}")


@pytest.mark.parametrize("name", ["s.npz", "s.jsonl", "s.safetensors"])
def test_scores_are_read_without_a_word_on_their_layout(done, scored, parser, sentences, name):
    """The maximum-entropy scores have the filter's marginals, but for 1 % of smoothing and a tolerance of 0.001."""
    scored(name)
    ran = done(f"marginals {name} --projective")
    assert "from:head-dep,first,log" in ran.err
    assert "given: reading" not in ran.err
    rows = {row["sent_id"]: np.array(row["marginals"]) for row in ran.rows}
    assert len(rows) == len(sentences)
    for sentence in sentences:
        mu, found = parser.filter(sentence, 3, 50).marginals, rows[sentence.sent_id]
        np.testing.assert_allclose(found, parser.scores(sentence, 3, particles=50).marginals(), atol=1e-9)
        off = 0.5 * np.abs(found - mu)[:, 1:].sum(axis=0)
        assert off.max() < 0.0111
        assert off.max() > 0


def test_scores_as_logarithms(scored, parser, sentences):
    scored("s.npz", "--score-kind log")
    with np.load("s.npz") as scores:
        for sentence in sentences:
            assert np.exp(scores[sentence.sent_id]) == pytest.approx(parser.filter(sentence, 3, 50).marginals)


def test_scores_are_of_projective_trees_without_a_word(done, refused, scored):
    """Other trees would have them by mistake; what is made of them keeps that, and the library knows it too."""
    scored("s.npz")
    expected = done("partition s.npz --projective").out
    ran = done("partition s.npz")
    assert ran.out == expected
    assert "|trees:projective|" in ran.err
    assert done("partition s.npz --from head-dep,log").out == expected
    done("convert s.npz -o t.jsonl")
    assert done("partition t.jsonl").out == expected
    log_zs = [sentence.distribution.log_partition for sentence in read("s.npz")]
    assert log_zs == [row["log_z"] for row in ran.rows]
    done("convert $SCORES -o others.npz --to log")
    refused("partition s.npz others.npz", "s.npz: holds projective trees")
    refused("convert s.npz -o c.npy", "--projective")
