"""The page of `deptree report`: sentences packed for it, and one HTML file that asks the network for nothing.

The page is HTML, style and scripts in `report/`, package data that is written into one file as it is. A sentence is its
CoNLL-U, arc scores from which the page computes, and what it is sorted by. Arcs are a bitmap and a float32 for each arc
that counts: where the page computes, each that is possible, for given an improbable head any of them can be certain.
Scores are stored less that of the most probable tree's head of the same word: a constant of a word changes no
probability, and the numbers that matter are then small and keep their digits.

The data are text in JSON, of which `<` is escaped, so that no form, label or comment of a treebank can end the element
that it stands in; and arrays in base64. The page's policy admits its own script and style, by their hashes, and nothing
else.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from heapq import heappush, heapreplace
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from deptree_cli.core.decoding import maximum_tree
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.doubt import doubts_of_heads, expected_errors
from deptree_cli.core.dtypes import Bool, Float, Heads, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.partition import log_projective_masses
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.conllu.blocks import Block, block_of, separator
from deptree_cli.io.conllu.columns import BOM, COMMENT_PREFIX, COMMENTS, MISC, FileColumns
from deptree_cli.io.pictures.arcs import shown_form
from deptree_cli.io.rules.constraints import Constraints
from deptree_cli.io.rules.reading import Names
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch

# Up to this length the page is given scores, and computes probabilities given some heads.
LONGEST = 60

# Of longer sentences arc probabilities below this one are left out.
SMALLEST_SHOWN = 1e-4

# Labels are told for arcs of at least this probability, so many of each.
LABELLED, MOST_LABELS = 0.01, 3

# So many samples of a sentence are enough to look at.
MOST_SAMPLES = 100

# What is told of labels that nobody knows.
NO_LABELS: Integers = np.empty((0, 4), dtype=np.uint16)

# The head of a word that has none.
NO_HEAD = 0xFFFF


@dataclass(frozen=True, eq=False)
class PackedSentence:
    """A sentence for the page.

    `tree`, `best`, `gold` are n heads each: shown, most probable, known to be right (or `NO_HEAD`); `probs` (2, n) are
    of the first two. `mask` (n+1, n), ``[head, dependent - 1]``, says which arcs have a number: float32 `numbers`, in
    order, log-scores if the page `computes` from them, else probabilities. `labels` (a, 4) of uint16: head, dependent,
    number of a label, its probability given the arc times 65,535. `facts`: entropy, log-probability of the tree (-inf:
    impossible), projective mass, expected errors of the tree shown and of the most probable one. `broken`: names of
    rules with the words at which the tree breaks them. `samples`: (k, n) heads.
    """

    sent_id: str
    text: str
    tree: Heads
    best: Heads
    gold: Heads
    probs: Float
    computes: bool
    mask: Bool
    numbers: Float
    labels: Integers
    facts: tuple[float, float, float, float, float]
    broken: list[tuple[str, int]]
    samples: Integers
    names: Names = field(default_factory=Names)

    @property
    def counted(self) -> tuple[int, float, Names]:
        """Its words, how many more heads are expected to be wrong than in the best tree, and the names in rules."""
        return len(self.tree), self.facts[3] - self.facts[4], self.names

    def packed(self) -> PackedSentence:
        return self


class OnPage(NamedTuple):
    """A sentence of many, with what counts for its page; it is put together when it is shown."""

    facts: tuple[float, float, float, float, float]
    counted: tuple[int, float, Names]
    packed: Callable[[], PackedSentence]


def _on_page(
    space: TreeSpace,
    sentences: Sequence[tuple[str, str, Heads, Integers]],
    trees: Heads,
    best: Heads,
    log_scores: Float,
    marginals: Float,
    *facts: Float,
) -> Iterator[OnPage]:
    """b sentences of n words; labels and broken rules are for those who know them.

    Args:
        sentences: the id of each, its CoNLL-U, its gold heads (below 0: unknown) and samples, (k, n).
        trees, best: the heads shown and those of the most probable trees, (b, n).
        log_scores, marginals: (b, n+1, n+1).
        facts: entropies, log-probabilities of the trees, and projective masses, (b,) each.
    """
    errors = [expected_errors(doubts_of_heads(marginals, heads).doubts) for heads in (trees, best)]
    for row, told in enumerate(np.stack([*facts, *errors], axis=1).tolist()):
        pack = partial(_packed, space, sentences, trees, best, log_scores, marginals, row, told)
        yield OnPage(told, (best.shape[1], told[3] - told[4], Names()), pack)


def _packed(
    space: TreeSpace,
    sentences: Sequence[tuple[str, str, Heads, Integers]],
    trees: Heads,
    best: Heads,
    log_scores: Float,
    marginals: Float,
    row: int,
    facts: tuple[float, float, float, float, float],
) -> PackedSentence:
    (sent_id, text, gold, samples), own = sentences[row], np.arange(best.shape[1])
    heads = trees[row].copy(), best[row].copy()
    columns, scores = marginals[row][:, 1:], log_scores[row][:, 1:]
    computes = len(own) <= LONGEST and not space.projective and space.kind == ""
    # Which arcs have a number: all that may be where the page computes, else the probable and the trees'.
    mask = np.isfinite(scores)
    if not computes:
        shown = columns >= SMALLEST_SHOWN
        shown[heads, own] = True
        mask &= shown
    return PackedSentence(
        sent_id,
        text,
        *heads,
        np.where(gold < 0, NO_HEAD, gold),
        columns[heads, own],
        computes,
        mask,
        (scores - scores[heads[1], own] if computes else columns)[mask],
        NO_LABELS,
        facts,
        [],
        samples[:MOST_SAMPLES],
    )


def for_page(
    sentence: ScoredSentence, constraints: Constraints | None, has_gold: bool, samples: Integers | None = None
) -> PackedSentence:
    """Return a sentence for the page, which counts what its tree breaks of the constraints; samples: (k, n) heads."""
    distribution, best = sentence.distribution, maximum_tree(sentence.distribution)
    block = sentence.record.block or unread(sentence.id, distribution.n)
    trees, masses, marginals = _shown(block, best)[None], np.ones(1), distribution.marginals()
    if not distribution.space.projective:
        masses = np.minimum(1.0, np.exp(log_projective_masses(distribution)))
    if samples is None:
        samples = np.empty((0, distribution.n), dtype=np.int32)
    texts = [(sentence.id, text_of(block), _gold_heads(sentence.record, has_gold), samples)]
    facts = np.array([distribution.entropy()]), distribution.log_probs(trees), masses
    arrays = trees, best[None], distribution.log_scores[None], marginals[None]
    found = replace(
        next(_on_page(distribution.space, texts, *arrays, *facts)).packed(), labels=_labels(distribution, marginals)
    )
    if constraints is None:
        return found
    asked = constraints.of(sentence.id, block, block.n, None)
    labels = ["" if label == "_" else label for label in block.deprels]
    broken = asked.broken(trees[0].tolist(), labels, distribution.space)
    return replace(found, broken=[(each.rule, each.word) for each in broken], names=asked.names(labels))


def samples_of(record: Sentence) -> Heads:
    given = record.trees
    if given is None:
        return np.empty((0, record.n), dtype=np.int32)
    return np.repeat(given.heads, given.times, axis=0)[:MOST_SAMPLES]


def unread(sent_id: str, n: int) -> Block:
    return block_of(sent_id, [str(word) for word in range(1, n + 1)])


def _shown(block: Block, best: Heads) -> Heads:
    """The heads of a sentence, those of the most probable tree where there is none, (n,)."""
    return np.array([b if head is None else head for head, b in zip(block.heads, best.tolist(), strict=True)])


def _gold_heads(record: Sentence, has_gold: bool) -> Heads:
    """The heads that are known to be right, (n,), -1 where one is not; `NO_HEAD` if there are none to compare with."""
    return record.known_heads if has_gold else np.full(record.n, NO_HEAD)


def text_of(block: Block) -> str:
    try:
        return block.raw.decode()
    except UnicodeDecodeError:
        raise DeptreeError("the sentence is not UTF-8", "Convert the file to UTF-8", place=block.place) from None


def _labels(distribution: TreeDistribution, marginals: Float) -> Integers:
    rows = []
    if distribution.labels is not None:
        probs = np.nan_to_num(distribution.labels.probs)
        for head, word in np.argwhere(marginals >= LABELLED).tolist():
            likeliest = np.argsort(-probs[head, word], kind="stable")[:MOST_LABELS].tolist()
            shares = (round(float(probs[head, word, label]) * 0xFFFF) for label in likeliest)
            rows += [(head, word, label, share) for label, share in zip(likeliest, shares, strict=True) if share]
    return np.array(rows, dtype=np.uint16).reshape(-1, 4) if rows else NO_LABELS


def for_page_of_many(batch: ScoredBatch, has_gold: bool) -> list[OnPage | None]:
    """What `for_page` makes of sentences without rules; None of those that are not UTF-8."""
    from deptree_cli.core.blocks import alike  # loads kernels: when there is work

    found: list[OnPage | None] = [None] * len(batch.records)
    trees, best = batch.trees, batch.trees.argmax()
    log_z, marginals = trees.sums  # first: what follows asks for log Z again
    masses = np.ones(len(found)) if batch.space.projective else np.exp(log_projective_masses(trees))
    for some in alike(trees.lengths):
        best_trees, texts, shown = some.of_words(best.heads), [], []
        for record, heads in zip((batch.records[row] for row in some.rows), best_trees, strict=True):
            block = record.block or unread(record.sent_id, some.n)
            text = ""
            with suppress(DeptreeError):
                text = text_of(block)
            texts.append((record.sent_id, text, _gold_heads(record, has_gold), samples_of(record)))
            shown.append(_shown(block, heads))
        of_trees, rows = np.array(shown), some.rows
        facts = trees.entropies[rows], trees.log_probs(rows, of_trees, log_z), masses[rows]
        arrays = some.of_arcs(trees.log_scores), some.of_arcs(marginals)
        candidates = _on_page(batch.space, texts, of_trees, best_trees, *arrays, *facts)
        for row, one, (_, text, *_) in zip(rows.tolist(), candidates, texts, strict=True):
            found[row] = one if text else None
    return found


# In the order in which they stand in the page; each uses only those before it while it is loaded.
SCRIPTS = (
    "dom.js",
    "data.js",
    "numbers.js",
    "sums.js",
    "sampling.js",
    "choice.js",
    "geometry.js",
    "drawing.js",
    "marks.js",
    "list.js",
    "words.js",
    "caption.js",
    "playing.js",
    "sentence.js",
    "charts.js",
    "panel.js",
    "app.js",
)

_FOLDER = files("deptree_cli.io.pages") / "report"


@dataclass(frozen=True)
class Report:
    """What the page shows beside its sentences; calibration where `has_gold`.

    An empty `title` stands for the name of the first sentence. `top` is how many sentences there are at most.
    """

    title: str
    space: TreeSpace
    labels: Sequence[str] = ()
    has_gold: bool = False
    has_rules: bool = False
    top: int = 1


class MostDoubtful:
    """The `top` sentences of the highest expected errors, in the order of the file, of `total` ones."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._kept: list[tuple[float, int, PackedSentence]] = []
        self.total = 0

    def add(self, sentence: PackedSentence | OnPage) -> None:
        self.total += 1
        rank = sentence.facts[3], -self.total
        if len(self._kept) < self._top:
            heappush(self._kept, (*rank, sentence.packed()))
        elif rank > self._kept[0][:2]:
            heapreplace(self._kept, (*rank, sentence.packed()))

    def __iter__(self) -> Iterator[PackedSentence]:
        for _, _, sentence in sorted(self._kept, key=lambda each: -each[1]):
            yield sentence


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
    page = _text("report.html")
    head, *pieces = page.split("{{")
    return "".join(
        [head, *(fields[name] + rest for name, _, rest in (each.partition("}}") for each in pieces))]
    ).encode()


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _as_data(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _as_file(texts: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """The CoNLL-U of sentences of any files, each such that the next can follow it, and their columns."""
    columns = FileColumns(None)
    ended = [text + separator(text.encode()).decode() for text in texts[:-1]] + texts[-1:]
    first = [columns.first(text.encode()) for text in ended[:1]]
    others = [columns.another(text.encode().removeprefix(BOM)) for text in ended[1:]]
    return [each.decode() for each in first + others], columns.names


def _data(
    report: Report, title: str, signature: str, total: int, sentences: Sequence[PackedSentence]
) -> dict[str, object]:
    conllu, columns = _as_file([each.text for each in sentences])
    arrays = {
        "lengths": _base64([len(each.tree) for each in sentences], "<u2"),
        "computes": _base64([each.computes for each in sentences], "u1"),
        "masks": _joined((np.packbits(each.mask.ravel()) for each in sentences), "u1"),
        "numbers": _joined((each.numbers for each in sentences), "<f4"),
        "trees": _joined((each.tree for each in sentences), "<u2"),
        "best": _joined((each.best for each in sentences), "<u2"),
        "gold": _joined((each.gold for each in sentences), "<u2") if report.has_gold else "",
        "treeProbs": _joined((_share(each.probs[0]) for each in sentences), "<u2"),
        "bestProbs": _joined((_share(each.probs[1]) for each in sentences), "<u2"),
        "labelCounts": _base64([len(each.labels) for each in sentences], "<u4"),
        "labels": _joined((each.labels.ravel() for each in sentences), "<u2"),
        "facts": _joined((np.array(each.facts) for each in sentences), "<f8"),
        "sampleCounts": _base64([len(each.samples) for each in sentences], "<u4"),
        "samples": _joined((each.samples.ravel() for each in sentences), "<u2"),
    }
    found: dict[str, object] = {
        "title": title,
        "signature": signature,
        "total": total,
        "singleRoot": report.space.single_root,
        "noHead": NO_HEAD,
        "labels": list(report.labels),
        "hasRules": report.has_rules,
        "ids": [each.sent_id for each in sentences],
        "conllu": conllu,
        "columns": columns,
        "broken": [[list(place) for place in each.broken] for each in sentences] if report.has_rules else [],
        "stale": {"comments": _names(COMMENTS), "prefix": COMMENT_PREFIX.decode(), "misc": _names(MISC)},
        "arrays": arrays,
    }
    # Marks are kept for this file, whatever it is called and wherever it stands.
    found["key"] = sha256(_as_data([found["ids"], found["conllu"], arrays["numbers"]]).encode()).hexdigest()[:16]
    return found


def _names(keys: Iterable[bytes]) -> list[str]:
    return sorted(key.decode() for key in keys)


def _share(probabilities: Float) -> Float:
    return np.round(np.clip(probabilities, 0, 1) * 0xFFFF)


def _base64(values: ArrayLike, dtype: DTypeLike) -> str:
    return b64encode(np.asarray(values).astype(dtype).tobytes()).decode()


def _joined(pieces: Iterable[ArrayLike], dtype: DTypeLike) -> str:
    return _base64(np.concatenate([np.zeros(0), *pieces]), dtype)
