"""`deptree hpyp surprisal`: numbers that add up, sentences that stay as they are, and what it says of itself."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

RAW = Path(__file__).parents[3] / "sample_data/raw.conllu"
NOTED = re.compile(rb"\|?Surprisal(?:Class|Note)?=[^|\n]+")
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
    """16 times as many particles leave a quarter of the error if they are independent; systematic ones leave less.

    Of the median sentence: once in some hundred filters a rare tree is missed, whose error is that of all others.
    """
    few, many = (measured("--format", "jsonl", "--particles", size, "--filters", 10).rows for size in (50, 800))
    off = [np.median([row["evidence_error"] for row in rows]) for rows in (few, many)]
    assert off[0] > 2 * off[1] > 0


def test_the_library_has_the_same_numbers(measured, parser) -> None:
    for sentence, row in zip(parser.read(RAW), measured("--format", "jsonl").rows, strict=True):
        assert parser.surprisal(sentence, 3, particles=50).tolist() == [*row["surprisal"], row["end"]]


def test_the_signature(measured) -> None:
    first = measured("--tags", "predict").out.decode().partition("\n")[0]
    assert first.startswith("# generator = deptree|hpyp surprisal|tags:predict|particles:50|filters:2|seed:3|v:")


@pytest.mark.parametrize("args", [("surprisal", RAW, "--particles", 5), ("parse", RAW, "-k", 1), ("generate",)])
def test_a_fresh_seed_is_shown(done, model, args) -> None:
    command, *others = args
    ran = done("hpyp", command, model, *others)
    seed = re.findall(r"\|seed:(\d+)\|", ran.signature)[0]
    assert done("hpyp", command, model, *others, "--seed", seed).out == ran.out


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


# A multiword token of a known word and one that is not, a tag that is missing and one that is unseen; and an unseen
# class: nothing in the treebank is an address.
ODD = (
    ("1-2", "thegirl", "_"),
    ("1", "the", "DET"),
    ("2", "zyxwing", "NOUN"),
    ("3", "saw", "_"),
    ("4", "a@b.CD", "FOO"),
    ("5", ".", "PUNCT"),
)
NOTES = [
    (None, None),
    ("UNK-LC-ing", "rare_form"),
    (None, "missing_tag"),
    ("UNK-CAPS-MAIL", "rare_form,unseen_class,unseen_tag"),
    (None, None),
]


@pytest.fixture
def odd(put) -> str:
    rows = "".join(f"{number}\t{form}\t_\t{tag}" + "\t_" * 6 + "\n" for number, form, tag in ODD)
    return put("odd.conllu", f"# sent_id = o\n{rows}\n")


def test_words_that_were_not_scored_as_what_they_are(done, model, odd, put) -> None:
    """They are marked with the class and the reason, in all formats, and marks that are no longer true go."""
    args = "hpyp", "surprisal", model, odd, "--seed", 1
    (row,) = done(*args, "--format", "jsonl").rows
    assert list(zip(row["class"], row["note"], strict=True)) == NOTES
    out = done(*args).out.decode()
    marks = [
        tuple(re.findall(rf"{key}=([^|\n]*)", line) for key in ("SurprisalClass", "SurprisalNote"))
        for line in out.splitlines()
        if re.match(r"\d+\t", line)
    ]
    assert marks == [tuple([each] if each else [] for each in pair) for pair in NOTES]
    again = done("hpyp", "surprisal", model, put("again.conllu", out), "--seed", 1, "--tags", "predict").out.decode()
    assert re.findall(r"SurprisalNote=(.*)", again) == ["rare_form", "rare_form,unseen_class"]
    assert again.count("Surprisal=") == 5


def test_a_row_for_every_token(done, model, odd) -> None:
    """The words of a multiword token are one row, whose surprisal is their sum, and whose notes are those of both."""
    args = "hpyp", "surprisal", model, odd, "--seed", 1
    (of_words,) = done(*args, "--format", "jsonl").rows
    lines = [line.split("\t") for line in done(*args, "--tsv").out.decode().splitlines()]
    assert lines[0] == ["sent_id", "position", "id", "form", "words", "surprisal", "error", "class", "note"]
    assert [line[:5] for line in lines[1:]] == [
        ["o", "1", "1-2", "thegirl", "2"],
        *(["o", str(position), number, form, "1"] for position, (number, form, _) in enumerate(ODD[3:], 2)),
    ]
    assert [line[7:] for line in lines[1:]] == [[word_class or "", note or ""] for word_class, note in NOTES[1:]]
    bits, errors = of_words["surprisal"], of_words["error"]
    found = [[float(line[column]) for line in lines[1:]] for column in (5, 6)]
    np.testing.assert_allclose(found[0], [bits[0] + bits[1], *bits[2:]])
    np.testing.assert_allclose(found[1][1:], errors[2:])


def test_ways_to_ask_for_rows(done, deptree, model, measured, tmp_path) -> None:
    rows = measured("--tsv").out
    assert measured("--format", "tsv").out == rows
    measured("-o", tmp_path / "s.tsv")
    assert (tmp_path / "s.tsv").read_bytes() == rows
    assert measured("--tsv", "-j", 2).out == rows
    assert measured("--tsv", "--header").out.startswith(b"# deptree|hpyp surprisal|")
    assert measured("--tsv", "--filters", 1).out.splitlines()[1].split(b"\t")[6] == b""
    ran = deptree("hpyp", "surprisal", model, RAW, "--tsv", "--format", "jsonl")
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "jsonl and tsv are two formats. Choose one." in ran.err
    (row, *_) = measured("--format", "jsonl").rows
    assert [float(line.split(b"\t")[5]) for line in rows.splitlines()[1:10]] == row["surprisal"]


def test_a_parser_without_words_has_no_classes(done, unlexicalised_model) -> None:
    for row in done("hpyp", "surprisal", unlexicalised_model, RAW, "--format", "jsonl").rows:
        assert row["class"] == row["note"] == [None] * len(row["forms"])
