"""``deptree doubt``: doubts about words and trees, ranked; as rows, or as notes in the sentences."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from math import exp, inf, isfinite, isnan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli.options import FloatRange, IntRange, check_effect, command, entry_option, option
from deptree_cli.cli.run import Fold, Job, RunOptions, Work, layout_doubts, run_options
from deptree_cli.cli.score_options import ScoreOptions, judging_options
from deptree_cli.cli.write import ROWS, TABLE, Writing, format_options
from deptree_cli.core.doubt import (
    WordDoubts,
    disagreement,
    doubts_of_heads,
    doubts_of_labels,
    expected_errors,
    least_margin,
)
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.labels import Labels
from deptree_cli.core.register import Register
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import no_sentences, probability
from deptree_cli.io.encoders.base import CONLLU, Sheet
from deptree_cli.io.scores.records import ScoredSentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch

WORD, SENTENCE = "word", "sentence"

# Of a table without --top.
SHOWN = 20

# The columns of words, of their labels, of sentences; and of ranks.
HEADS = ("sent_id", "word", "form", "head", "prob", "best_head", "best_prob")
LABELS = ("deprel", "deprel_prob", "best_deprel", "best_deprel_prob")
SENTENCES = (
    *("sent_id", "n", "suspects", "expected_errors", "entropy", "least_margin"),
    *("tree_prob", "tree_logprob", "disagreement"),
)
RANK = "rank"

# In MISC: the probability that the annotation is wrong; and what somebody says of words, which are left out.
KEY, FINE = "Doubt", "DoubtNote=fine"

# Of a kind of word: what is not known of it.
UNKNOWN = "_"

# What to do where no head is annotated.
NO_HEADS = "Give annotated trees with --conllu FILE, or rank by what needs none: --rank entropy or --rank disagreement"


@dataclass(frozen=True)
class Criterion:
    """What sentences may be ranked by: a field of rows and of comments of CoNLL-U.

    `order` is the field of numbers of the same order that tell more values apart, if it is not the same.
    """

    name: str
    field: str
    help: str
    highest_first: bool = True
    of_annotation: bool = True
    order: str = ""

    @property
    def line(self) -> str:
        return f"{self.name} ({self.help})"

    def key(self, value: float) -> float:
        return -value if self.highest_first else value


CRITERIA = Register(
    "criterion",
    (
        Criterion("expected-errors", "expected_errors", "wrong heads; the default"),
        Criterion("entropy", "entropy", "in nats; no HEADs needed", of_annotation=False),
        Criterion("margin", "least_margin", "to the best rival, of the worst word", False),
        Criterion("tree-prob", "tree_prob", "of the annotated tree", False, order="tree_logprob"),
        Criterion("disagreement", "disagreement", "words that differ in two samples; no HEADs", of_annotation=False),
    ),
)


@command(
    gone={
        "--above": "rows have prob, and sentences what they are ranked by: filter them by awk or jq",
        "--below": "rows have prob, and sentences what they are ranked by: filter them by awk or jq",
        "--marks": "a report exports CoNLL-U, and words with DoubtNote=fine are left out",
    }
)
@judging_options
@option("--per", type=click.Choice([WORD, SENTENCE]), metavar="UNIT", help="Rank by word or sentence.  [default: word]")
@entry_option(CRITERIA, "--rank", "by", default=None, help="Rank sentences by: {names}.", name=attrgetter("line"))
@option("--top", type=IntRange(1), metavar="N", help="Keep the first N; this also limits memory.")
@option("--words", "most", type=IntRange(1), metavar="N", help="Keep sentences by rank, up to N words.")
@option(
    "--threshold",
    type=FloatRange(0, 1),
    default=0.5,
    metavar="P",
    often=False,
    help="A word is a suspect if its annotation is wrong with a probability above this.  [default: 0.5]",
)
@format_options(*ROWS, CONLLU.name)
@run_options
def doubt(
    scores: ScoreOptions,
    per: str | None,
    by: Criterion | None,
    top: int | None,
    most: int | None,
    threshold: float,
    writing: Writing,
    run: RunOptions,
) -> int:
    """Rank annotated words, or sentences, the most doubtful first.

    Writes a row per word (JSON Lines; a table on a terminal): the probability of its head, and the most probable head;
    with --labels, the probability of head and label decides the rank. --rank, --words and --format conllu rank
    sentences. Words with DoubtNote=fine in MISC are left out. For broken rules use check or repair.
    """
    if written := writing.encoder(run.output) is CONLLU:
        scores.check_words()
    sentences = written or most is not None or by is not None
    if per == WORD and sentences:
        raise click.UsageError("--rank, --words and CoNLL-U are of sentences: pass --per sentence.")
    ranked_by = (by or CRITERIA.get("expected-errors")) if sentences or per == SENTENCE else None
    if (ranked_by is None or ranked_by.of_annotation) and not scores.conllu:
        raise click.UsageError(f"There are no annotated heads. {NO_HEADS}.")
    if not (ranked_by and scores.conllu):
        check_effect(["threshold"], "--per sentence and annotated heads: only these rows count suspects")
    of = {"rank": ranked_by.name, "threshold": threshold} if ranked_by else {}
    fields = {"per": SENTENCE if ranked_by else WORD, **of, "top": top, "words": most}
    job = Job("doubt", replace(scores.source(run), is_conllu=False), run, writing, last=fields)
    work = Doubt(ranked_by, threshold, job.encoder is CONLLU)
    columns = (*SENTENCES, RANK) if ranked_by else (*HEADS, *LABELS * (scores.how.labels is not None), RANK)
    shown = SHOWN if job.encoder is TABLE and top is None and most is None else None
    ranking = Ranking(columns, ranked_by, top, most, shown, scores.files[0].conllu or scores.place)
    return job.summarise(work, ranking, Sheet(columns))


class InRank(NamedTuple):
    """A sentence in CoNLL-U, to be written in its turn."""

    data: bytes

    def to_conllu(self, _: object) -> bytes:
        return self.data


class Ranked(NamedTuple):
    """What has a rank, by its key, the least first; of equals the one that was read first. `words`: how many it has."""

    key: tuple[float, ...]
    words: int
    written: tuple[Any, ...] | InRank


class Counts(NamedTuple):
    """What a sentence counts for; `unknown`: how many annotated words have a label that the scores do not tell."""

    ranked: list[Ranked]
    words: int
    errors: float
    unknown: int


class Ranking(Fold[Counts]):
    """Keeps what is ranked, with `top` only so many, and sums up what was read.

    Args:
        by: what sentences are ranked by; None: words are ranked.
        most: of these, in their order, each that still fits into so many words.
        shown: how many have a place where they are written, None: all.
    """

    def __init__(
        self,
        columns: Sequence[str],
        by: Criterion | None,
        top: int | None,
        most: int | None,
        shown: int | None,
        place: str,
    ) -> None:
        self._columns, self._by, self._words_in_all, self._shown, self._place = columns, by, most, shown, place
        self._most = top or (None if most else shown)
        self._kept: list[tuple[tuple[float, ...], int, Ranked]] = []
        self._all = self._written = 0
        self._sentences = self._words = self._unknown = self._left_out = 0
        self._errors = 0.0

    def add(self, counts: Counts) -> None:
        self._sentences += 1
        self._words += counts.words
        self._errors += counts.errors
        self._unknown += counts.unknown
        self._left_out += self._by is not None and not counts.ranked
        for each in counts.ranked:
            self._all += 1
            key = tuple([-number for number in each.key])  # so that the first of the heap is the one that goes
            if self._most is None or len(self._kept) < self._most:
                heapq.heappush(self._kept, (key, -self._all, each))
            elif key > self._kept[0][0]:  # of equals the one that was read first stays
                heapq.heapreplace(self._kept, (key, -self._all, each))

    def rows(self) -> Sequence[Any]:
        if self._sentences and not self._words and (self._by is None or self._by.of_annotation):
            raise DeptreeError("no word has a HEAD", NO_HEADS, place=self._place)
        ranks: Iterable[tuple[int, Ranked]] = enumerate((entry[-1] for entry in sorted(self._kept, reverse=True)), 1)
        if self._words_in_all:
            ranks = _within(ranks, self._words_in_all)
        found = [(rank, each.written) for rank, each in islice(ranks, self._shown)]
        self._written = len(found)
        return [
            written if isinstance(written, InRank) else dict(zip(self._columns, (*written, rank), strict=True))
            for rank, written in found
        ]

    def lines(self) -> Iterator[str]:
        if not self._all and not self._left_out:
            yield f"nothing to rank: {'all words are marked as fine' if self._words else 'there are no sentences'}"
        if self._kept and not self._written:
            n, of = min(one.words for *_, one in self._kept), counted(len(self._kept), "sentence")
            yield f"nothing fits into --words {self._words_in_all}: the shortest of {of} has {counted(n, 'word')}"
        if self._unknown:
            yield f"{counted(self._unknown, 'word')} with a DEPREL that --labels has not: their heads alone are doubted"
        if self._left_out:
            yield f"{counted(self._left_out, 'sentence')} left out: not all HEADs that --rank needs are there"
        if self._words:
            of = f"{counted(self._words, 'annotated word')} of {counted(self._sentences, 'sentence')}"
            yield f"{self._errors:.1f} of {of} are wrong, if the probabilities are right"
            yield from layout_doubts(self._errors, self._words)
        if self._shown and self._written == self._shown < self._all:
            yield f"these are the first {self._shown} of {self._all}: --top N shows more, --json or -o FILE has all"


def _within(ranks: Iterable[tuple[int, Ranked]], words: int) -> Iterator[tuple[int, Ranked]]:
    for rank, each in ranks:
        if each.words <= words:
            words -= each.words
            yield rank, each


@dataclass(frozen=True)
class Annotated:
    """Sentences of one length, with what their distributions say.

    Attributes:
        heads: (b, n), the annotated ones, -1 where there is none.
        marginals: (b, n+1, n+1).
        entropies, log_probs: make the entropies, and the log-probabilities of the annotated trees; (b,).
        labels: of the one sentence that there is, if scores tell labels.
    """

    how: Doubt
    sent_ids: Sequence[str]
    blocks: Sequence[Block | None]
    heads: Heads
    marginals: Float
    entropies: Callable[[], Float]
    log_probs: Callable[[], Float]
    labels: Labels | None = None

    def counts(self, at: int) -> Counts:
        ranked = self._sentence(at) if self.how.by else self._words(at)
        names, numbers = (self._deprels, self._numbers.tolist()) if self.labels else ([], [])
        unknown = sum(name != UNKNOWN and number < 0 for name, number in zip(names, numbers, strict=True))
        return Counts(ranked, self._known[at], self._errors[at], unknown)

    @property
    def n(self) -> int:
        return self.heads.shape[1]

    @cached_property
    def _known(self) -> list[int]:
        found: list[int] = (self.heads >= 0).sum(axis=1).tolist()
        return found

    @cached_property
    def _deprels(self) -> list[str]:
        (block,) = self.blocks
        return block.deprels if block else [UNKNOWN] * self.n

    @cached_property
    def _numbers(self) -> Heads:
        """The numbers of the one's labels, -1 where the scores do not tell them."""
        numbers = {name: number for number, name in enumerate(self.labels.names)} if self.labels else {}
        return np.array([numbers.get(label, -1) for label in self._deprels], dtype=np.int32)

    @cached_property
    def _arcs(self) -> WordDoubts:
        return doubts_of_heads(self.marginals, self.heads)

    @cached_property
    def _of_labels(self) -> WordDoubts | None:
        if self.labels is None:
            return None
        return doubts_of_labels(self._arcs, self.heads, self._numbers[None], self.labels.log_probs)

    @cached_property
    def _doubts(self) -> Float:
        """(b, n): of head and label, where both are known, else of the head, NaN where there is none, or it is fine."""
        doubts = self._finest("doubts")
        for row, block in zip(doubts, self.blocks, strict=True):
            if block and FINE.encode() in block.raw:
                notes = [entries.split("|") for entries in block.column("misc")]
                row[[at for at, some in enumerate(notes) if FINE in (each.partition(":")[0] for each in some)]] = np.nan
        return doubts

    @cached_property
    def _errors(self) -> list[float]:
        found: list[float] = np.nansum(self._doubts, axis=1).tolist()
        return found

    def _finest(self, name: str) -> Float:
        arcs: Float = getattr(self._arcs, name)
        labelled: Float = getattr(self._of_labels or self._arcs, name)
        return np.where(np.isnan(labelled), arcs, labelled)

    @cached_property
    def _columns(self) -> list[list[list[Any]]]:
        """Of the words of each: doubts, probabilities, annotated heads, and what the best head is."""
        arcs = self._arcs
        given = self._doubts, self._finest("probs"), self.heads, arcs.probs, arcs.best, arcs.best_probs
        return [each.tolist() for each in given]

    def _words(self, number: int) -> list[Ranked]:
        block, sent_id = self.blocks[number], self.sent_ids[number]
        if block is None:
            raise no_sentences()
        ranked = []
        words = zip(block.column("form"), *(each[number] for each in self._columns), strict=True)
        for at, (form, doubt, prob, head, arc, best, best_prob) in enumerate(words):
            if isnan(doubt):
                continue
            cells: tuple[Any, ...] = sent_id, at + 1, form, head, arc, best, best_prob
            if self.labels and self._of_labels:
                cells += self._cells_of_label(self._of_labels, self.labels, at)
            ranked.append(Ranked((prob, -doubt), 1, cells))
        return ranked

    def _cells_of_label(self, doubts: WordDoubts, labels: Labels, at: int) -> tuple[Any, ...]:
        prob, label = float(doubts.probs[0, at]), self._deprels[at]
        given = None if label == UNKNOWN else label, None if isnan(prob) else prob
        return *given, labels.names[doubts.best[0, at]], float(doubts.best_probs[0, at])

    def _sentence(self, number: int) -> list[Ranked]:
        """Itself, unless what it is ranked by needs heads that it has not."""
        by = self.how.by
        assert by is not None
        values = {name: found[number] for name, found in self._values.items()}
        if values[by.field] is None:
            return []
        order = values[by.order or by.field]
        written: InRank | tuple[Any, ...]
        if self.how.conllu:
            block = self.blocks[number]
            if block is None:
                raise no_sentences()
            written = InRank(with_doubts(block, self._doubts[number], self.how.threshold, _comments(values, by)))
        else:
            values["tree_logprob"] = None if values["tree_logprob"] == -inf else values["tree_logprob"]
            written = tuple(values[name] for name in SENTENCES)
        return [Ranked((by.key(order),), self.n, written)]

    @cached_property
    def _values(self) -> dict[str, Sequence[Any]]:
        whole = np.array(self._known) == self.n
        log_probs = _known(np.where(whole, self.log_probs() if whole.any() else np.nan, np.nan))
        return {
            "sent_id": self.sent_ids,
            "n": [self.n] * len(self.sent_ids),
            "suspects": (self._doubts > self.how.threshold).sum(axis=1).tolist(),
            "expected_errors": _known(expected_errors(self._doubts)),
            "entropy": self.entropies().tolist(),
            "least_margin": _known(least_margin(self.marginals, self.heads)),
            "tree_prob": [None if each is None else exp(each) for each in log_probs],
            "tree_logprob": log_probs,
            "disagreement": disagreement(self.marginals).tolist(),
        }


def with_doubts(block: Block, doubts: Float, threshold: float, comments: Sequence[str]) -> bytes:
    """The sentence as it is, with `Doubt` in MISC of words of more than a threshold, and comments behind its own.

    It can stand anywhere in a file: without a byte order mark, and with an empty line behind it.
    """
    notes = {
        word: f"{KEY}={probability(doubt)}" if doubt > threshold else ""
        for word, doubt in enumerate(doubts.tolist(), 1)
    }
    data = block.with_notes(notes, comments, instead=frozenset({KEY.encode()}))
    return block.chunk.header + data[block.start :].rstrip(b"\r\n") + 2 * block.newline.encode()


@dataclass(frozen=True, slots=True)
class Doubted:
    of: Annotated
    number: int

    @property
    def counted(self) -> Counts:
        return self.of.counts(self.number)


def _known(values: Float) -> list[float | None]:
    return [None if isnan(each) else each for each in values.tolist()]


def _comments(values: dict[str, Any], by: Criterion) -> list[str]:
    fields = dict.fromkeys(("expected_errors", by.order or by.field, by.field))
    shown = {name: values[name] for name in fields if values[name] is not None and isfinite(values[name])}
    texts = {name: probability(value, 6) if name == "tree_prob" else f"{value:.6f}" for name, value in shown.items()}
    return [f"# {name} = {text}" for name, text in texts.items()]


@dataclass(frozen=True)
class Doubt(Work[Doubted]):
    """The work on sentences, which are ranked by something, or their words (None)."""

    by: Criterion | None
    threshold: float
    conllu: bool

    in_batches = True

    def one(self, sentence: ScoredSentence, _: None) -> Doubted:
        distribution, block = sentence.distribution, sentence.record.block
        heads = _heads(block, distribution.n)[None]
        asked = lambda: np.array([distribution.entropy()]), lambda: distribution.log_probs(heads)
        marginals = distribution.marginals()[None]
        return Doubted(Annotated(self, [sentence.id], [block], heads, marginals, *asked, distribution.labels), 0)

    def batch(self, sentences: ScoredBatch, _: None) -> list[Doubted]:
        from deptree_cli.core.blocks import alike  # loads kernels: when there is work

        trees, found = sentences.trees, dict[int, Doubted]()
        for some in alike(trees.lengths):
            blocks = [sentences.records[row].block for row in some.rows]
            heads = np.array([_heads(block, some.n) for block in blocks])
            names = [sentences.records[row].sent_id for row in some.rows]
            log_probs = partial(trees.log_probs, some.rows, heads, trees.sums[0])
            asked = partial(lambda rows: trees.entropies[rows], some.rows), log_probs
            these = Annotated(self, names, blocks, heads, some.of_arcs(trees.marginals), *asked)
            found.update((row, Doubted(these, number)) for number, row in enumerate(some.rows.tolist()))
        return [found[row] for row in range(len(trees.lengths))]


def _heads(block: Block | None, n: int) -> Heads:
    return block.known_heads if block else np.full(n, -1, dtype=np.int32)
