"""``deptree doubt``: doubts about words and trees, ranked; as rows, or as notes in the sentences."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import exp, inf, isfinite, isnan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli.options import FloatRange, IntRange, check_effect, command, entry, opt, use
from deptree_cli.cli.run import Fold, Job, Run, layout_doubts
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.write import ROWS, TABLE, Out
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
from deptree_cli.io.sentence import Sentence

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

# Of several files.
PLACES = ("file", "line")

# In MISC: the probability that the annotation is wrong; and what somebody says of words, which are left out.
KEY, FINE = "Doubt", b"DoubtNote=fine"

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
def doubt(
    scores: Scores = use(Scores, lacks=["fix_heads"]),
    per: str | None = opt(
        "--per", type=click.Choice([WORD, SENTENCE]), metavar="UNIT", help="Rank by word or sentence.  [default: word]"
    ),
    by: Criterion | None = entry(
        CRITERIA, "--rank", default=None, help="Rank sentences by: {names}.", name=attrgetter("line")
    ),
    top: int | None = opt("--top", type=IntRange(1), metavar="N", help="Keep the first N; this also limits memory."),
    most: int | None = opt("--words", type=IntRange(1), metavar="N", help="Keep sentences by rank, up to N words."),
    threshold: float = opt(
        "--threshold",
        type=FloatRange(0, 1),
        default=0.5,
        metavar="P",
        often=False,
        help="A word is a suspect if its annotation is wrong with a probability above this.  [default: 0.5]",
    ),
    out: Out = use(Out, formats=(*ROWS, CONLLU.name)),
    run: Run = use(Run),
) -> int:
    """Rank annotated words, or sentences, the most doubtful first.

    Writes a row per word (JSON Lines; a table on a terminal): the probability of its head, and the most probable head;
    with --labels, the probability of head and label decides the rank. --rank, --words and --format conllu rank
    sentences. Words with DoubtNote=fine in MISC are left out. For broken rules use check or repair.
    """
    if written := out.encoder(run.output) is CONLLU:
        scores.check_words()
    sentences = written or most is not None or by is not None
    if per == WORD and sentences:
        raise click.UsageError("--rank, --words and CoNLL-U output need --per sentence.")
    ranked_by = (by or CRITERIA.get("expected-errors")) if sentences or per == SENTENCE else None
    if (ranked_by is None or ranked_by.of_annotation) and not scores.conllu:
        raise click.UsageError(f"There are no annotated heads. {NO_HEADS}.")
    if not (ranked_by and scores.conllu):
        check_effect(["threshold"], "--per sentence and annotated heads: only these rows count suspects")
    of = {"rank": ranked_by.name, "threshold": threshold} if ranked_by else {}
    fields = {"per": SENTENCE if ranked_by else WORD, **of, "top": top, "words": most}
    job = Job("doubt", replace(scores.source(run), is_conllu=False), run, out, last=fields)
    columns = SENTENCES if ranked_by else (*HEADS, *LABELS * (scores.how.labels is not None))
    several = len(scores.files) > 1
    columns = (*columns, *PLACES * several, RANK)
    shown = SHOWN if job.encoder is TABLE and top is None and most is None else None
    ranking = Ranking(columns, ranked_by, top, most, shown, scores.files[0].conllu or scores.place)
    return job.summarise(Doubt(ranked_by, threshold, job.encoder is CONLLU, several), ranking, Sheet(columns))


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

    attribute = ""

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
        found, left = list[tuple[int, tuple[Any, ...] | InRank]](), self._words_in_all or inf
        for rank, (*_, each) in enumerate(sorted(self._kept, reverse=True), 1):
            if len(found) != self._shown and each.words <= left:
                left -= each.words * bool(self._words_in_all)
                found.append((rank, each.written))
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
            yield f"{counted(self._unknown, 'word')} whose DEPREL is not in --labels: only their heads are doubted"
        if self._left_out:
            yield f"{counted(self._left_out, 'sentence')} left out: they lack HEADs that --rank needs"
        if self._words:
            of = f"{counted(self._words, 'annotated word')} of {counted(self._sentences, 'sentence')}"
            yield f"{self._errors:.1f} of {of} are wrong, if the probabilities are right"
            yield from layout_doubts(self._errors, self._words)
        if self._shown and self._written == self._shown < self._all:
            yield f"these are the first {self._shown} of {self._all}: --top N shows more, --json or -o FILE has all"


class Doubted(NamedTuple):
    """Sentences of one length, with what is doubted in them.

    Attributes:
        heads: (b, n), the annotated ones, -1 where there is none.
        arcs: doubts about these.
        labels, of_labels, deprels: of the one sentence that there is, if scores tell labels; doubts about its labels.
        doubts, probs: (b, n), of head and label, where both are known, else of the head; doubts are NaN where there is
            no head, or somebody says that it is fine.
        known, errors: how many words have a head; how many of these are expected to be wrong.
        values: of sentences, if these are ranked.
    """

    records: Sequence[Sentence]
    heads: Heads
    arcs: WordDoubts
    labels: Labels | None
    of_labels: WordDoubts
    deprels: Sequence[str]
    doubts: Float
    probs: Float
    known: list[int]
    errors: list[float]
    values: Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Doubt:
    """The work on sentences, which are ranked by something, or their words (None)."""

    by: Criterion | None
    threshold: float
    conllu: bool
    several: bool

    in_batches = True

    def __call__(self, sentence: ScoredSentence, _: None) -> Counts:
        of_many: Counts | None = sentence.ask(self.of_many)
        if of_many is not None:
            return of_many
        found, record = sentence.distribution, sentence.record
        heads = _heads(record.block, found.n)[None]
        asked = lambda: np.array([found.entropy()]), lambda: found.log_probs(heads)
        return self._counts(self._doubted([record], heads, found.marginals()[None], *asked, found.labels), 0)

    def of_many(self, sentences: ScoredBatch, _: None) -> list[Counts | None]:
        from deptree_cli.core.blocks import alike  # loads kernels: when there is work

        trees, found = sentences.trees, dict[int, Counts | None]()
        for some in alike(trees.lengths):
            records = [sentences.records[row] for row in some.rows]
            heads = np.array([_heads(each.block, some.n) for each in records])
            log_probs = partial(trees.log_probs, some.rows, heads, trees.sums[0])
            asked = partial(lambda rows: trees.entropies[rows], some.rows), log_probs
            these = self._doubted(records, heads, some.of_arcs(trees.marginals), *asked)
            for at, row in enumerate(some.rows.tolist()):
                found[row] = None
                with suppress(DeptreeError):  # of one sentence, which is told of it by itself
                    found[row] = self._counts(these, at)
        return [found[row] for row in range(len(trees.lengths))]

    def _doubted(
        self,
        records: Sequence[Sentence],
        heads: Heads,
        marginals: Float,
        entropies: Callable[[], Float],
        log_probs: Callable[[], Float],
        labels: Labels | None = None,
    ) -> Doubted:
        arcs, deprels = doubts_of_heads(marginals, heads), [UNKNOWN] * heads.shape[1]
        of_labels = arcs
        if labels is not None:
            deprels = records[0].block.deprels if records[0].block else deprels
            names = {name: number for number, name in enumerate(labels.names)}
            numbers = np.array([[names.get(label, -1) for label in deprels]], dtype=np.int32)
            of_labels = doubts_of_labels(arcs, heads, numbers, labels.log_probs)
        doubts = np.where(np.isnan(of_labels.doubts), arcs.doubts, of_labels.doubts)
        probs = np.where(np.isnan(of_labels.probs), arcs.probs, of_labels.probs)
        for row, block in zip(doubts, (each.block for each in records), strict=True):
            if block and FINE in block.raw:
                notes = [misc.split(b"|") for number, misc in block.cells("id", "misc") if number.isdigit()]
                row[[at for at, some in enumerate(notes) if FINE in (each.partition(b":")[0] for each in some)]] = (
                    np.nan
                )
        known, values = (heads >= 0).sum(axis=1), dict[str, Sequence[Any]]()
        if self.by:
            whole = known == heads.shape[1]
            of_trees = _known(np.where(whole, log_probs() if whole.any() else np.nan, np.nan))
            values = {
                "sent_id": [each.sent_id for each in records],
                "n": [heads.shape[1]] * len(records),
                "suspects": (doubts > self.threshold).sum(axis=1).tolist(),
                "expected_errors": _known(expected_errors(doubts)),
                "entropy": entropies().tolist(),
                "least_margin": _known(least_margin(marginals, heads)),
                "tree_prob": [None if each is None else exp(each) for each in of_trees],
                "tree_logprob": of_trees,
                "disagreement": disagreement(marginals).tolist(),
            }
        sums = known.tolist(), np.nansum(doubts, axis=1).tolist()
        return Doubted(records, heads, arcs, labels, of_labels, deprels, doubts, probs, *sums, values)

    def _counts(self, found: Doubted, at: int) -> Counts:
        ranked = self._sentence(found, at) if self.by else self._words(found, at)
        names = () if found.labels is None else found.labels.names
        unknown = sum(label != UNKNOWN and label not in names for label in found.deprels)
        return Counts(ranked, found.known[at], found.errors[at], unknown)

    def _words(self, found: Doubted, number: int) -> list[Ranked]:
        record, arcs = found.records[number], found.arcs
        if (block := record.block) is None:
            raise no_sentences()
        ranked, names = [], () if found.labels is None else found.labels.names
        columns = found.doubts, found.probs, found.heads, arcs.probs, arcs.best, arcs.best_probs
        words = zip(block.column("form"), *(each[number].tolist() for each in columns), strict=True)
        for at, (form, doubt, prob, head, arc, best, best_prob) in enumerate(words):
            if isnan(doubt):
                continue
            cells: tuple[Any, ...] = record.sent_id, at + 1, form, head, arc, best, best_prob
            if names:
                label, (labelled, _, top, top_prob) = found.deprels[at], (each[0, at] for each in found.of_labels)
                given = None if label == UNKNOWN else label, None if isnan(labelled) else float(labelled)
                cells += *given, names[top], float(top_prob)
            if self.several:
                cells += block.file, block.line_of(at + 1)
            ranked.append(Ranked((prob, -doubt), 1, cells))
        return ranked

    def _sentence(self, found: Doubted, number: int) -> list[Ranked]:
        """Itself, unless what it is ranked by needs heads that it has not."""
        by, block = self.by, found.records[number].block
        assert by is not None
        values = {name: of[number] for name, of in found.values.items()}
        if values[by.field] is None:
            return []
        order = values[by.order or by.field]
        written: InRank | tuple[Any, ...]
        if self.conllu:
            if block is None:
                raise no_sentences()
            written = InRank(with_doubts(block, found.doubts[number], self.threshold, _comments(values, by)))
        else:
            values["tree_logprob"] = None if values["tree_logprob"] == -inf else values["tree_logprob"]
            place = (block.file, block.line) if block else (found.records[number].place, None)
            written = (*(values[name] for name in SENTENCES), *(place if self.several else ()))
        return [Ranked((by.key(order),), found.heads.shape[1], written)]


def _heads(block: Block | None, n: int) -> Heads:
    return block.known_heads if block else np.full(n, -1, dtype=np.int32)


def _known(values: Float) -> list[float | None]:
    return [None if isnan(each) else each for each in values.tolist()]


def _comments(values: dict[str, Any], by: Criterion) -> list[str]:
    fields = dict.fromkeys(("expected_errors", by.order or by.field, by.field))
    shown = {name: values[name] for name in fields if values[name] is not None and isfinite(values[name])}
    texts = {name: probability(value, 6) if name == "tree_prob" else f"{value:.6f}" for name, value in shown.items()}
    return [f"# {name} = {text}" for name, text in texts.items()]


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
