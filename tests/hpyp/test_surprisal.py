"""`deptree hpyp surprisal`: numbers that add up, sentences that stay as they are, and what it says of itself."""

import re

import numpy as np
import pytest

from tests.sample import DATA

RAW = DATA / "raw.conllu"
NOTED = re.compile(rb"\|?Surprisal(?:Class|Note)?=[^|\n]+")
COMMENTS = re.compile(rb"# (?:generator|end_surprisal|evidence_log2|evidence_error) = .*\n")


@pytest.fixture
def measured(done, model):
    """Call with options: the surprisals of twelve sentences, by few particles."""
    return lambda options="": done(f"hpyp surprisal {model} $DATA/raw.conllu --particles 50 --seed 3 {options}")


def without_surprisals(out):
    return re.sub(rb"\t(?=\n)", b"\t_", COMMENTS.sub(b"", NOTED.sub(b"", out)))


@pytest.mark.parametrize("tags", ["given", "predict"])
def test_printed_numbers_are_those_of_json_lines_and_of_the_library(measured, parser, sentences, tags):
    """They add up, and sentences stay as they are."""
    ran, rows = measured(f"--tags {tags}"), measured(f"--tags {tags} --format jsonl").rows
    assert ran.signature.startswith(f"deptree|hpyp surprisal|tags:{tags}|particles:50|filters:2|seed:3|v:")
    assert without_surprisals(ran.out) == RAW.read_bytes()
    for sentence, row, block in zip(sentences, rows, ran.out.decode().strip().split("\n\n"), strict=True):
        assert re.findall(r"Surprisal=([\d.]+)", block) == [f"{bits:.4f}" for bits in row["surprisal"]]
        for comment, value in {
            "end_surprisal": f"{row['end']:.4f}",
            "evidence_log2": f"{row['evidence_log2']:.4f}",
            "evidence_error": f"{row['evidence_error']:.4f}",
            "sent_id": row["sent_id"],
        }.items():
            assert f"# {comment} = {value}\n" in block
        assert sum(row["surprisal"]) + row["end"] == pytest.approx(-row["evidence_log2"])
        assert len(row["surprisal"]) == len(row["error"]) == len(row["forms"]) == sentence.n
        assert (row["particles"], row["filters"]) == (50, 2)
        assert row["end_error"] >= 0
        found = parser.surprisal(sentence, 3, particles=50, predict_tags=tags == "predict")
        assert found.tolist() == [*row["surprisal"], row["end"]]


@pytest.mark.parametrize(("options", "what"), [("", "words and ends"), ("--regions spaces", "regions and ends")])
def test_the_error_on_stderr(measured, options, what):
    ran = measured(f"--format jsonl --filters 3 {options}")
    errors = [each for row in ran.rows for each in [*row["error"], row["end_error"]]]
    off = np.sqrt(np.mean(np.square(errors)))
    says = f"deptree: Monte Carlo error of a surprisal: {off:.4f} bits (root mean square over {len(errors)} {what})"
    assert ran.said[-1].startswith(says)
    assert off > 0
    assert measured("--quiet").err == ""


def test_a_single_filter(measured):
    ran = measured("--format jsonl --filters 1")
    assert "Monte Carlo" not in ran.err
    assert all("error" not in row and row["evidence_error"] is None for row in ran.rows)
    assert b"evidence_error" not in measured("--filters 1").out
    assert measured("--tsv --filters 1").out.splitlines()[1].split(b"\t")[6] == b""


@pytest.mark.parametrize(
    "line", ["surprisal MODEL $DATA/raw.conllu --particles 5", "parse MODEL $DATA/raw.conllu -k 1", "generate MODEL"]
)
def test_a_fresh_seed_is_shown(done, model, line):
    line = line.replace("MODEL", str(model))
    ran = done(f"hpyp {line}")
    seed = re.findall(r"\|seed:(\d+)\|", ran.signature)[0]
    assert done(f"hpyp {line} --seed {seed}").out == ran.out


def test_older_numbers_go(measured, done, model, put):
    once = put("once.conllu", measured().out)
    out = done(f"hpyp surprisal {model} {once} --particles 20 --seed 4 --no-header").out
    assert out.count(b"# end_surprisal = ") == 12
    assert out.count(b"Surprisal=") == measured().out.count(b"Surprisal=")
    assert without_surprisals(out) == RAW.read_bytes()


def test_a_tree_and_its_notes_stay_and_a_new_tree_leaves_surprisals(done, model, put):
    parsed = put("parsed.conllu", done(f"hpyp parse {model} $DATA/raw.conllu").out)
    both = done(f"hpyp surprisal {model} {parsed} --particles 20 --seed 4 --no-header").out
    assert both.count(b"# derivation_logprob = ") == 12
    again = done(f"hpyp parse {model} {put('both.conllu', both)} --no-header").out
    assert sorted(again.splitlines()) == sorted(both.splitlines())


# A multiword token of a known word and one that is not, a tag that is missing and one that is unseen; and an unseen
# class: nothing in the treebank is an address.
ODD = [row.split() for row in ["1-2 thegirl _", "1 the DET", "2 zyxwing NOUN", "3 saw _", "4 a@b.CD FOO", "5 . PUNCT"]]
ODD_TEXT = "".join(f"{number}\t{form}\t_\t{tag}" + "\t_" * 6 + "\n" for number, form, tag in ODD)
NOTHING, MAIL = (None, None), ("UNK-CAPS-MAIL", "rare_form,unseen_class,unseen_tag")
NOTES = [NOTHING, ("UNK-LC-ing", "rare_form"), (None, "missing_tag"), MAIL, NOTHING]


@pytest.fixture
def odd(done, model, put):
    """Call with options, and what to replace: the surprisals of that sentence."""

    def run(options="", *replaced):
        text = f"# sent_id = o\n{ODD_TEXT}\n"
        put("odd.conllu", text.replace(*replaced) if replaced else text)
        return done(f"hpyp surprisal {model} odd.conllu --seed 1 {options}")

    return run


def test_words_that_were_not_scored_as_what_they_are(odd, done, model, put):
    """They are marked with the class and the reason, in all formats, and marks that are no longer true go."""
    out = odd().out.decode()
    marks = [
        tuple(re.findall(rf"{key}=([^|\n]*)", line) for key in ("SurprisalClass", "SurprisalNote"))
        for line in out.splitlines()
        if re.match(r"\d+\t", line)
    ]
    assert marks == [tuple([each] if each else [] for each in pair) for pair in NOTES]
    again = done(f"hpyp surprisal {model} {put('again.conllu', out)} --seed 1 --tags predict").out.decode()
    assert re.findall(r"SurprisalNote=(.*)", again) == ["rare_form", "rare_form,unseen_class"]
    assert again.count("Surprisal=") == 5


# The sentence `ODD` by regions: their ids, forms and words, what they have to be noted for; a full stop behind a word.
GLUED = "a@b.CD\t_\tFOO" + "\t_" * 5 + "\t{}\n"
OF_WORDS = [(number, form, 1, *notes) for (number, form, _), notes in zip(ODD[1:], NOTES, strict=True)]
OF_TOKENS = [("1-2", "thegirl", 2, "UNK-LC-ing", "rare_form"), *OF_WORDS[2:]]
OF_SPACES = [*OF_TOKENS[:2], ("4-5", "a@b.CD.", 2, *MAIL)]


@pytest.mark.parametrize(
    ("regions", "expected"), [("words", OF_WORDS), ("tokens", OF_TOKENS), ("spaces", OF_SPACES)], ids=str
)
def test_regions_have_the_sums_of_their_words(odd, regions, expected):
    """All of them: sums of bits, the error of the sum, and the notes of all words; in both formats."""
    glued = GLUED.format("_"), GLUED.format("SpaceAfter=No")
    (of_words,) = odd("--filters 4 --format jsonl", *glued).rows
    (found,) = odd(f"--filters 4 --format jsonl --regions {regions}", *glued).rows
    lines = odd(f"--filters 4 --tsv --regions {regions}", *glued).out.decode().splitlines()
    names, *rows = [line.split("\t") for line in lines]
    assert names == ["sent_id", "position", "id", "form", "words", "surprisal", "error", "class", "note"]
    assert list(zip(found["id"], found["forms"], found["class"], found["note"], strict=True)) == [
        (number, form, *notes) for number, form, _, *notes in expected
    ]
    assert [row[1:5] + row[7:] for row in rows] == [
        [str(place), number, form, str(words), one or "", two or ""]
        for place, (number, form, words, one, two) in enumerate(expected, 1)
    ]
    bounds = np.cumsum([0, *(words for _, _, words, *_ in expected)])
    np.testing.assert_allclose(found["surprisal"], np.add.reduceat(of_words["surprisal"], bounds[:-1]))
    assert [float(row[5]) for row in rows] == found["surprisal"]
    assert [float(row[6]) for row in rows] == found["error"]
    alone = [place for place, (_, _, words, *_) in enumerate(expected) if words == 1]
    np.testing.assert_allclose(np.asarray(found["error"])[alone], np.asarray(of_words["error"])[bounds[:-1][alone]])
    same = "sent_id", "end", "end_error", "evidence_log2", "evidence_error"
    assert [found[key] for key in same] == [of_words[key] for key in same]


def test_the_error_of_a_region_is_that_of_its_sum(measured, parser, sentences):
    """From the filters' estimates of the words before and within it; errors of words do not add up to it."""
    found = measured("--regions spaces --json --filters 5").rows[-1]
    estimates = np.exp(parser.evidence(sentences[-1], 3, particles=50, filters=5).log_prefixes)
    shares = np.hstack([np.ones((5, 1)), estimates / estimates.mean(0)])
    assert found["id"] == ["1", "2", "3-4", "5", "6", "7-8"]
    deviations = np.diff(shares[:, [0, 1, 2, 4, 5, 6, 8]], axis=1)
    np.testing.assert_allclose(found["error"], deviations.std(0, ddof=1) / np.sqrt(5) / np.log(2), atol=1e-12)


def test_regions_have_no_place_in_conllu(refused, measured, model):
    """Without a format TSV is written, and CoNLL-U is refused."""
    assert measured("--regions spaces").out == measured("--regions spaces --tsv").out
    line = f"hpyp surprisal {model} $DATA/raw.conllu --regions spaces --format conllu"
    refused(line, "conllu cannot store regions of several words. Choose one of tsv, jsonl")
    line = f"hpyp surprisal {model} $DATA/raw.conllu --tsv --format jsonl"
    refused(line, "jsonl and tsv are two formats. Choose one.")
    assert b"|regions:spaces|" in measured("--regions spaces --header").out.splitlines()[0]
    assert measured("--regions words").out == measured().out


def test_a_text_that_contradicts_spaces(deptree, model, put):
    """The sentence is an error, and can be skipped."""
    name = put("raw.conllu", RAW.read_text().replace("shop early.", "shop early ."))
    line = f"hpyp surprisal {model} {name} --particles 20 --seed 1 --regions spaces --json"
    ran = deptree(line)
    assert (ran.code, len(ran.said)) == (2, 1)
    says = "SpaceAfter and # text disagree: by SpaceAfter a reader sees 'early.' but 'early' in # text"
    assert f"(raw-02): {says}" in ran.err
    skipped = deptree(f"{line} --on-error skip")
    assert (skipped.code, len(skipped.rows)) == (1, 11)


def test_a_wrong_multiword_token(refused, odd, model):
    """Only where regions are made of tokens."""
    odd("--regions words", "1-2\t", "1-9\t")
    for regions in ("tokens", "spaces"):
        line = f"hpyp surprisal {model} odd.conllu --particles 5 --seed 1 --regions {regions}"
        refused(line, "the multiword token 1-9 ends beyond the 5 words. Correct the ids of multiword tokens.")


def test_spaces_that_nothing_tells(odd, measured):
    told = "no sentence has SpaceAfter=No or # text"
    assert told in odd("--regions spaces").said[-1]
    assert told not in odd("--regions tokens --tsv").err
    assert told not in measured("--regions spaces").err
    assert told not in odd("--regions spaces", "= o\n", "= o\n# text = thegirl saw a@b.CD .\n").err


def test_regions_golden(measured, golden):
    golden("surprisal_regions.tsv", measured("--regions spaces --tags predict").out)


def test_a_parser_without_words_has_no_classes(done, xpos_model):
    for row in done(f"hpyp surprisal {xpos_model} $DATA/raw.conllu --format jsonl").rows:
        assert row["class"] == row["note"] == [None] * len(row["forms"])
