"""Labels on the command line: read in both ways, drawn, decoded, in marginals, and with `root` where it belongs."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import SINGLE_ROOT
from deptree_cli.io.scores.reading import read_labels
from tests.sample import DATA, SCORES

LABELS = ("--labels", DATA / "labels.json")
GIVEN = (*SCORES, *LABELS, "--label-scores", DATA / "label_scores.npz")
GOLD = ("--conllu", DATA / "gold.conllu")
NAMES = read_labels(str(DATA / "labels.json"))


@pytest.fixture
def joint(done, tmp_path):
    """The same labels as one joint array per sentence, as AllenNLP has them, and their names."""
    done("convert", *GIVEN, "--to", "allennlp", "--to-labels", tmp_path / "names.json", "-o", tmp_path / "joint.npz")
    return (tmp_path / "joint.npz", "--from", "allennlp", "--labels", tmp_path / "names.json")


COMMANDS = [
    ("sample", "-k", 4, "--seed", 7),
    ("swor", "-k", 4, "--seed", 7),
    ("swor", "-k", 4, "--seed", 7, "--labelled"),
    ("decode",),
    ("decode", "-k", 2),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command)))
def test_every_tree_is_labelled(done, command):
    rows = done(*command[:1], *GIVEN, *command[1:]).rows
    assert len(rows) >= 8
    for row in rows:
        assert len(row["deprels"]) == len(row["heads"])
        assert [head == 0 for head in row["heads"]] == [label == "root" for label in row["deprels"]]
        assert set(row["deprels"]) <= set(NAMES) - {"<pad>"}
        assert ("label_log_prob" in row) == ("--labelled" not in command)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command)))
def test_joint_and_conditional_scores_of_the_same_labels_agree(done, joint, command):
    got = done(*command[:1], *joint, *command[1:]).rows
    expected = done(*command[:1], *GIVEN, *command[1:]).rows
    assert [row["heads"] for row in got] == [row["heads"] for row in expected]
    assert [row["deprels"] for row in got] == [row["deprels"] for row in expected]


@pytest.mark.parametrize("command", ["sample", "swor"])
def test_labels_change_nothing_about_the_trees(done, command):
    options = ("-k", 5, "--seed", 7)
    plain = done(command, *SCORES, *options).rows
    labelled = done(command, *GIVEN, *options).rows
    assert [{**row, "deprels": 0, "label_log_prob": 0} for row in plain] == [
        {**row, "deprels": 0, "label_log_prob": 0} for row in labelled
    ]


def probability(sent_id: str, heads: list[int], deprels: list[str]) -> float:
    """P(labels | tree) by the definition, from the file."""
    with np.load(DATA / "label_scores.npz") as file:
        logits = file[sent_id].astype(float)
    usual = [i for i, name in enumerate(NAMES) if name not in ("<pad>", "root")]
    total = 0.0
    for word, (head, label) in enumerate(zip(heads, deprels, strict=True)):
        if head:
            row = logits[word, head]
            total += row[NAMES.index(label)] - np.log(np.exp(row[usual]).sum())
    return total


def test_log_probabilities_are_those_of_the_labels(done):
    for row in done("sample", *GIVEN, "-k", 3, "--seed", 7).rows:
        expected = probability(row["sent_id"], row["heads"], row["deprels"])
        assert row["label_log_prob"] == pytest.approx(expected)


def test_unique_trees_are_told_apart_by_their_labels(done):
    rows = done("sample", *GIVEN, "-k", 500, "--seed", 7, "--unique").rows
    first = [row for row in rows if row["sent_id"] == "en-1"]
    trees = [(*row["heads"], *row["deprels"]) for row in first]
    assert len(set(trees)) == len(trees) > len({tuple(row["heads"]) for row in first})
    assert sum(row["count"] for row in first) == 500


def test_conllu_carries_the_labels(done):
    out = done("decode", *GIVEN, "--conllu", DATA / "sentences.conllu").out.decode()
    rows = done("decode", *GIVEN).rows
    words = [line.split("\t") for line in out.splitlines() if line.split("\t")[0].isdigit()]
    assert [word[7] for word in words] == [label for row in rows for label in row["deprels"]]
    assert all("|LabelProb=" in word[9] for word in words)
    assert out.count("# label_logprob = ") == 8


def test_marginals_of_labels_sum_to_those_of_arcs(done, tmp_path):
    done("marginals", *GIVEN, "-o", tmp_path / "labelled.npz")
    done("marginals", *SCORES, "-o", tmp_path / "plain.npz")
    with np.load(tmp_path / "labelled.npz") as labelled, np.load(tmp_path / "plain.npz") as plain:
        for key in plain:
            assert labelled[key].shape == (*plain[key].shape, len(NAMES))
            np.testing.assert_allclose(labelled[key].sum(axis=-1), plain[key], atol=1e-12)
            assert not labelled[key][..., NAMES.index("<pad>")].any()
            np.testing.assert_allclose(labelled[key][:, 0, NAMES.index("root")], plain[key][:, 0])
    (row, *_) = done("marginals", *GIVEN).rows
    assert row["labels"] == list(NAMES)
    assert np.array(row["marginals"]).shape == (8, 9, len(NAMES))


def test_marginals_of_joint_scores_have_the_axis_where_it_was(done, joint, tmp_path):
    done("marginals", *joint, "-o", tmp_path / "out.npz")
    done("marginals", *GIVEN, "-o", tmp_path / "given.npz")
    with np.load(tmp_path / "out.npz") as out, np.load(tmp_path / "given.npz") as given:
        for key in given:
            words = given[key].shape[0]
            assert out[key].shape == (len(NAMES), words + 1, words + 1)
            np.testing.assert_allclose(out[key][:, :, 1:].transpose(2, 1, 0), given[key], atol=1e-12)


def test_marginals_in_conllu_say_how_probable_the_label_is(done, tmp_path):
    out = done("marginals", *GIVEN, *GOLD).out.decode()
    done("marginals", *GIVEN, "-o", tmp_path / "labelled.npz")
    words = [line.split("\t") for line in out.split("\n\n")[0].splitlines() if line[0].isdigit()]
    with np.load(tmp_path / "labelled.npz") as labelled:
        for word in words:
            expected = labelled["en-1"][int(word[0]) - 1, int(word[6]), NAMES.index(word[7])]
            assert float(word[9].split("LabelProb=")[1]) == pytest.approx(expected, rel=1e-3)


def test_labelled_draws_can_be_estimated_from(done, shell):
    given = " ".join(map(str, GIVEN))
    ran = shell(f"deptree swor {given} -k 50 --seed 7 --labelled -q | deptree estimate - --quantity depth -q")
    plain = shell(f"deptree swor {given} -k 50 --seed 7 -q | deptree estimate - --quantity depth -q")
    assert ran.code == 0
    depth, expected = (run.rows[0]["depth"]["normalised"] for run in (ran, plain))
    assert depth == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("written", ["list", "numbers", "names", "lines", "ends", "returns", "mark", "blank"])
def test_names_of_labels_in_every_form(done, put, written):
    forms = {
        "list": json.dumps(NAMES),
        "numbers": json.dumps({name: i for i, name in enumerate(NAMES)}),
        "names": json.dumps({str(i): name for i, name in reversed(list(enumerate(NAMES)))}),
        "lines": "\n".join(NAMES),
        "ends": "\r\n".join([*NAMES, ""]),
        "returns": "\r".join([*NAMES, ""]),
        "mark": "\ufeff" + "\n".join([*NAMES, ""]),
        "blank": "\r\n".join([*NAMES, "", " ", ""]),
    }
    put("labels", forms[written].encode())
    got = done("decode", *SCORES, "--labels", "labels", "--label-scores", DATA / "label_scores.npz").rows
    assert got == done("decode", *GIVEN).rows


def test_a_padded_batch_of_joint_scores(done, put):
    with np.load(DATA / "label_scores.npz") as file:
        tensors = [file[key] for key in file]
    size = max(len(tensor) for tensor in tensors) + 1
    batch = np.full((8, size, size, len(NAMES)), -np.inf)
    for row, tensor in zip(batch, tensors, strict=True):
        row[1 : len(tensor) + 1, : len(tensor) + 1] = tensor
    put("batch.npy", batch)
    put("one.npz", {f"s{i}": tensor for i, tensor in enumerate(tensors)})
    lengths = ("--lengths", DATA / "lengths.txt", "--from", "dep-head,log")
    got = done("decode", "batch.npy", *LABELS, *lengths).rows
    expected = done("decode", "one.npz", "--from", "log", *LABELS).rows
    assert [row["deprels"] for row in got] == [row["deprels"] for row in expected]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((*SCORES, "--label-scores", DATA / "label_scores.npz"), ["--label-scores needs", "--labels FILE"]),
        ((*SCORES, *LABELS), ["shape (8, 9): no axis of labels", "--label-scores FILE"]),
        ((DATA / "label_scores.npz", "--from", "natasha"), ["shape (8, 9, 15)", "--labels FILE"]),
        ((DATA / "scores.npz", "--from", "allennlp"), ["--from allennlp has an axis of labels", "--labels FILE"]),
        ((*SCORES, "--labels", DATA / "lengths.txt"), ["'8' is listed twice"]),
        ((*SCORES, "--labels", DATA / "one.npy"), ["cannot read names of labels"]),
        ((*SCORES, "--labels", "words.json"), ["'a' has 'x' and no number"]),
        ((*SCORES, "--labels", "number.json"), ["(5 is not a name)"]),
        ((*SCORES, "--labels", "separator.json"), ["('b\\u2028c' holds a character"]),
        ((*SCORES, "--labels", "separator.txt"), ["('b\\u2028c' holds a character"]),
        ((*SCORES, "--labels", "blank.txt"), ["blank.txt:2: a blank line", "Remove it"]),
        ((*SCORES, "--labels", DATA / "label.json"), ["no such file", "labels.json"]),
        ((*SCORES, *LABELS, "--label-scores", DATA / "scores.npz"), ["shape (8, 9): no axis of labels"]),
    ],
)
def test_what_is_said_of_mistakes(deptree, put, arguments, parts):
    put("words.json", '{"a":"x"}')
    put("number.json", '["a", 5]')
    put("separator.json", '["a", "b\\u2028c"]')
    put("separator.txt", "a\nb\u2028c\n".encode())
    put("blank.txt", b"a\r\n\r\nb\r\n")
    ran = deptree("decode", *arguments)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert all(part in ran.err for part in parts), ran.err


def test_too_few_names(deptree, put):
    put("few.txt", "a\nroot\n")
    ran = deptree("decode", *SCORES, "--labels", "few.txt", "--label-scores", DATA / "label_scores.npz")
    assert ran.code == 2
    assert "(en-1): labels: there are scores of 15 labels, but 2 names of labels" in ran.err


def words_of(conllu: str) -> list[list[str]]:
    return [line.split("\t") for line in conllu.splitlines() if line.split("\t")[0].isdigit()]


@pytest.mark.parametrize("treebank", ["sample_data", "real_ru"], indirect=True)
def test_the_labels_of_a_trained_parser_are_mostly_right(done, put, treebank):
    """The first 25 sentences, which are those with label scores; LAS of the real parser is about 70."""
    gold = "\n\n".join((treebank / "gold.conllu").read_text(encoding="utf-8").rstrip("\n").split("\n\n")[:25]) + "\n\n"
    put("gold.conllu", gold)
    with np.load(treebank / "scores.npz") as scores:
        put("scores.npz", {key: scores[key] for key in list(scores)[:25]})
    labels = ("--labels", treebank / "labels.json", "--label-scores", treebank / "label_scores.npz")
    out = done("decode", "scores.npz", "--from", "natasha", *labels, "--conllu", "gold.conllu").out.decode()
    pairs = list(zip(words_of(gold), words_of(out), strict=True))
    assert np.mean([known[6:8] == found[6:8] for known, found in pairs]) > 0.6
    right = [known[7] == found[7] for known, found in pairs if known[6] == found[6]]
    assert np.mean(right) > 0.85


@pytest.mark.parametrize("method", ["mst", "mbr"])
def test_the_best_tree_is_that_of_arcs_with_labels(done, tmp_path, method):
    """By enumeration of all labelled trees of 40 graphs; in some of them labels that come after change the tree."""
    names, rng = ("a", "b", "root"), np.random.default_rng(20261124)
    scores = rng.normal(size=(40, 4, 4, 3)) * np.linspace(0.5, 4, 40)[:, None, None, None]
    np.savez(tmp_path / "s.npz", **{f"s{place}": each for place, each in enumerate(scores)})
    (tmp_path / "names.txt").write_text("\n".join(names))
    labels = tmp_path / "names.txt"
    found = done("decode", tmp_path / "s.npz", "--from", "log", "--labels", labels, "--method", method).rows
    by_arcs = [each.distribution for each in read(str(tmp_path / "s.npz"), preset="log", labels=str(labels))]
    after = [(each.argmax() if method == "mst" else each.mbr()).tolist() for each in by_arcs]
    assert [(row["heads"], row["deprels"]) for row in found] == [_best_labelled(each, names, method) for each in scores]
    assert 0 < sum(row["heads"] != heads for row, heads in zip(found, after, strict=True)) < 40


def _best_labelled(scores, names, method):
    """The most probable labelled tree, or that with the most expected arcs; `root` on arcs from ROOT only."""
    trees = [
        tuple(zip(heads, labels, strict=True))
        for heads in all_trees(3, SINGLE_ROOT).tolist()
        for labels in itertools.product(*((2,) if head == 0 else (0, 1) for head in heads))
    ]
    words = range(1, 4)
    sums = np.array(
        [sum(scores[head, word, label] for word, (head, label) in zip(words, tree, strict=True)) for tree in trees]
    )
    if method == "mbr":
        probs = np.exp(sums - sums.max()) / np.exp(sums - sums.max()).sum()
        shares = [{} for _ in words]
        for tree, prob in zip(trees, probs, strict=True):
            for arc, counts in zip(tree, shares, strict=True):
                counts[arc] = counts.get(arc, 0.0) + prob
        sums = np.array([sum(counts[arc] for arc, counts in zip(tree, shares, strict=True)) for tree in trees])
    best = trees[sums.argmax()]
    return [head for head, _ in best], [names[label] for _, label in best]
