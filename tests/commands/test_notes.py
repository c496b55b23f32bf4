"""Notes of an earlier command never stand beside another tree: they are written anew or go; all else stays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.sample import DATA

NATASHA = (DATA / "scores.npz", "--from", "natasha")
LABELS = ("--label-scores", DATA / "label_scores.npz", "--labels", DATA / "labels.json")
GOLD = DATA / "gold.conllu"

NOTES = (
    *("tree_logprob", "tree_prob", "tree_count", "label_logprob", "entropy"),
    *("swor_rank", "swor_weight", "swor_weight_normalised", "swor_tau", "swor_mass", "swor_exhausted"),
    *("certified", "gap", "relaxed", "relaxed_fewest"),
    *("expected_errors", "least_margin", "disagreement"),
    *("derivation_logprob", "effective_size", "particles"),
)
STALE = "".join(f"# {key} = stale\n" for key in NOTES).encode()
NOTED = re.compile(rb"^# (%s) = .*\n" % "|".join(NOTES).encode(), re.MULTILINE)
IN_MISC = re.compile(rb"(?:HeadProb|LabelProb|Doubt)=[^|\n]*")

# command -> the comments and the entries of MISC that it writes
WRITES = {
    "sample": ({"tree_logprob"}, set()),
    "sample --unique -k 5": ({"tree_logprob", "tree_count"}, set()),
    "swor -k 2": ({"tree_logprob", *(key for key in NOTES if key.startswith("swor_"))}, set()),
    "decode": ({"tree_logprob", "tree_prob", "entropy"}, {"HeadProb"}),
    "decode -k 2": ({"tree_logprob", "tree_prob", "entropy"}, {"HeadProb"}),
    "marginals": ({"tree_logprob", "tree_prob", "entropy"}, {"HeadProb"}),
}


@pytest.fixture
def noted(put) -> bytes:
    """The gold sentences with notes of every kind, all of them untrue."""
    data = GOLD.read_bytes().replace(b"# text = ", STALE + b"# text = ")
    data = re.sub(rb"^(\d+\t(?:[^\t\n]*\t){8})_$", rb"\1HeadProb=stale", data, flags=re.MULTILINE)
    data = re.sub(
        rb"^(\d+\t(?:[^\t\n]*\t){8}(?!Head)\S.*)$", rb"\1|LabelProb=stale|Doubt=stale|HeadProb=st=ale", data, flags=re.M
    )
    assert data.count(b"HeadProb=st") == len(re.findall(rb"^\d+\t", data, re.MULTILINE))
    put("noted.conllu", data)
    return data


def ran(done, command: str, conllu: object, *more: object) -> bytes:
    name, *options = command.split()
    seed = () if name in ("decode", "marginals") else ("--seed", 7)
    return done(name, *NATASHA, *options, *seed, "--conllu", conllu, "-q", *more).out


@pytest.mark.parametrize("command", WRITES)
def test_notes_are_written_anew_or_go(command, done, noted) -> None:
    """What was noted before makes no difference at all."""
    out = ran(done, command, "noted.conllu")
    assert b"stale" not in out
    assert b"st=ale" not in out
    assert out == ran(done, command, GOLD)
    comments, misc = WRITES[command]
    assert {key.decode() for key in re.findall(rb"^# (\w+) = ", out, re.MULTILINE)} & set(NOTES) == comments
    assert {entry.partition(b"=")[0].decode() for entry in IN_MISC.findall(out)} == misc


def test_labels_are_noted_only_where_they_are_known(done, noted) -> None:
    with_labels = ran(done, "decode", "noted.conllu", *LABELS)
    Path("labelled.conllu").write_bytes(with_labels)
    assert b"LabelProb=" in with_labels
    again = ran(done, "decode", "labelled.conllu")
    assert b"LabelProb=" not in again
    assert b"label_logprob" not in again


def test_everything_else_stays_byte_for_byte(done, put) -> None:
    """Words that look like notes and are none: other keys, free text, columns, empty nodes, a MISC with odd bars."""
    odd = "# my_entropy = 1\n# entropy\n# not entropy = 2\n#swor\n# head = HeadProb=1\n"
    rows = "1\tHeadProb=1\t_\t_\t_\t_\t0\troot\t_\tA=1||_|XHeadProb=2\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_|B\n"
    put("odd.conllu", odd + rows + "\n")
    put("odd.jsonl", '{"scores":[[0,1,1],[0,0,1],[0,1,0]]}\n')
    out = done("sample", "odd.jsonl", "--from", "head-dep", "--conllu", "odd.conllu", "--no-header").out.decode()
    for line in odd.splitlines():
        assert line in out.splitlines()
    assert "\tA=1||_|XHeadProb=2\n" in out
    assert out.endswith("\t_|B\n\n")


@pytest.mark.parametrize("command", WRITES)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_one_signature_stands_in_a_file(command, end, done, put) -> None:
    """Those of earlier runs give way, also in the second of two files joined by cat; what others noted stays."""
    tagger = b"# generator = UDPipe 2, https://lindat.mff.cuni.cz/services/udpipe\n"
    put(
        "tagged.conllu",
        tagger + GOLD.read_bytes().replace(b"# sent_id = en-3", b"# generator=deptree|old\n# sent_id = en-3"),
    )
    put("first.conllu", ran(done, "decode", "tagged.conllu").replace(b"\n", end))
    out = ran(done, command, "first.conllu")
    lines = re.findall(rb"^# generator *= *(\S+)", out, re.MULTILINE)
    assert [line.partition(b"|")[0] for line in lines] == [b"deptree", b"UDPipe"]
    assert lines[0].startswith(b"deptree|" + command.split()[0].encode())
    assert out.startswith(b"# generator = deptree|")


def test_the_same_command_again_adds_nothing(done, put) -> None:
    put("once.conllu", ran(done, "marginals", GOLD))
    assert ran(done, "marginals", "once.conllu") == Path("once.conllu").read_bytes()


def test_generators_of_files_joined_by_cat_stay_with_their_sentences(done, put) -> None:
    put("two.conllu", GOLD.read_bytes().replace(b"# sent_id = en-3", b"# generator = other\n# sent_id = en-3"))
    out = ran(done, "sample -k 2", "two.conllu")
    assert out.count(b"# generator = other\n") == 1
    assert b"# generator = other\n# sent_id = en-3/sample_1\n" in out
