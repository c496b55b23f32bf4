"""What stands beside trees: notes that an earlier command left are written anew or go; numbers; and signatures."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.sample import DATA

GOLD = (DATA / "gold.conllu").read_bytes()

NOTES = (
    *("tree_logprob", "tree_prob", "tree_count", "label_logprob", "entropy"),
    *("swor_rank", "swor_weight", "swor_weight_normalised", "swor_tau", "swor_mass", "swor_exhausted"),
    *("certified", "gap", "relaxed", "relaxed_fewest"),
    *("expected_errors", "least_margin", "disagreement"),
    *("derivation_logprob", "effective_size", "particles"),
)
STALE = "".join(f"# {key} = stale\n" for key in NOTES).encode()

# command -> the comments and the entries of MISC that it writes
WRITES = {
    "sample --seed 7": ({"tree_logprob"}, set()),
    "sample --seed 7 --unique -k 5": ({"tree_logprob", "tree_count"}, set()),
    "swor --seed 7 -k 2": ({"tree_logprob", *(key for key in NOTES if key.startswith("swor_"))}, set()),
    "decode": ({"tree_logprob", "tree_prob", "entropy"}, {"HeadProb"}),
    "decode -k 2": ({"tree_logprob", "tree_prob", "entropy"}, {"HeadProb"}),
    "marginals": ({"tree_logprob", "tree_prob", "entropy"}, {"HeadProb"}),
}


@pytest.fixture
def ran(done, put):
    put("gold.conllu", GOLD)

    def run(line: str, conllu: str) -> bytes:
        return done(f"{line} $SCORES --conllu {conllu} -q").out

    return run


@pytest.mark.quick
@pytest.mark.parametrize("line", WRITES)
def test_notes_are_written_anew_or_go(line, ran, put):
    noted = GOLD.replace(b"# text = ", STALE + b"# text = ")
    noted = re.sub(rb"(?m)^(\d+\t(?:[^\t\n]*\t){8})_$", rb"\1HeadProb=stale", noted)
    more = rb"\1|LabelProb=stale|Doubt=stale|HeadProb=st=ale"
    noted = re.sub(rb"(?m)^(\d+\t(?:[^\t\n]*\t){8}(?!Head)\S.*)$", more, noted)
    assert noted.count(b"HeadProb=st") == len(re.findall(rb"(?m)^\d+\t", noted))
    put("noted.conllu", noted)
    out = ran(line, "noted.conllu")
    assert out == ran(line, "gold.conllu")
    comments, misc = WRITES[line]
    assert {key.decode() for key in re.findall(rb"(?m)^# (\w+) = ", out)} & set(NOTES) == comments
    assert {name.decode() for name in re.findall(rb"(HeadProb|LabelProb|Doubt)=", out)} == misc


def test_labels_are_noted_only_where_they_are_known(ran, put):
    put("labelled.conllu", ran("decode $LABELS", "gold.conllu"))
    assert b"LabelProb=" in Path("labelled.conllu").read_bytes()
    again = ran("decode", "labelled.conllu")
    assert not re.search(b"LabelProb=|label_logprob", again)


def test_everything_else_stays_byte_for_byte(done, put):
    """What looks like notes: other keys, free text, columns, empty nodes, a MISC with odd bars."""
    odd = "# my_entropy = 1\n# entropy\n# not entropy = 2\n#swor\n# head = HeadProb=1\n"
    rows = "1\tHeadProb=1\t_\t_\t_\t_\t0\troot\t_\tA=1||_|XHeadProb=2\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_|B\n"
    put("odd.conllu", odd + rows + "\n")
    put("odd.jsonl", '{"scores":[[0,1,1],[0,0,1],[0,1,0]]}\n')
    out = done("sample odd.jsonl --from head-dep --conllu odd.conllu --no-header").out.decode()
    assert {*odd.splitlines()} <= {*out.splitlines()}
    assert "\tA=1||_|XHeadProb=2\n" in out
    assert out.endswith("\t_|B\n\n")


@pytest.mark.quick
@pytest.mark.parametrize("line", WRITES)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_one_signature_stands_in_a_file(line, end, ran, put):
    """Those of earlier runs give way, also in the second of two files joined by cat; what others noted stays."""
    tagger = b"# generator = UDPipe 2, https://lindat.mff.cuni.cz/services/udpipe\n"
    old = GOLD.replace(b"# sent_id = en-3", b"# generator=deptree|old\n# sent_id = en-3")
    put("tagged.conllu", tagger + old)
    put("first.conllu", ran("decode", "tagged.conllu").replace(b"\n", end))
    out = ran(line, "first.conllu")
    found = re.findall(rb"(?m)^# generator *= *(\S+)", out)
    assert [each.partition(b"|")[0] for each in found] == [b"deptree", b"UDPipe"]
    assert found[0].startswith(b"deptree|" + line.split()[0].encode())
    assert out.startswith(b"# generator = deptree|")


def test_the_same_command_again_adds_nothing(ran, put):
    put("once.conllu", ran("marginals", "gold.conllu"))
    assert ran("marginals", "once.conllu") == Path("once.conllu").read_bytes()


def test_generators_of_files_joined_by_cat_stay_with_their_sentences(ran, put):
    put("two.conllu", GOLD.replace(b"# sent_id = en-3", b"# generator = other\n# sent_id = en-3"))
    out = ran("sample -k 2", "two.conllu")
    assert out.count(b"# generator = other\n") == 1
    assert b"# generator = other\n# sent_id = en-3/sample_1\n" in out


@pytest.mark.quick
@pytest.mark.parametrize("command", ["decode", "marginals"])
@pytest.mark.parametrize("odds", [1e3, 1e5, 1e9, 1e12, np.inf])
def test_no_probability_is_rounded_to_a_certainty_but_certainties_are_1(done, put, command, odds):
    put("s.npy", np.array([[0, 1, 1 / odds], [0, 0, 1], [0, 1, 0]]))
    put("s.conllu", "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n")
    out = done(f"{command} s.npy --from head-dep --conllu s.conllu").out.decode()
    found = re.findall(r"(?:HeadProb|LabelProb|tree_prob) ?= ?(\S+)", out)
    assert len(found) == 3
    assert all(0 < float(text) < 1 for text in found) or found == ["1"] * 3
    assert [float(text) for text in found] == pytest.approx([1 / (1 + 1 / odds)] * 3, abs=1e-4)
    assert (found == ["1"] * 3) == (odds == np.inf)
    if odds == 1e9:  # the mass of one tree is not that of both
        assert "# swor_mass = 0.999999999\n" in done("swor s.npy --from head-dep --conllu s.conllu -k 1").out.decode()


@pytest.mark.quick
@pytest.mark.parametrize("line", ["expect risk $SCORES", "inspect $SCORES"])
def test_sentences_with_heads_are_gold_too(done, line):
    assert done(f"{line} --conllu $GOLD").out == done(f"{line} --gold $GOLD").out


NEWS = ["sample $SCORES", "show $SCORES -k 3"]
OLD = ["sample $SCORES -q", "sample $SCORES --seed 1", "show $SCORES", "inspect $SCORES", "decode $SCORES $SENTENCES"]


@pytest.mark.parametrize("line", [*NEWS, *OLD, "partition $SCORES"])
def test_a_signature_is_said_where_it_says_what_the_line_does_not(done, line):
    assert [said.startswith("deptree: deptree|") for said in done(line).said] == [True] * (line in NEWS)


def test_a_layout_found_in_the_file_is_news(done, put):
    put("unrelated", b"")
    done("convert $SCORES --to spacy -o own.npz -q")
    assert "|from:spacy|" in done("partition own.npz").signature
    assert done("partition own.npz --from spacy").err == ""
    put("square.npy", np.ones((3, 3)))
    assert len(done("partition square.npy").said) == 1


def test_names_do_not_break_a_signature_nor_is_it_wrapped_on_a_terminal(done, put, terminal):
    labels = (DATA / "labels.json").read_bytes()
    ran = done(
        "decode $SCORES --header --labels", put("a|b\nc.txt", labels), "--label-scores", DATA / "label_scores.npz"
    )
    assert ran.err == ""
    assert r"|labels:a\x7cb\nc.txt|" in ran.signature
    name = put("long" * 40 + ".json", labels)
    scores = DATA / "scores.npz", "--from", "natasha", "--label-scores", DATA / "label_scores.npz"
    code, shown = terminal("sample", *scores, "--labels", name)
    assert code == 0
    assert re.search(rf"deptree: deptree\|sample\|[^\n]*{name}\|[^\n]*v:[\d.]+\r?\n", shown)
