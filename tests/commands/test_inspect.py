"""``deptree inspect``: a table on stderr, JSON on stdout, and the right orientation far ahead."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.sample import DATA, SCORES

GOLD = ("--conllu", DATA / "gold.conllu")


def inspected(done, *args) -> dict:
    (facts,) = done("inspect", *args, "--json", "-q").rows
    return facts


def test_json(done, golden):
    ran = done("inspect", *SCORES, *GOLD, "--json")
    golden("inspect.json", ran.out)
    assert "sentences" not in ran.err


def test_a_table_is_for_people(done, terminal):
    code, shown = terminal("inspect", *SCORES, "-q")
    assert code == 0
    assert "scores.npz" in shown
    told = {line.split()[0]: " ".join(line.split()[1:]) for line in shown.splitlines() if line.split()}
    for name, value in inspected(done, *SCORES).items():
        assert isinstance(value, float) or told[name] == str(value)
    assert "{" not in shown


def test_facts(done, exact):
    facts = inspected(done, *SCORES)
    with np.load(DATA / "scores.npz") as scores:
        matrices = [scores[key].astype(float) for key in scores]
    for matrix in matrices:
        matrix[np.arange(len(matrix)), np.arange(1, len(matrix) + 1)] = np.nan
    assert (facts["sentences"], facts["words"], facts["longest"]) == (8, 54, 9)
    assert facts["lowest_log_score"] == min(np.nanmin(matrix) for matrix in matrices)
    assert facts["highest_log_score"] == max(np.nanmax(matrix) for matrix in matrices)
    assert facts["forbidden_arcs"] == 0
    assert facts["weights_sum_to_1"] is False
    assert (facts["preset"], facts["root"], facts["scale"], facts["type"]) == ("natasha", "first", "log", "float32")
    for mass in ("single_root_mass", "projective_mass"):
        masses = [row[mass] for row in done("partition", *SCORES).rows]
        assert facts[f"{mass}_mean"] == pytest.approx(np.mean(masses))
        assert facts[f"{mass}_median"] == pytest.approx(np.median(masses))
        assert facts[f"{mass}_min"] == pytest.approx(min(masses))


def test_entropy_and_peakedness_of_one_sentence(done, exact, put):
    put("one.jsonl", (DATA / "scores.jsonl").read_bytes().splitlines()[3] + b"\n")
    facts, oracle = inspected(done, "one.jsonl", "--from", "natasha"), exact("en-4")
    entropy = -(np.exp(oracle.log_probs) * oracle.log_probs).sum()
    assert facts["mean_entropy_per_word"] == pytest.approx(entropy / 3)
    assert facts["mean_best_head_probability"] == pytest.approx(oracle.marginals()[:, 1:].max(axis=0).mean())


def test_normalised_heads_and_forbidden_arcs(done):
    assert inspected(done, DATA / "one.npy")["weights_sum_to_1"] is True
    figure1 = inspected(done, DATA / "figure1.npy")
    assert figure1["forbidden_arcs"] == 3
    assert figure1["weights_sum_to_1"] is True


def test_gold_heads_tell_the_orientation(done, put):
    weights = np.load(DATA / "one.npy") + 1e-6
    put("weights.npy", weights)
    put("turned.npy", weights.T.copy())
    put("gold.conllu", (DATA / "gold.conllu").read_text(encoding="utf-8").split("\n\n")[0] + "\n\n")
    facts = inspected(done, "weights.npy", "--conllu", "gold.conllu")
    assert facts["log_prob_per_word_head_dep"] > facts["log_prob_per_word_dep_head"] + 1
    turned = inspected(done, "turned.npy", "--from", "dep-head", "--conllu", "gold.conllu")
    assert turned["log_prob_per_word_dep_head"] == pytest.approx(facts["log_prob_per_word_head_dep"])


def test_an_orientation_that_cannot_be_is_null_and_not_left_out(done, put):
    """Turned, no word may attach to ROOT: the plainest sign of all must not be missing."""
    put("gold.conllu", (DATA / "gold.conllu").read_text(encoding="utf-8").split("\n\n")[0] + "\n\n")
    facts = inspected(done, DATA / "one.npy", "--conllu", "gold.conllu")
    assert facts["log_prob_per_word_head_dep"] == pytest.approx(-0.4349 / 8, abs=1e-4)
    assert facts["log_prob_per_word_dep_head"] is None


def test_heads_that_are_no_tree_have_no_log_probability(done, put):
    """1 and 2 govern each other; the product of the three weights is that of a tree."""
    lines = [f"{i}\tf\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for i, head in ((1, 2), (2, 1), (3, 0))]
    put("cycle.conllu", "".join(lines) + "\n")
    facts = inspected(done, DATA / "figure1.npy", "--conllu", "cycle.conllu")
    assert facts.get("log_prob_per_word_head_dep") is None


def test_the_fit_is_the_mean_log_probability_per_word(done):
    rows = done("marginals", *SCORES, *GOLD, "--format", "conllu").out.decode().split("\n\n")[:-1]
    fits = []
    for block in rows:
        log_prob = next(line for line in block.splitlines() if line.startswith("# tree_logprob")).split()[-1]
        fits.append(float(log_prob) / sum(line.split("\t")[0].isdigit() for line in block.splitlines()))
    assert inspected(done, *SCORES, *GOLD)["log_prob_per_word"] == pytest.approx(np.mean(fits), rel=1e-5)


def test_no_heads_no_fit(done):
    facts = inspected(done, *SCORES, "--conllu", DATA / "sentences.conllu")
    assert facts.get("log_prob_per_word") is None


def test_gold_heads_that_are_not_a_tree_are_counted(done, put):
    """And so are incomplete ones; sentences without any are not missed."""
    text = (DATA / "gold.conllu").read_text(encoding="utf-8")
    first, second, *others = text.split("\n\n")
    cells = [line.split("\t") for line in second.split("\n")]
    for row in (row for row in cells if row[0] == "1"):
        row[6] = "1"
    put("gold.conllu", "\n\n".join([first, "\n".join(map("\t".join, cells)), *others]))
    ran = done("inspect", *SCORES, "--gold", "gold.conllu", "--json")
    line = "1 sentence left out of log_prob_per_word: gold heads that are incomplete or not a possible tree"
    assert ran.said == [f"deptree: {line}"]
    assert ran.rows[0]["log_prob_per_word"] < 0
    assert "left out" not in done("inspect", *SCORES, "--conllu", DATA / "sentences.conllu").err


TURNED = "the gold heads fit {} far better"


@pytest.mark.slow("process")
def test_a_wrong_orientation_of_a_real_parser_is_found(deptree, put, treebank):
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
    options = ("--conllu", "gold.conllu", "--json")
    for right, wrong in (("dep-head", "head-dep"), ("head-dep", "dep-head")):
        assert deptree("inspect", f"{right}.npz", "--from", f"{right},log", *options).code == 0
        ran = deptree("inspect", f"{right}.npz", "--from", f"{wrong},log", *options)
        assert ran.code == 1
        assert TURNED.format(right) in ran.err
        assert f"pass --from {right},first,log" in ran.err
        fits = ran.rows[0]
        one, other = (fits[f"log_prob_per_word_{name.replace('-', '_')}"] for name in (right, wrong))
        assert one > other + 2
    ran = deptree("inspect", "last.npz", "--from", "log", *options)
    assert ran.code == 1
    assert "fit last far better" in ran.err
    assert deptree("inspect", "last.npz", "--from", "last,log", *options).code == 0


def test_an_orientation_in_which_there_is_no_tree_is_named(deptree, put):
    """As stanza has it: no arcs into ROOT. Every command says so, not only inspect."""
    with np.load(DATA / "scores.npz") as scores:
        square = np.vstack([np.full((1, 9), -np.inf), scores["en-1"]])
    put("square.npy", square)
    for command in ("inspect", "sample"):
        ran = deptree(command, "square.npy", "--from", "head-dep,log")
        assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
        assert "no word may attach to ROOT" in ran.err
        assert "Read with --from dep-head,log the sentence has a tree. Is that the layout?" in ran.err


LOGITS = [np.random.default_rng(n).normal(size=(n + 1, n + 1)) for n in (3, 5, 4)]


@pytest.mark.parametrize("kind", ["all", "the last", "nulls"])
@pytest.mark.parametrize("options", [(), ("--on-error", "skip"), ("--jobs", 2), ("--multi-root",)])
def test_logits_are_reported_although_nobody_named_their_scale(deptree, done, put, kind, options):
    """As weights they are impossible, and that is said; the report is of log-scores. Other commands refuse them."""
    arrays = [np.abs(each) + 1 if kind == "the last" and each is not LOGITS[-1] else each for each in LOGITS]
    rows = "".join(json.dumps({"scores": each.tolist()}) + "\n" for each in arrays)
    put("s.jsonl", rows.replace(str(arrays[0][1, 2]), "null") if kind == "nulls" else rows)
    why = f"s.jsonl:{3 if kind == 'the last' else 1} has negative numbers, which weights cannot be"
    ran = done("inspect", "s.jsonl", *options)
    (facts,), (expected,) = ran.rows, done("inspect", "s.jsonl", "--from", "log", *options).rows
    assert facts.pop("scale") == f"log (assumed: {why})"
    assert expected.pop("scale") == "log"
    assert facts == expected
    assert [
        line
        for line in ran.said
        if line == f"deptree: {why}: reading as log-scores. For other commands pass --from log"
    ]
    assert not [line for line in ran.said if "reading as weights" in line]
    assert deptree("partition", "s.jsonl").code == 2
    assert deptree("inspect", "s.jsonl", "--from", "weight").code == 2


def test_weights_are_reported_as_weights(done, deptree, put):
    """A pipe cannot be read twice: what it has is refused as every command does."""
    put("s.npz", {f"s{n}": np.exp(each) for n, each in enumerate(LOGITS)})
    assert inspected(done, "s.npz")["scale"] == "weight (assumed)"
    put("s.npy", LOGITS[0])
    ran = deptree("inspect", "-", stdin=Path("s.npy").read_bytes())
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "is negative. If these are log-scores (logits), pass --from log" in ran.err
