"""The page of `deptree report`: sentences packed for it, and one HTML file that asks the network for nothing.

The page is HTML, style and scripts in `report/`, package data that is written into one file as it is. A sentence is its
CoNLL-U, arc scores from which the page computes, and what it is sorted by. Arcs are a bitmap and a float32 for each arc
that counts: where the page computes, each that is possible, for given an improbable head any of them can be certain.
Scores are stored less that of the most probable tree's head of the same word: a constant of a word changes no
probability, and the numbers that matter are then small and keep their digits.

The data are text in JSON, of which `<` is escaped, so that no form, label or comment of a treebank can end the element
that it stands in; and arrays in base64. The page's policy admits its own script and style, by their hashes, and nothing
else.

Without scores the page is the same: it has the trees, and no numbers of arcs.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from heapq import heappush, heapreplace
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.core.decoding import maximum_tree
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.doubt import doubts_of_heads, expected_errors
from deptree_cli.core.dtypes import Array, Float, Heads, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.partition import log_projective_masses
from deptree_cli.core.ruleset import UNKNOWN_UPOS
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.conllu.blocks import Block, block_of, separator
from deptree_cli.io.conllu.columns import BOM, COMMENT_PREFIX, COMMENTS, MISC, FileColumns
from deptree_cli.io.pictures.arcs import shown_form
from deptree_cli.io.rules.constraints import Constraints
from deptree_cli.io.rules.reading import Names
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.checking import AnnotatedTree
    from deptree_cli.io.scores.batches import ScoredBatch

# Up to this length the page is given scores, and computes probabilities given some heads.
LONGEST = 60

# Of longer sentences arc probabilities below this one are left out.
SMALLEST_SHOWN = 1e-4

# Labels are told for arcs of at least this probability, this many of each.
LABELLED, MOST_LABELS = 0.01, 3

# So many samples of a sentence are enough to look at.
MOST_SAMPLES = 100

# The head of a word that has none, and the labels of a sentence whose scores do not tell.
NO_HEAD, NO_LABELS = 0xFFFF, np.empty((0, 4), dtype=np.uint16)


class PackedSentence(NamedTuple):
    """A sentence for the page: its CoNLL-U, where its tree breaks rules, and `arrays`.

    `broken`: of each place the rule, the word (or the ID of an empty node), all words that break it together, and
    whether their arcs do. Without scores the arrays are the length and the tree, `NO_HEAD` for a head that is no word.

    `trees`, `best`, `gold` are n heads each: shown, most probable, known to be right (or `NO_HEAD`); `treeProbs` and
    `bestProbs` the probabilities of the first two times 65,535. `masks` are the bits of (n+1, n), ``[head, dependent -
    1]``, that say which arcs have a number: `numbers`, in order, log-scores if the page `computes` from them, else
    probabilities. `labels` (a, 4): head, dependent, number of a label, its probability given the arc times 65,535.
    `facts`: entropy, log-probability of the tree (-inf: impossible), projective mass, expected errors of the tree shown
    and of the most probable one. `samples`: (k, n) heads.
    """

    sent_id: str
    conllu: bytes
    broken: list[tuple[str, int | str, tuple[int, ...], bool]]
    arrays: dict[str, Array]


class OnPage(NamedTuple):
    """A sentence with what is expected to be wrong in its tree, by which the page chooses; packed when it is shown.

    `counted`: its words, how many more heads are expected to be wrong than in the best tree, and the names in rules;
    without scores `errors` is the number of places where rules are broken, and `counted` are `Counts`.
    """

    errors: float
    counted: Any
    packed: Callable[..., PackedSentence]


def for_page(sentence: ScoredSentence, constraints: Constraints | None, has_gold: bool) -> OnPage:
    """Return a sentence for the page, which counts what its tree breaks of the constraints."""
    distribution, record = sentence.distribution, sentence.record
    best, marginals = maximum_tree(distribution), distribution.marginals()
    arrays = best[None], distribution.log_scores[None], marginals[None], np.array([distribution.entropy()])
    masses = np.ones(1) if distribution.space.projective else np.exp(log_projective_masses(distribution))
    (found,) = _on_page(distribution.space, [record], has_gold, *arrays, distribution.log_probs, masses)
    pack = partial(found.packed, labels=_labels(distribution, marginals))
    if constraints is None:
        return found._replace(packed=pack)
    block = _block(record, distribution.n)
    asked = constraints.of(sentence.id, block, block.n, None)
    labels = ["" if label == "_" else label for label in block.deprels]
    broken = asked.broken(_shown(block, best).tolist(), labels, distribution.space)
    pack = partial(pack, broken=[(*each, True) for each in broken])
    return OnPage(found.errors, (*found.counted[:2], asked.names(labels)), pack)


def for_page_of_many(batch: ScoredBatch, has_gold: bool) -> list[OnPage]:
    """What `for_page` makes of sentences without rules."""
    from deptree_cli.core.blocks import alike  # loads kernels: when there is work

    found: dict[int, OnPage] = {}
    trees, best = batch.trees, batch.trees.argmax()
    log_z, marginals = trees.sums  # first: what follows asks for log Z again
    masses = np.ones(len(batch.records)) if batch.trees.space.projective else np.exp(log_projective_masses(trees))
    for some in alike(trees.lengths):
        rows, records = some.rows, [batch.records[row] for row in some.rows]
        arrays = some.of_words(best.heads), some.of_arcs(trees.log_scores), some.of_arcs(marginals)
        log_probs = partial(trees.log_probs, rows, log_z=log_z)
        pages = _on_page(batch.trees.space, records, has_gold, *arrays, trees.entropies[rows], log_probs, masses[rows])
        found |= zip(rows.tolist(), pages, strict=True)
    return [found[row] for row in range(len(batch.records))]


def for_page_of_tree(tree: AnnotatedTree, _: None = None) -> OnPage:
    """Return a sentence without scores for the page, with its heads as they are and all that is wrong."""
    block, wrong = tree.block, tree.wrong
    _check_text(block)
    heads = np.array([head if 0 <= head <= block.n else NO_HEAD for head in tree.heads])
    arrays = {"lengths": np.array(block.n, "<u2"), "trees": heads.astype("<u2")}
    # Where there is no head, or a wrong tag, no arc is wrong.
    broken = [
        (row["rule"], row["word"], row["words"], row["head"] is not None and row["rule"] != UNKNOWN_UPOS)
        for row in wrong
    ]
    return OnPage(len(wrong), tree.counts, partial(PackedSentence, tree.read.sent_id, block.raw, broken, arrays))


def _on_page(
    space: TreeSpace,
    records: Sequence[Sentence],
    has_gold: bool,
    best: Heads,
    log_scores: Float,
    marginals: Float,
    entropies: Float,
    log_probs: Callable[[Heads], Float],
    masses: Float,
) -> Iterator[OnPage]:
    """b sentences of n words, as yet without labels and broken rules; the most probable trees are `best`, (b, n) heads.

    Log-scores and marginals are (b, n+1, n+1); `log_probs` returns (b,) of (b, n) heads.
    """
    n = best.shape[1]
    blocks = [_block(record, n) for record in records]
    trees = np.array([_shown(block, heads) for block, heads in zip(blocks, best, strict=True)])
    errors = [expected_errors(doubts_of_heads(marginals, heads).doubts) for heads in (trees, best)]
    facts = np.stack([entropies, log_probs(trees), masses, *errors], axis=1).tolist()
    for record, block, told, *arrays in zip(records, blocks, facts, trees, best, log_scores, marginals, strict=True):
        _check_text(block)
        gold = record.known_heads if has_gold else np.full(n, NO_HEAD)
        pack = partial(_packed, space, record.sent_id, block.raw, told, gold, _samples(record, n), *arrays)
        yield OnPage(told[3], (n, told[3] - told[4], Names()), pack)


def _check_text(block: Block) -> None:
    try:
        block.raw.decode()
    except UnicodeDecodeError:
        raise DeptreeError("the sentence is not UTF-8", "Convert the file to UTF-8", place=block.place) from None


def _block(record: Sentence, n: int) -> Block:
    return record.block or block_of(record.sent_id, [str(word) for word in range(1, n + 1)])


def _shown(block: Block, best: Heads) -> Heads:
    """The heads of a sentence, those of the most probable tree where there is none, (n,)."""
    return np.array([b if head is None else head for head, b in zip(block.heads, best.tolist(), strict=True)])


def _samples(record: Sentence, n: int) -> Heads:
    given = record.trees
    if given is None:
        return np.empty((0, n), dtype=np.int32)
    return np.repeat(given.heads, given.times, axis=0)[:MOST_SAMPLES]


def _labels(distribution: TreeDistribution, marginals: Float) -> Integers:
    if distribution.labels is None:
        return NO_LABELS
    heads, words = np.nonzero(marginals >= LABELLED)
    probs = np.nan_to_num(distribution.labels.probs)[heads, words]
    likeliest = np.argsort(-probs, axis=1, kind="stable")[:, :MOST_LABELS]
    shares = _share(np.take_along_axis(probs, likeliest, axis=1))
    found = np.stack(np.broadcast_arrays(heads[:, None], words[:, None], likeliest, shares), axis=2).reshape(-1, 4)
    return found[found[:, 3] > 0]


def _share(probabilities: Float) -> Float:
    return np.round(np.clip(probabilities, 0, 1) * 0xFFFF)


def _packed(
    space: TreeSpace,
    sent_id: str,
    conllu: bytes,
    facts: list[float],
    gold: Heads,
    samples: Heads,
    tree: Heads,
    best: Heads,
    log_scores: Float,
    marginals: Float,
    labels: Integers = NO_LABELS,
    broken: Sequence[tuple[str, int, tuple[int, ...], bool]] = (),
) -> PackedSentence:
    own, columns, scores = np.arange(len(best)), marginals[:, 1:], log_scores[:, 1:]
    computes = len(own) <= LONGEST and not space.projective and space.kind == ""
    # Which arcs have a number: all that may be where the page computes, else the probable and the trees'.
    mask = np.isfinite(scores)
    if not computes:
        shown = columns >= SMALLEST_SHOWN
        shown[[tree, best], own] = True
        mask &= shown
    arrays = {
        "lengths": np.array(len(own), "<u2"),
        "computes": np.array(computes, "u1"),
        "masks": np.packbits(mask),
        "numbers": (scores - scores[best, own] if computes else columns)[mask].astype("<f4"),
        "trees": tree.astype("<u2"),
        "best": best.astype("<u2"),
        "gold": np.where(gold < 0, NO_HEAD, gold).astype("<u2"),
        "treeProbs": _share(columns[tree, own]).astype("<u2"),
        "bestProbs": _share(columns[best, own]).astype("<u2"),
        "labelCounts": np.array(len(labels), "<u4"),
        "labels": labels.astype("<u2"),
        "facts": np.array(facts, "<f8"),
        "sampleCounts": np.array(len(samples), "<u4"),
        "samples": samples.astype("<u2"),
    }
    return PackedSentence(sent_id, conllu, list(broken), arrays)


# In the order in which they stand in the page; each uses only those before it while it is loaded.
_NAMES = """
    dom data numbers sums sampling choice geometry drawing marks rules sorts list words caption playing sentence charts
    panel app
"""
SCRIPTS = [f"{name}.js" for name in _NAMES.split()]

_FOLDER = files("deptree_cli.io.pages") / "report"


@dataclass(frozen=True)
class Report:
    """What the page shows beside its sentences; calibration where `has_gold`, no probabilities unless `has_scores`.

    An empty `title` stands for the name of the first sentence. `top` is how many sentences there are at most.
    """

    title: str
    space: TreeSpace
    labels: Sequence[str] = ()
    has_gold: bool = False
    has_rules: bool = False
    top: int = 1
    has_scores: bool = True


class MostDoubtful:
    """The `top` sentences of most errors, expected or found, in the order of the file, of `total` ones."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._kept: list[tuple[float, int, PackedSentence]] = []
        self.total = 0

    def add(self, sentence: OnPage) -> None:
        self.total += 1
        rank = sentence.errors, -self.total
        if len(self._kept) < self._top:
            heappush(self._kept, (*rank, sentence.packed()))
        elif rank > self._kept[0][:2]:
            heapreplace(self._kept, (*rank, sentence.packed()))

    def __iter__(self) -> Iterator[PackedSentence]:
        return (sentence for *_, sentence in sorted(self._kept, key=lambda each: -each[1]))


def to_html(report: Report, signature: str, sentences: MostDoubtful) -> bytes:
    kept = list(sentences)
    title = report.title or shown_form(kept[0].sent_id)
    style = _text("report.css")
    script = "\n".join(['"use strict";', *(_text(f"js/{name}") for name in SCRIPTS)])
    fields = {
        "title": escape(title),
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'",
        "style": style,
        "data": _as_data(_data(report, title, signature, sentences.total, kept)),
        "script": script,
    }
    return re.sub("{{(.*?)}}", lambda match: fields[match[1]], _text("report.html")).encode()


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _as_data(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _as_file(texts: list[bytes]) -> tuple[list[str], tuple[str, ...]]:
    """The CoNLL-U of sentences of any files, each such that the next can follow it, and their columns."""
    columns = FileColumns(None)
    ended = [text + separator(text) for text in texts[:-1]] + texts[-1:]
    found = [columns.first(text) for text in ended[:1]]
    found += [columns.another(text.removeprefix(BOM)) for text in ended[1:]]
    return [each.decode() for each in found], columns.names


def _data(
    report: Report, title: str, signature: str, total: int, sentences: Sequence[PackedSentence]
) -> dict[str, object]:
    conllu, columns = _as_file([each.conllu for each in sentences])
    names = sentences[0].arrays
    arrays = {name: b64encode(b"".join(each.arrays[name].tobytes() for each in sentences)).decode() for name in names}
    if not report.has_gold:
        arrays["gold"] = ""
    found: dict[str, object] = {
        "title": title,
        "signature": signature,
        "total": total,
        "singleRoot": report.space.single_root,
        "noHead": NO_HEAD,
        "labels": list(report.labels),
        "hasScores": report.has_scores,
        "hasRules": report.has_rules,
        "ids": [each.sent_id for each in sentences],
        "conllu": conllu,
        "columns": columns,
        "broken": [each.broken for each in sentences] if report.has_rules else [],
        "stale": {
            "comments": sorted(key.decode() for key in COMMENTS),
            "prefix": COMMENT_PREFIX.decode(),
            "misc": sorted(key.decode() for key in MISC),
        },
        "arrays": arrays,
    }
    # Marks are kept for this file, whatever it is called and wherever it stands.
    key = [found["ids"], found["conllu"], arrays.get("numbers", "")]
    found["key"] = sha256(_as_data(key).encode()).hexdigest()[:16]
    return found
