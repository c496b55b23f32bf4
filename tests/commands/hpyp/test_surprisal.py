"""`deptree hpyp surprisal`: numbers that add up, sentences that stay as they are, and what it says of itself."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

RAW = Path(__file__).parents[3] / "sample_data/raw.conllu"
NOTED = re.compile(rb"\|?Surprisal=[\d.]+")
COMMENTS = re.compile(rb"# (?:generator|end_surprisal|evidence_log2|evidence_error) = .*\n")


@pytest.fixture
def measured(done, model):
    """Call with more arguments: the surprisals of twelve sentences, by few particles."""
    return lambda *args: done("hpyp", "surprisal", model, RAW, "--particles", 50, "--seed", 3, *args)


@pytest.mark.parametrize("tags", ["given", "predict"])
def test_printed_numbers_add_up(measured, tags) -> None:
    """Each of n + 2 numbers is rounded to four digits."""
    blocks = measured("--tags", tags).out.decode().strip().split("\n\n")
    assert len(blocks) == 12
    for block in blocks:
        bits = [float(each) for each in re.findall(r"Surprisal=([\d.]+)", block)]
        assert len(bits) == len(re.findall(r"^\d+\t", block, re.MULTILINE))
        (end,) = re.findall(r"^# end_surprisal = ([\d.]+)$", block, re.MULTILINE)
        (whole,) = re.findall(r"^# evidence_log2 = (-[\d.]+)$", block, re.MULTILINE)
        assert sum(bits) + float(end) == pytest.approx(-float(whole), abs=0.00005 * (len(bits) + 2) + 1e-9)


def test_sentences_stay_as_they_are(measured) -> None:
    out = COMMENTS.sub(b"", NOTED.sub(b"", measured().out))
    assert re.sub(rb"\t(?=\n)", b"\t_", out) == RAW.read_bytes()


def test_json_lines_have_the_same_numbers(measured) -> None:
    rows, blocks = measured("--format", "jsonl").rows, measured().out.decode().strip().split("\n\n")
    for row, block in zip(rows, blocks, strict=True):
        assert re.findall(r"Surprisal=([\d.]+)", block) == [f"{bits:.4f}" for bits in row["surprisal"]]
        assert f"# end_surprisal = {row['end']:.4f}\n" in block
        assert f"# evidence_error = {row['evidence_error']:.4f}\n" in block
        assert f"# sent_id = {row['sent_id']}\n" in block
        assert sum(row["surprisal"]) + row["end"] == pytest.approx(-row["evidence_log2"])
        assert len(row["surprisal"]) == len(row["error"]) == len(row["forms"])
        assert (row["particles"], row["filters"]) == (50, 2)
        assert row["end_error"] >= 0


def test_the_error_on_stderr(measured) -> None:
    ran = measured("--format", "jsonl", "--filters", 3)
    errors = [each for row in ran.rows for each in [*row["error"], row["end_error"]]]
    off = np.sqrt(np.mean(np.square(errors)))
    assert ran.said[-1].startswith(f"deptree: Monte Carlo error of a surprisal: {off:.4f} bits (root mean square over")
    assert off > 0
    assert measured("--quiet").err == ""


def test_a_single_filter(measured) -> None:
    ran = measured("--format", "jsonl", "--filters", 1)
    assert not any("Monte Carlo" in line for line in ran.said)
    assert all("error" not in row and row["evidence_error"] is None for row in ran.rows)
    assert b"evidence_error" not in measured("--filters", 1).out


def test_more_particles_are_closer(measured) -> None:
    """16 times as many particles leave a quarter of the error if they are independent; systematic ones leave less."""
    few, many = (measured("--format", "jsonl", "--particles", size, "--filters", 10).rows for size in (50, 800))
    off = [np.sqrt(np.mean([row["evidence_error"] ** 2 for row in rows])) for rows in (few, many)]
    assert off[0] > 2 * off[1] > 0


@pytest.mark.parametrize("how", [("-j", 2), ("-j", 2, "--engine", "threads")])
def test_the_same_bytes(measured, how) -> None:
    assert measured(*how).out == measured().out


def test_shards(measured) -> None:
    rows = measured("--format", "jsonl").out.splitlines()
    assert measured("--format", "jsonl", "--shard", "2/3").out.splitlines() == rows[1::3]


def test_the_library_has_the_same_numbers(measured, parser) -> None:
    for sentence, row in zip(parser.read(RAW), measured("--format", "jsonl").rows, strict=True):
        assert parser.surprisal(sentence, 3, particles=50).tolist() == [*row["surprisal"], row["end"]]


def test_the_signature(measured) -> None:
    first = measured("--tags", "predict").out.decode().partition("\n")[0]
    assert first.startswith("# generator = deptree|hpyp surprisal|tags:predict|particles:50|filters:2|seed:3|v:")


def test_a_fresh_seed_is_shown(done, model) -> None:
    ran = done("hpyp", "surprisal", model, RAW, "--particles", 5)
    seed = re.findall(r"\|seed:(\d+)\|", ran.signature)[0]
    assert done("hpyp", "surprisal", model, RAW, "--particles", 5, "--seed", seed).out == ran.out


def test_again_with_other_numbers(measured, done, model, put) -> None:
    """Older ones go."""
    name = put("once.conllu", measured().out)
    out = done("hpyp", "surprisal", model, name, "--particles", 20, "--seed", 4, "--no-header").out
    assert out.count(b"# end_surprisal = ") == 12
    assert out.count(b"Surprisal=") == measured().out.count(b"Surprisal=")
    plain = re.sub(rb"\t(?=\n)", b"\t_", COMMENTS.sub(b"", NOTED.sub(b"", out)))
    assert plain == RAW.read_bytes()


def test_a_tree_and_its_notes_stay_and_a_new_tree_leaves_surprisals(done, model, put) -> None:
    parsed = put("parsed.conllu", done("hpyp", "parse", model, RAW).out)
    both = done("hpyp", "surprisal", model, parsed, "--particles", 20, "--seed", 4, "--no-header").out
    assert both.count(b"# derivation_logprob = ") == 12
    again = done("hpyp", "parse", model, put("both.conllu", both), "--no-header").out
    assert sorted(again.splitlines()) == sorted(both.splitlines())


def test_words_without_tags(deptree, done, model, put) -> None:
    name = put("untagged.conllu", re.sub(rb"(?m)^(\d+\t\S+\t\S+)\t\S+\t\S+", rb"\1\t_\t_", RAW.read_bytes()))
    ran = deptree("hpyp", "surprisal", model, name)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.said == ["deptree: untagged.conllu: no word has a tag in UPOS. Tag the words, or pass --tags predict."]
    assert len(done("hpyp", "surprisal", model, name, "--tags", "predict", "--format", "jsonl").rows) == 12


def test_a_parser_without_words(deptree, done, unlexicalised_model) -> None:
    assert len(done("hpyp", "surprisal", unlexicalised_model, RAW, "--format", "jsonl").rows) == 12
    ran = deptree("hpyp", "surprisal", unlexicalised_model, RAW, "--tags", "predict")
    assert ran.code == 2
    assert "a parser without words cannot predict tags" in ran.err


def test_both_inputs_from_standard_input(deptree) -> None:
    ran = deptree("hpyp", "surprisal", "-", "-")
    assert ran.code == 2
    assert len(ran.said) == 1
