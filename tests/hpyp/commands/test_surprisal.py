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


def table(out: bytes) -> list[dict[str, str]]:
    """TSV by its first row."""
    names, *lines = [line.split("\t") for line in out.decode().splitlines()]
    assert names == ["sent_id", "position", "id", "form", "words", "surprisal", "error", "class", "note"]
    return [dict(zip(names, line, strict=True)) for line in lines]


def test_a_row_for_every_word(done, model, odd) -> None:
    args = "hpyp", "surprisal", model, odd, "--seed", 1
    (of_words,) = done(*args, "--format", "jsonl").rows
    rows = table(done(*args, "--tsv").out)
    assert [(row["id"], row["form"], row["words"]) for row in rows] == [(*each[:2], "1") for each in ODD[1:]]
    assert [(row["class"], row["note"]) for row in rows] == [(one or "", two or "") for one, two in NOTES]
    assert [float(row["surprisal"]) for row in rows] == of_words["surprisal"]
    assert [float(row["error"]) for row in rows] == of_words["error"]
    assert of_words["id"] == ["1", "2", "3", "4", "5"]


# The sentence `ODD` by regions: their ids, forms and words, what they have to be noted for; a full stop behind a word.
GLUED = "a@b.CD\t_\tFOO" + "\t_" * 5 + "\t{}\n"
OF_TOKENS = [
    ("1-2", "thegirl", 2, "UNK-LC-ing", "rare_form"),
    ("3", "saw", 1, None, "missing_tag"),
    ("4", "a@b.CD", 1, "UNK-CAPS-MAIL", "rare_form,unseen_class,unseen_tag"),
    ("5", ".", 1, None, None),
]
OF_SPACES = [*OF_TOKENS[:2], ("4-5", "a@b.CD.", 2, *OF_TOKENS[2][3:])]


@pytest.mark.parametrize(("regions", "expected"), [("tokens", OF_TOKENS), ("spaces", OF_SPACES)])
def test_regions_have_the_sums_of_their_words(done, model, odd, put, regions, expected) -> None:
    """All of them: sums of bits, the error of the sum, and the notes of all words; in both formats."""
    text = Path(odd).read_text()
    name = put("glued.conllu", text.replace(GLUED.format("_"), GLUED.format("SpaceAfter=No")))
    args = "hpyp", "surprisal", model, name, "--seed", 1, "--filters", 4
    (of_words,) = done(*args, "--format", "jsonl").rows
    (found,) = done(*args, "--format", "jsonl", "--regions", regions).rows
    rows = table(done(*args, "--format", "tsv", "--regions", regions).out)
    assert list(zip(found["id"], found["forms"], found["class"], found["note"], strict=True)) == [
        (number, form, *notes) for number, form, _, *notes in expected
    ]
    assert [(row["position"], row["id"], row["form"], row["words"], row["class"], row["note"]) for row in rows] == [
        (str(place), number, form, str(words), one or "", two or "")
        for place, (number, form, words, one, two) in enumerate(expected, 1)
    ]
    bounds = np.cumsum([0, *(words for _, _, words, *_ in expected)])
    np.testing.assert_allclose(found["surprisal"], np.add.reduceat(of_words["surprisal"], bounds[:-1]))
    assert [float(row["surprisal"]) for row in rows] == found["surprisal"]
    assert [float(row["error"]) for row in rows] == found["error"]
    alone = [place for place, (_, _, words, *_) in enumerate(expected) if words == 1]
    np.testing.assert_allclose(np.asarray(found["error"])[alone], np.asarray(of_words["error"])[bounds[:-1][alone]])
    same = "sent_id", "end", "end_error", "evidence_log2", "evidence_error"
    assert [found[key] for key in same] == [of_words[key] for key in same]


def test_the_error_of_a_region_is_that_of_its_sum(done, model, put, parser) -> None:
    """From the filters' estimates of the words before and within it; errors of words do not add up to it."""
    (found,) = done("hpyp", "surprisal", model, RAW, "--regions", "spaces", "--json", "--seed", 3, "--filters", 5).rows[
        -1:
    ]
    sentence = [*parser.read(RAW)][-1]
    estimates = np.exp(parser.evidence(sentence, 3, filters=5).log_prefixes)
    shares = np.hstack([np.ones((5, 1)), estimates / estimates.mean(0)])
    assert found["id"] == ["1", "2", "3-4", "5", "6", "7-8"]
    ends = np.array([0, 1, 2, 4, 5, 6, 8])
    deviations = np.diff(shares[:, ends], axis=1)
    np.testing.assert_allclose(found["error"], deviations.std(0, ddof=1) / np.sqrt(5) / np.log(2), atol=1e-12)


def test_regions_are_no_words_of_conllu(deptree, measured, tmp_path) -> None:
    """They have no place in MISC: without a format TSV is written, and CoNLL-U is refused."""
    assert measured("--regions", "spaces").out == measured("--regions", "spaces", "--tsv").out
    ran = deptree("hpyp", "surprisal", "m.npz", RAW, "--regions", "spaces", "--format", "conllu")
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "conllu cannot store regions of several words. Choose one of tsv, jsonl" in ran.err
    assert b"|regions:spaces|" in measured("--regions", "spaces", "--header").out.splitlines()[0]
    assert measured("--regions", "words").out == measured().out


def test_the_line_on_stderr_counts_regions(measured) -> None:
    ran = measured("--regions", "spaces", "--json")
    errors = [each for row in ran.rows for each in [*row["error"], row["end_error"]]]
    off = np.sqrt(np.mean(np.square(errors)))
    assert f"a surprisal: {off:.4f} bits (root mean square over {len(errors)} regions and ends)" in ran.said[-1]


def test_a_text_that_contradicts_spaces(deptree, done, model, put) -> None:
    """The sentence is an error before any work is done, and can be skipped."""
    name = put("raw.conllu", RAW.read_text().replace("shop early.", "shop early ."))
    args = "hpyp", "surprisal", model, name, "--particles", 20, "--seed", 1, "--regions", "spaces", "--json"
    ran = deptree(*args)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert (
        "(raw-02): SpaceAfter and # text disagree: by SpaceAfter a reader sees 'early.' but 'early' in # text"
        in ran.err
    )
    skipped = deptree(*args, "--on-error", "skip")
    assert (skipped.code, len(skipped.rows)) == (1, 11)


@pytest.mark.parametrize("regions", ["tokens", "spaces"])
def test_a_wrong_multiword_token(deptree, model, odd, put, regions: str) -> None:
    """No region of words that nobody asked for."""
    name = put("wrong.conllu", Path(odd).read_text().replace("1-2\t", "1-9\t"))
    args = "hpyp", "surprisal", model, name, "--particles", 5, "--seed", 1
    ran = deptree(*args, "--regions", regions)
    assert (ran.code, ran.out) == (2, b"")
    assert "the multiword token 1-9 ends beyond the 5 words. Correct the ids of multiword tokens." in ran.said[-1]
    assert deptree(*args, "--regions", "words").code == 0


def test_spaces_that_nothing_tells(done, model, odd, put, measured) -> None:
    args = "hpyp", "surprisal", model, odd, "--particles", 20, "--seed", 1
    told = "no sentence has SpaceAfter=No or # text"
    assert told in done(*args, "--regions", "spaces").said[-1]
    assert told not in done(*args, "--regions", "tokens", "--tsv").err
    assert told not in measured("--regions", "spaces").err
    spaced = put("spaced.conllu", Path(odd).read_text().replace("= o\n", "= o\n# text = thegirl saw a@b.CD .\n"))
    assert told not in done(*args[:3], spaced, *args[4:], "--regions", "spaces").err


def test_regions_golden(measured, golden) -> None:
    golden("surprisal_regions.tsv", measured("--regions", "spaces", "--tags", "predict").out)


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
