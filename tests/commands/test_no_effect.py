"""An option that would have no effect is refused, and says what it needs; so are formats that cannot be shown."""

from __future__ import annotations

import pytest

from deptree_cli.io.encoders import ARRAYS, encoder_of, encoders
from deptree_cli.io.encoders.base import CONLLU, JSONL, PHARAOH, TSV
from tests.every_command import COMMANDS, ENTRIES, options
from tests.sample import DATA, SCORES, SENTENCES

GOLD = DATA / "gold.conllu"
BITEXT = (DATA / "bitext.npz",)

# What commands with --seed that draw no random numbers do without; all others draw some.
NOT_RANDOM = {
    "marginals": SCORES,
    "agree": (GOLD, GOLD),
    "check-bias": (*SCORES, "--samples", "samples.jsonl"),
    "eval": (GOLD, "--scores", *SCORES),
    "show": SCORES,
    "hpyp parse": ("m.npz", GOLD),
    "bitext align": BITEXT,
    "bitext expectations": BITEXT,
    "bitext show": BITEXT,
}

RANDOM = {name for name in COMMANDS if "--seed" in options(name)} - NOT_RANDOM.keys()

NO_EFFECT = [
    ("check-bias", (*NOT_RANDOM["check-bias"], "--sampler", "wilson-rc"), "--sampler needs trees to draw"),
    ("check-bias", (*NOT_RANDOM["check-bias"], "-k", "50"), "-k needs trees to draw"),
    ("agree", (GOLD, GOLD, "--alpha", "0.1"), "--alpha needs --test"),
    ("eval", (GOLD, "--scores", *SCORES, "--resamples", "9"), "--resamples needs gold trees"),
    ("hpyp parse", ("m.npz", GOLD, "--beam", "8", "--particles", "9"), "--particles needs --to-scores"),
    ("decode", (*SCORES, "--budget", "7"), "--budget needs rules"),
    ("decode", (*SCORES, "--relax"), "--relax needs rules: --rules"),
    ("decode", (*SCORES, "--method", "mbr", "-k", 2), "-k needs --method mst, but --method is mbr. Remove one, or add"),
    ("marginals", (*SCORES, "-k", "5"), "-k needs rules that only whole trees decide"),
    ("marginals", (*SCORES, "--above", "0.1", "-o", "x.npz"), "--above needs TSV or JSON Lines, but the output is npz"),
    ("swor", (*SCORES, "--labelled"), "--labelled needs --labels FILE"),
    ("decode", (*SCORES, *SENTENCES, "--sent-id-format", "{id}/{k}"), "--sent-id-format needs -k"),
    ("sample", (*SCORES, "--deps", "keep"), "--deps needs --format conllu, but the output is jsonl"),
    ("swor", (*SCORES, "--sent-id-format", "{id}-{k}"), "--sent-id-format needs --format conllu"),
]


@pytest.mark.parametrize("name", NOT_RANDOM)
def test_a_seed_changes_nothing_of_what_is_not_random(deptree, name: str) -> None:
    """Not even the signature, nor what is wrong: scripts pass one to every command."""
    line = (*name.split(), *NOT_RANDOM[name])
    ran, seeded = deptree(*line), deptree(*line, "--seed", 1)
    assert (seeded.code, seeded.out, seeded.err) == (ran.code, ran.out, ran.err)
    assert "seed" not in ran.err


@pytest.mark.parametrize(("name", "args", "says"), NO_EFFECT, ids=lambda each: each if isinstance(each, str) else "")
def test_others_are_refused_too(deptree, name: str, args, says: str) -> None:
    ran = deptree(*name.split(), *args)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert says in ran.err


FORMATS = [each.name for each in (CONLLU, JSONL, TSV, PHARAOH)] + [ARRAYS]


@pytest.mark.parametrize("asked", [each.name for each in encoders(FORMATS)])
def test_a_suffix_of_another_format_is_refused(deptree, asked: str) -> None:
    for each in encoders(FORMATS):
        for suffix in each.suffixes:
            if each.name == asked:
                assert encoder_of(asked, f"x{suffix}.gz", FORMATS, "").name == asked
                continue
            with pytest.raises(Exception, match=rf"x{suffix}: {suffix} is the suffix of {each.name}, but .* {asked}"):
                encoder_of(asked, f"x{suffix}", FORMATS, "")
    assert encoder_of(asked, "x.out", FORMATS, "").name == asked


ARRAYS_OF = {
    "combine": (*2 * (f"{DATA / 'scores.npz'}:natasha",), "--method", "mixture"),
    "bitext expectations": BITEXT,
    "convert": SCORES,
    "dump": ("natasha", DATA / "paragraphs.txt"),
}
WRITES_ARRAYS = {name: ARRAYS_OF.get(name, SCORES) for name, each in ENTRIES.items() if each.writes == "arrays"}
WRITES_ARRAYS |= ARRAYS_OF


def test_the_table_knows_who_writes_arrays() -> None:
    formats = {name: getattr(options(name).get("--format"), "type", None) for name in COMMANDS}
    assert {name for name, found in formats.items() if "npz" in getattr(found, "choices", ())} == WRITES_ARRAYS.keys()


@pytest.mark.parametrize("fmt", [each.name for each in encoders([ARRAYS])])
@pytest.mark.parametrize("name", WRITES_ARRAYS)
def test_a_terminal_gets_no_bytes(terminal, name: str, fmt: str) -> None:
    code, shown = terminal(*name.split(), *WRITES_ARRAYS[name], "--format", fmt)
    assert code == 2
    (line,) = shown.splitlines()
    if fmt == "npy" and name in ("convert", "dump"):
        assert "a .npy cannot store that these scores are read with" in line
        return
    assert line == "deptree: a terminal cannot show arrays. Name a file with -o, or redirect: > FILE."
