"""What scores are taken for: `deptree inspect`, and layouts that files say, options say, or nobody says."""

import json
import re

import numpy as np
import pytest

from deptree_cli.io.scores.layout import CHOICES
from tests.commands.readers import OF_PAIRS, OF_TREES, PAGES, READERS, SQUARES, line, numbers, put_files
from tests.sample import DATA

GOLD = (DATA / "gold.conllu").read_text(encoding="utf-8")


@pytest.fixture
def inspected(done):
    return lambda line: done(f"inspect {line} --json -q").rows[0]


def test_weights_that_are_probabilities_or_0(inspected):
    assert inspected("$DATA/one.npy")["weights_sum_to_1"] is True
    assert inspected("$DATA/figure1.npy").items() >= {"forbidden_arcs": 3, "weights_sum_to_1": True}.items()


def test_entropy_and_peakedness_of_one_sentence(inspected, exact, put):
    put("one.jsonl", (DATA / "scores.jsonl").read_bytes().splitlines()[3])
    facts, oracle = inspected("one.jsonl --from natasha"), exact("en-4")
    entropy = -(np.exp(oracle.log_probs) * oracle.log_probs).sum()
    assert facts["mean_entropy_per_word"] == pytest.approx(entropy / 3)
    assert facts["mean_best_head_probability"] == pytest.approx(oracle.marginals()[:, 1:].max(axis=0).mean())


def test_gold_heads_tell_the_orientation(inspected, put):
    weights = np.load(DATA / "one.npy") + 1e-6
    put("weights.npy", weights)
    put("turned.npy", weights.T.copy())
    put("gold.conllu", GOLD.split("\n\n")[0] + "\n\n")
    facts = inspected("weights.npy --conllu gold.conllu")
    assert facts["log_prob_per_word_head_dep"] > facts["log_prob_per_word_dep_head"] + 1
    turned = inspected("turned.npy --from dep-head --conllu gold.conllu")
    assert turned["log_prob_per_word_dep_head"] == pytest.approx(facts["log_prob_per_word_head_dep"])
    # turned, no word may attach to ROOT: the plainest sign of all is not left out
    facts = inspected("$DATA/one.npy --conllu gold.conllu")
    assert facts["log_prob_per_word_head_dep"] == pytest.approx(-0.4349 / 8, abs=1e-4)
    assert facts["log_prob_per_word_dep_head"] is None


def test_gold_heads_that_are_not_a_tree_are_counted(done, inspected, put):
    words = "".join(f"{word}\tf\t_\t_\t_\t_\t{head}\tx\t_\t_\n" for word, head in ((1, 2), (2, 1), (3, 0)))
    put("cycle.conllu", f"{words}\n")
    assert inspected("$DATA/figure1.npy --conllu cycle.conllu").get("log_prob_per_word_head_dep") is None
    put("gold.conllu", re.sub(r"(?m)^(1\t(?:.*?\t){5}).*?\t", r"\g<1>1\t", GOLD, count=1))
    ran = done("inspect $SCORES --gold gold.conllu --json")
    says = "1 sentence left out of log_prob_per_word: gold heads that are incomplete or not a possible tree"
    assert ran.said == [f"deptree: {says}"]
    assert ran.rows[0]["log_prob_per_word"] < 0
    bare = done("inspect $SCORES $SENTENCES --json")
    assert "left out" not in bare.err
    assert bare.rows[0].get("log_prob_per_word") is None


@pytest.mark.slow("process")
def test_a_wrong_orientation_of_a_real_parser_is_found(deptree, done, put, treebank):
    """Squares as they stand in a parser's memory, with numbers for ROOT as a dependent too; both ways, ROOT too."""
    with np.load(treebank / "scores.npz") as scores:
        rectangles = {key: scores[key] for key in list(scores)[:100]}
    noise = np.random.default_rng(0)
    squares = {key: np.vstack([noise.normal(size=(1, len(each) + 1)) * 3, each]) for key, each in rectangles.items()}
    put("dep-head.npz", squares)
    put("head-dep.npz", {key: each.T for key, each in squares.items()})
    put("last.npz", {key: np.roll(each, -1, axis=1) for key, each in rectangles.items()})
    gold = (treebank / "gold.conllu").read_text(encoding="utf-8").rstrip("\n").split("\n\n")[:100]
    put("gold.conllu", "\n\n".join(gold) + "\n\n")
    for right, wrong in {"dep-head": "head-dep", "head-dep": "dep-head", "last": "first"}.items():
        done(f"inspect {right}.npz --from {right},log --conllu gold.conllu --json")
        ran = deptree(f"inspect {right}.npz --from {wrong},log --conllu gold.conllu --json")
        assert ran.code == 1
        assert f"fit {right} far better" in ran.err
        if right != "last":
            assert f"pass --from {right},first,log" in ran.err
            one, other = (ran.rows[0][f"log_prob_per_word_{name.replace('-', '_')}"] for name in (right, wrong))
            assert one > other + 2


LOGITS = [np.random.default_rng(n).normal(size=(n + 1, n + 1)) for n in (3, 5, 4)]


@pytest.mark.quick
@pytest.mark.parametrize("kind", ["all", "the last", "nulls"])
@pytest.mark.parametrize("options", ["", "--on-error skip", "--jobs 2", "--multi-root"])
def test_logits_are_reported_although_nobody_named_their_scale(deptree, done, put, kind, options):
    """As weights they are impossible, and that is said; the report is of log-scores. Other commands refuse them."""
    arrays = [np.abs(each) + 1 if kind == "the last" and each is not LOGITS[-1] else each for each in LOGITS]
    rows = "".join(json.dumps({"scores": each.tolist()}) + "\n" for each in arrays)
    put("s.jsonl", rows.replace(str(arrays[0][1, 2]), "null") if kind == "nulls" else rows)
    why = f"s.jsonl:{3 if kind == 'the last' else 1} has negative numbers, which weights cannot be"
    ran = done(f"inspect s.jsonl {options}")
    (facts,), (expected,) = ran.rows, done(f"inspect s.jsonl --from log {options}").rows
    assert (facts.pop("scale"), expected.pop("scale")) == (f"log (assumed: {why})", "log")
    assert facts == expected
    assert f"deptree: {why}: reading as log-scores. For other commands pass --from log" in ran.said
    assert "reading as weights" not in ran.err
    assert deptree("partition s.jsonl").code == 2
    assert deptree("inspect s.jsonl --from weight").code == 2


def test_weights_are_reported_as_weights(inspected, refused, put):
    """A pipe cannot be read twice: what it has is refused as every command does."""
    put("s.npz", {f"s{n}": np.exp(each) for n, each in enumerate(LOGITS)})
    assert inspected("s.npz")["scale"] == "weight (assumed)"
    says = "is negative. If these are log-scores (logits), pass --from log"
    refused("inspect -", says, stdin=json.dumps({"scores": LOGITS[0].tolist()}).encode())


@pytest.fixture
def own(done, put):
    put_files(put)
    put("bare.npz", {name: np.exp(each) for name, each in SQUARES.items()})
    done("convert base.npz --from supar -o own.npz -q")


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("reader", OF_TREES)
def test_an_option_cannot_contradict_a_file(deptree, reader):
    run = line(reader, "own.npz")
    expected = numbers(deptree(*run))
    for said in ("head-dep", "first", "log", "synjax"):
        if reader not in PAGES:
            assert numbers(deptree(*run, "--from", said)) == expected, said
    for own, other, said in (
        *((own, other, other) for own, other in (("head-dep", "dep-head"), ("first", "last"), ("log", "weight"))),
        ("first", "diagonal", "torch-struct"),
    ):
        ran = deptree(*run, "--from", said, "-q")
        assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
        assert f"own.npz: the file says {own}, but {other} was asked for" in ran.err


@pytest.mark.usefixtures("own")
def test_a_second_file_says_its_layout_too(done, refused):
    refused("expect kl base.npz --other own.npz --from supar -q", "own.npz: the file says head-dep")
    for more in ("", "--from weight"):
        says = "own.npz: the file says log, but bare.npz is read as weight"
        refused(f"expect kl bare.npz --other own.npz {more} -q", says)
    done("expect kl own.npz --other own.npz -q")


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("reader", READERS)
def test_one_line_names_all_that_is_assumed(deptree, reader):
    run = line(reader, "bare.npz")
    (about,) = (each for each in deptree(*run).said if "given: reading" in each)
    if reader in OF_PAIRS:
        assert about == "deptree: no --scale or --null given: reading as log-scores, without NULL"
        assert "given: reading" not in deptree(*run, "--scale", "log", "--null", "last").err
        return
    for each in ("no --from", "as weights", "heads in rows", "ROOT first", "inspect"):
        assert each in about
    assert "given: reading" not in deptree(*run, "--from", "treesample").err
    assert "given: reading" not in deptree(*run, "-q").err


def test_what_options_leave_open_is_assumed_and_marked(done, put):
    put("bare.npy", np.ones((4, 4)))
    put("rectangle.npy", np.ones((3, 4)))
    for given, words in (
        ("bare.npy --from weight", "heads in rows, ROOT first;"),
        ("bare.npy --from head-dep,last", "as weights;"),
        ("rectangle.npy --from first", "as weights;"),
    ):
        assert f"only {given.split(' ', 1)[1]} given: reading {words}" in done(f"partition {given}").err
    assert done("partition bare.npy --from head-dep,first,weight").err == ""
    for given, choices in (
        ("", ["head-dep (assumed)", "first (assumed)", "weight (assumed)"]),
        ("--from last,log", ["head-dep (assumed)", "last", "log"]),
        ("--from supar", ["dep-head", "first", "log"]),
    ):
        (row,) = done(f"inspect bare.npy {given}").rows
        assert [row[name] for name in CHOICES] == choices


SCALED = np.random.default_rng(3).uniform(0.5, 20, size=(6, 6))
SOFTMAX = np.exp(SCALED) / np.exp(SCALED).sum(axis=0)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("scores", "like_logits"),
    [(SCALED, True), (SOFTMAX, False), (SOFTMAX.T, False), (np.exp(SCALED), False), (np.ones((6, 6)), False)],
    ids=["logits", "probabilities", "probabilities of rows", "exponentials", "all alike"],
)
def test_weights_that_look_like_logits(done, put, scores, like_logits):
    put("bare.npy", scores)
    assert ("they look like logits: if so, pass --from log" in done("partition bare.npy").err) == like_logits
    assert "logits" not in done("partition bare.npy --from weight").err


def test_log_scores_of_links_that_look_like_weights(done, put):
    for scores in (np.full((3, 4), 0.25), np.eye(3)):
        put("bare.npy", scores)
        assert "from 0 to 1: if they are weights, pass --scale weight" in done("bitext align bare.npy").err
        put("other.npy", scores - 0.5)
        assert "from 0 to 1" not in done("bitext align other.npy").err


@pytest.mark.usefixtures("own")
def test_marginals_are_read_as_probabilities_in_one_line(refused, done, put):
    done("marginals own.npz -o m.npz")
    err = done("sample m.npz --seed 1").err
    assert err.count("these are probabilities of arcs, as deptree marginals wrote them: reading them as weights") == 1
    assert "given: reading" not in err
    refused("sample m.npz --from log", "the file says weight, but log was asked for")
    put("labels.txt", "a\nb\n")
    put("labels.npz", {name: np.ones((4, 4, 2)) for name in SQUARES})
    done("marginals base.npz --from supar --labels labels.txt --label-scores labels.npz -o m.npz")
    says = "m.npz: deptree marginals wrote this file, and it holds no scores"
    refused("decode base.npz --from supar --labels labels.txt --label-scores m.npz -q", says)


@pytest.mark.usefixtures("own")
def test_joined_files_of_two_layouts_are_not_read_as_one(deptree, done):
    log, weight = (done(f"convert own.npz --to {each}").out for each in ("log", "weight"))
    assert len(done("partition -", stdin=log + log).rows) == 4
    ran = deptree("partition - --on-error skip -q", stdin=log + weight)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "standard input:4: the scores after this header have another layout than those before it" in ran.err
