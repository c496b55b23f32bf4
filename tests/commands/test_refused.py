"""Lines that must fail, with what their one line says: options, files that do not fit, scores that cannot be used."""

import json
import re

import numpy as np
import pytest

from tests.commands.readers import READ
from tests.every_command import ENTRIES, options
from tests.lines import table
from tests.sample import DATA

SENTENCES, GOLD = ((DATA / f"{name}.conllu").read_text(encoding="utf-8") for name in ("sentences", "gold"))


def matrix(*cells):
    """Three words, all arcs of weight 1 but for some cells."""
    weights = np.ones((4, 4))
    for head, dependent, weight in cells:
        weights[head, dependent] = weight
    return weights


TWO_ISLANDS = np.zeros((5, 5))
TWO_ISLANDS[[0, 1, 3, 4], [1, 2, 4, 3]] = 1
CROSSING = np.zeros((5, 5))
CROSSING[[3, 4, 0, 3], [1, 2, 3, 4]] = 1
MATRICES = {
    "nan": matrix((1, 2, np.nan)),
    "inf": matrix((1, 2, np.inf)),
    "negative": matrix((1, 2, -0.25)),
    "not-square": np.ones((3, 6)),
    "no-head": matrix((slice(None), 2, 0)),
    "two-roots": matrix((slice(1, 4), slice(2, 4), 0)),
    "islands": TWO_ISLANDS,
    "crossing": CROSSING,
    "ones": matrix(),
    "five": np.ones((5, 5)),
    "not-3-1": matrix((3, 1, 0)),
    "wide": np.ones((3, 4)),
    # as stanza and supar hold it: rows are dependents, and ROOT depends on nothing
    "dep-head": np.where(np.arange(4)[:, None] == 0, -np.inf, np.zeros((4, 4))),
}
with np.load(DATA / "scores.npz") as _scores:
    FEATURES = {key: np.ones((*_scores[key].shape, 2)) for key in _scores}
FILES = {
    **{f"{name}.npy": array for name, array in MATRICES.items()},
    "b.npz": {"two": MATRICES["nan"]},
    "b.jsonl": "\n\n" + json.dumps({"sent_id": "x-7", "scores": matrix((1, 2, -1)).tolist()}),
    "batch.npy": np.random.default_rng(0).normal(size=(8, 13, 13)),
    "score.npz": b"x",
    "c.json": '{"temperature":1.5,"head_sets":[{"coverage":0.9,"threshold":0.7},{"coverage":0.5,"threshold":0.1}]}',
    "features.npz": FEATURES,
    "small.npz": {"en-1": np.ones((2, 3, 1))},
    "nan.npz": {"en-1": np.full((8, 9, 1), np.nan)},
    "one.npy": np.ones(3),
    "three.txt": "1\n2\n3\n",
    "blank.txt": "1\n\n2\n",
    "words.json": '{"a":"x"}',
    "number.json": '["a", 5]',
    "separator.json": '["a", "b\\u2028c"]',
    "separator.txt": "a\nb\u2028c\n",
    "crlf.txt": "a\r\n\r\nb\r\n",
    "few.txt": "a\nroot\n",
    "far.tsv": "en-1\t1\tHeadIn\t99\n",
    "key.tsv": "en-1\t1\tHeadsIn\t2\n",
    "layout.tsv": "1\t3\tHeadIn\t99\n",
    "label.tsv": "en-1\t1\tDeprelIn\tnsubjj\n",
    "spans.tsv": "en-1\t5\t7\n",
    "own.toml": 'at-most-one = ["nsubj"]\nleaf = ["punct"]\n',
    "mask.toml": 'mask = [{ label = "nsubj", direction = "right" }]\n',
    "a.conllu": SENTENCES,
    "spans.conllu": SENTENCES.replace("Also=head=4", "Span=3-7", 1),
    "none.conllu": re.sub(r"(?m)^((?:[^\t\n]*\t){6})[^\t\n]*\t[^\t\n]*", r"\1_\t_", GOLD),
    "other.conllu": GOLD.replace("sent_id = ru-2", "sent_id = ru-9"),
    "shorter.conllu": GOLD.replace("8\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n", "", 1),
}


@pytest.mark.parametrize(
    ("line", "says"),
    table(r"""
        partition nan.npy | nan.npy | (1) | 1 -> 2 | NaN | np.isnan
        partition inf.npy --from log | inf.npy | (1) | 1 -> 2 | inf
        partition negative.npy | negative.npy | (1) | 1 -> 2 (-0.25) | negative | --from log
        partition not-square.npy | not-square.npy | (1) | (3, 6)
        partition no-head.npy | no-head.npy | (1) | no single-root tree is possible | word 2 has no head
        partition two-roots.npy | two-roots.npy | (1) | words 2 and 3 | ROOT only | --multi-root
        partition islands.npy | islands.npy | (1) | no single-root tree is possible | words 3 and 4 cannot be reached
        partition crossing.npy --projective | crossing.npy | (1) | 0 -> 3 and 4 -> 2 cross | leave out --projective
        partition wide.npy --from head-dep | wide.npy | (1) | the layout is head-dep | (3, 4)
        inspect dep-head.npy --from head-dep,log | Read with --from dep-head,log the sentence has a tree. Is that the
        sample dep-head.npy --from head-dep,log | no word may attach to ROOT | Read with --from dep-head,log the sent
        partition b.npz | b.npz[two] | NaN
        partition b.jsonl | b.jsonl:3 (x-7): | negative
        partition scoer.npz | scoer.npz | Did you mean score.npz?
        partition $DATA | sample_data | folder
        partition a.conllu | a.conllu | sentences | --conllu
        inspect batch.npy --gold $GOLD --from supar | 8 | 12 | a padded batch, pass --lengths FILE or --conllu FILE.
        agree $GOLD $GOLD --scores batch.npy --from supar | 12 words at batch.npy, matrix 1, but 8 here. | --lengths
        combine batch.npy $GOLD --from supar | but 12 here. If this is a padded batch, pass --conllu FILE.
        decode $SCORES --method mbr -k 2 | needs --method mst
        decode $SCORES --mass 0.5 --within 1 | --mass cannot be combined with --within
        decode $SCORES --mass 0.5 --method mbr | needs --method mst
        decode $SCORES --within 1 --rules ud $LABELS | cannot be combined with rules
        decode $SCORES --mass 1.5 | at most 1
        decode $SCORES $LABELS --rules misc | --rules misc needs --conllu FILE.
        decode $SCORES $LABELS --rules ud | 7 of 39 rules of ud-2026-11 ask for UPOS. Add the sentences: --conllu
        decode $SCORES $SENTENCES --rules ud | 39 of 39 rules of ud-2026-11 ask for labels. Add --labels FILE, and
        decode $SCORES --rules tree --budget 0 | Invalid value for '--budget'
        decode $SCORES --rules key.tsv | key.tsv:1: there is no constraint 'HeadsIn'. Did you mean HeadIn?
        decode $SCORES --rules far.tsv | far.tsv:1 (en-1): HeadIn of word 1 is '99', not 0 to 8. Correct it.
        decode $SCORES $LABELS --rules label.tsv | label.tsv:1 (en-1): DeprelIn of word 1 is 'nsubjj', which is not a
        decode $DATA/one.npy --rules layout.tsv | layout.tsv:1 (1): HeadIn of word 3 is '99', not 0 to 8. Correct it.
        convert $SCORES $LABELS -o out.npz --rules own.toml --rules mask.toml | 2 of 3 rules
        convert $SCORES $LABELS -o out.npz --rules spans.tsv | Only whole trees decide spans, and scores are of single
        convert $SCORES $LABELS -o out.npz --rules misc --conllu spans.conllu | (en-1): only whole trees decide a span
        decode $SCORES --label-scores $DATA/label_scores.npz | --label-scores needs | --labels FILE
        decode $SCORES --labels $DATA/labels.json | shape (8, 9): no axis of labels | --label-scores FILE
        decode $DATA/label_scores.npz --from natasha | shape (8, 9, 15) | --labels FILE
        decode $DATA/scores.npz --from allennlp | --from allennlp has an axis of labels | --labels FILE
        decode $SCORES --labels $DATA/lengths.txt | '8' is listed twice
        decode $SCORES --labels $DATA/one.npy | cannot read names of labels
        decode $SCORES --labels words.json | 'a' has 'x' and no number
        decode $SCORES --labels number.json | (5 is not a name)
        decode $SCORES --labels separator.json | ('b\u2028c' holds a character
        decode $SCORES --labels separator.txt | ('b\u2028c' holds a character
        decode $SCORES --labels crlf.txt | crlf.txt:2: a blank line | Remove it
        decode $SCORES --labels $DATA/label.json | no such file | labels.json
        decode $SCORES --labels $DATA/labels.json --label-scores $DATA/scores.npz | shape (8, 9): no axis of labels
        decode $SCORES --labels few.txt --label-scores $DATA/label_scores.npz | scores of 15 labels, but 2 names
        convert $SCORES --to stanz | Did you mean stanza?
        convert $SCORES --to allennlp | whose names need a file. Add --to-labels
        convert $SCORES --to-labels l.json | --to-labels needs --labels FILE
        convert $SCORES -o scores.conllu | this command does not write .conllu
        convert $SCORES -o missing/scores.npz | its folder does not exist
        decode $SCORES --temperature 0 | --temperature': 0 is not a positive number
        decode $SCORES --temperature d.json | d.json
        marginals $SCORES --head-sets | --temperature FILE
        marginals $SCORES --coverage 0.9 | --coverage needs --head-sets
        marginals $SCORES --temperature c.json --head-sets --coverage 0.7 | Choose from 0.9, 0.5
        marginals $SCORES --temperature c.json --head-sets -o m.npz | not to arrays
        calibrate $SCORES | --gold FILE
        calibrate $SCORES --gold $GOLD --coverage 1 | --coverage
        calibrate $SCORES $SENTENCES | no word of --gold
        calibrate $DATA/one.npy --from treesample --gold $GOLD | gold.conllu
        expect kl $SCORES | kl needs --other FILE
        expect renyi $SCORES | renyi needs --order NUMBER
        expect risk $SCORES | risk needs --gold FILE
        expect entropy --order 2 $SCORES | entropy does not use --order
        expect entropi $SCORES | there is no quantity 'entropi'
        expect kl --other $DATA/one.npy $SCORES | the scores have shape (9, 9), those at
        expect kl --other nowhere.npz $SCORES | nowhere.npz
        expect renyi --order 0 $SCORES | --order
        expect features --features one.npy $SCORES | is a single array
        expect features --features small.npz $SCORES | the features have shape (2, 3, 1), the scores of arcs (8, 9)
        expect features --features nan.npz $SCORES | not a finite number
        expect covariance --features features.npz --grad $SCORES | covariance has no --grad
        expect ge --features features.npz $SCORES | ge needs --target
        expect ge --features features.npz --target blank.txt $SCORES | blank.txt:2: '' is not a number
        expect ge --features features.npz --target three.txt $SCORES | the numbers differ: 2 features, 3 targets
        doubt $SCORES | There are no annotated heads. Give annotated trees with --conllu FILE
        doubt $SCORES --per word --rank entropy --conllu $GOLD | --rank, --words and CoNLL-U output need --per sentence
        doubt $SCORES --rank entrpy --conllu $GOLD | entropy
        doubt $SCORES --tsv --format conllu --conllu $GOLD | tsv and conllu are two formats
        doubt $SCORES --above 0.5 --conllu $GOLD | There is no --above now: rows have prob, and sentences what they
        doubt $SCORES --format conllu --rank entropy | there are no sentences to write as CoNLL-U
        doubt $SCORES --conllu none.conllu | none.conllu: | no word has a HEAD | --conllu FILE | --rank entropy
        doubt $SCORES --conllu other.conllu | other.conllu | ru-9 | with this id
        doubt $SCORES --conllu shorter.conllu | shorter.conllu | (en-1) | 8 words
    """),
)
def test_what_is_refused(deptree, refused, put, tmp_path, line, says):
    """Quietly or not, and nothing is written."""
    for name in FILES:
        if name in line or "scoer" in line:
            put(name, FILES[name])
    before = sorted(tmp_path.iterdir())
    quiet = refused(f"{line} -q", *says)
    assert deptree(line).said[-1:] == quiet.said
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        sample ones.npy 3_1     | no single-root tree is possible: words 1 and 3 cannot be reached from
        sample ones.npy 00_     | words 1 and 2 can attach to ROOT only
        sample not-3-1.npy 3__  | the head of word 1 is fixed to 3, an arc that the scores forbid
        sample five.npy 34__ --projective    | five.npy, matrix 1 (1):  | the arcs 3 -> 1 and 4 -> 2 cross, and words 1
        decode five.npy 34__ --projective    | no other head. Put _ for some of the fixed HEADs, or leave out --proj
        marginals five.npy _01_ --projective | the arcs 0 -> 2 and 1 -> 3 cross, and words 2 and 3 have no other head
        partition five.npy __43 --projective | no single-root tree is possible | Put _ for some of the fixed HEADs.
    """),
)
def test_heads_that_cannot_be_fixed(refused, put, line, says):
    command, name, heads, *more = line.split()
    words = "".join(f"{word}\tf\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate(heads, 1))
    put(name, FILES[name])
    put("fixed.conllu", f"{words}\n")
    refused(" ".join([command, name, *more, "--from head-dep --fix-heads --conllu fixed.conllu -q"]), *says)


def test_what_was_assumed_and_is_not_why(put, refused):
    """Read the other way round the scores are as bad: negative, NaN, of another type, or without a tree."""
    as_bad = (MATRICES["negative"], ""), (MATRICES["nan"], "--from log"), (np.ones((4, 4), complex), "")
    for scores, line in (*as_bad, (TWO_ISLANDS, ""), (matrix((1, 2, 5)), "--temperature 1e-18")):
        put("bad.npy", scores)
        assert "head-dep" not in refused(f"partition bad.npy {line} -q", "bad.npy").err


def test_no_command_that_reads_scores_is_left_out():
    assert {name for name in ENTRIES if "--scores" in options(name)} <= READ.keys()


@pytest.mark.parametrize("args", READ.values(), ids=READ)
@pytest.mark.parametrize(
    ("scores", "says"),
    [(MATRICES["nan"], ("1 -> 2", "NaN")), (np.ones((4, 4), complex), ("type complex128",))],
    ids=["NaN", "complex"],
)
def test_every_command_names_the_sentence(put, refused, args, scores, says):
    put("bad.npz", {"x-7": scores})
    words = "".join(f"{word}\tx\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in ((1, 0), (2, 1), (3, 1)))
    for name in ("trees.conllu", "gold.conllu"):
        put(name, f"# sent_id = x-7\n{words}\n")
    put("trees.jsonl", json.dumps({"sent_id": "x-7", "heads": [0, 1, 1]}))
    refused(" ".join([*args, "-q"]), "bad.npz[x-7] (x-7): ", *says)


@pytest.mark.parametrize("command", ["align", "expectations", "show"])
def test_scores_of_sentence_pairs(put, refused, command):
    put("bad.npz", {"x-7": np.ones((4, 4), complex)})
    put("bad.conllu", SENTENCES)
    refused(f"bitext {command} bad.npz -q", "bad.npz[x-7] (x-7): ", "type complex128")
    says = "bad.conllu: these are sentences (CoNLL-U), not scores", "--text"
    assert "--conllu" not in refused(f"bitext {command} bad.conllu -q", *says).err


def test_a_padded_batch_with_lengths_and_matrices_that_are_too_small(deptree, done, put):
    put("batch.npy", FILES["batch.npy"])
    done("inspect batch.npy --from supar --conllu $GOLD")
    put("batch.npy", np.random.default_rng(0).normal(size=(8, 4, 4)))
    assert "padded" not in deptree("inspect batch.npy --from supar --gold $GOLD").err
