"""``deptree doubt``: doubts about words and trees, ranked; as rows, or as notes in the sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
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

# So many are kept, beside twice as many as shall be, before those that are too many go.
ROOM = 1000

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
    if (ranked_by is None or ranked_by.of_annotation) and not scores.has_sentences:
        raise click.UsageError(f"There are no annotated heads. {NO_HEADS}.")
    if not (ranked_by and scores.has_sentences):
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


@dataclass(eq=False)
class Ranking(Fold[Counts]):
    """Keeps what is ranked, with `top` only this many, and sums up what was read; without `by` words are ranked.

    Of these are written, in their order, the first that are `shown` (None: all), and fit into `most` words.
    """

    columns: Sequence[str]
    by: Criterion | None
    top: int | None
    most: int | None
    shown: int | None
    place: str

    attribute = ""

    def __post_init__(self) -> None:
        self._limit = self.top or (None if self.most else self.shown)
        self._kept: list[tuple[tuple[float, ...], int, Ranked]] = []
        self._all = self._written = self._sentences = self._words = self._unknown = self._left_out = 0
        self._errors = 0.0

    def add(self, counts: Counts) -> None:
        self._sentences += 1
        self._words += counts.words
        self._errors += counts.errors
        self._unknown += counts.unknown
        self._left_out += self.by is not None and not counts.ranked
        for each in counts.ranked:
            self._all += 1
            self._kept.append((each.key, self._all, each))
        if self._limit and len(self._kept) > ROOM + 2 * self._limit:
            self._kept = sorted(self._kept)[: self._limit]

    def rows(self) -> Sequence[Any]:
        if self._sentences and not self._words and (self.by is None or self.by.of_annotation):
            raise DeptreeError("no word has a HEAD", NO_HEADS, place=self.place)
        self._kept = sorted(self._kept)[: self._limit]
        found, left = list[Any](), self.most or inf
        for rank, (*_, each) in enumerate(self._kept, 1):
            if len(found) != self.shown and each.words <= left:
                left -= each.words * bool(self.most)
                row = each.written
                found.append(row if isinstance(row, InRank) else dict(zip(self.columns, (*row, rank), strict=True)))
        self._written = len(found)
        return found

    def lines(self) -> Iterator[str]:
        if not self._all and not self._left_out:
            yield f"nothing to rank: {'all words are marked as fine' if self._words else 'there are no sentences'}"
        if self._kept and not self._written:
            n, of = min(one.words for *_, one in self._kept), counted(len(self._kept), "sentence")
            yield f"nothing fits into --words {self.most}: the shortest of {of} has {counted(n, 'word')}"
        if self._unknown:
            yield f"{counted(self._unknown, 'word')} whose DEPREL is not in --labels: only their heads are doubted"
        if self._left_out:
            yield f"{counted(self._left_out, 'sentence')} left out: they lack HEADs that --rank needs"
        if self._words:
            of = f"{counted(self._words, 'annotated word')} of {counted(self._sentences, 'sentence')}"
            yield f"{self._errors:.1f} of {of} are wrong, if the probabilities are right"
            yield from layout_doubts(self._errors, self._words)
        if self.shown and self._written == self.shown < self._all:
            yield f"these are the first {self.shown} of {self._all}: --top N shows more, --json or -o FILE has all"


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
        return self._of_alike([record], heads, found.marginals()[None], *asked, found.labels)[0]

    def of_many(self, sentences: ScoredBatch, _: None) -> list[Counts]:
        from deptree_cli.core.blocks import alike  # loads kernels: when there is work

        trees, found = sentences.trees, dict[int, Counts]()
        for some in alike(trees.lengths):
            records = [sentences.records[row] for row in some.rows]
            heads = np.array([_heads(each.block, some.n) for each in records])
            log_probs = partial(trees.log_probs, some.rows, heads, trees.sums[0])
            asked = partial(lambda rows: trees.entropies[rows], some.rows), log_probs
            these = self._of_alike(records, heads, some.of_arcs(trees.marginals), *asked)
            found |= dict(zip(some.rows.tolist(), these, strict=True))
        return [found[row] for row in range(len(trees.lengths))]

    def _of_alike(
        self,
        records: Sequence[Sentence],
        heads: Heads,
        marginals: Float,
        entropies: Callable[[], Float],
        log_probs: Callable[[], Float],
        labels: Labels | None = None,
    ) -> list[Counts]:
        """What sentences of one length count for; heads: (b, n), the annotated ones, -1 where there is none.

        If scores tell labels there is one sentence. Doubts are about head and label, where both are known, else about
        the head; NaN where there is no head, or somebody says that it is fine.
        """
        arcs, n = doubts_of_heads(marginals, heads), heads.shape[1]
        doubts, probs, deprels, more = arcs.doubts, arcs.probs, [UNKNOWN] * n, list[tuple[Any, ...]]([()] * n)
        names = () if labels is None else labels.names
        if labels is not None:
            deprels = records[0].block.deprels if records[0].block else deprels
            numbers = {name: number for number, name in enumerate(names)}
            given = np.array([[numbers.get(label, -1) for label in deprels]], dtype=np.int32)
            of_labels = doubts_of_labels(arcs, heads, given, labels.log_probs)
            doubts = np.where(np.isnan(of_labels.doubts), doubts, of_labels.doubts)
            probs = np.where(np.isnan(of_labels.probs), probs, of_labels.probs)
            own, best = [None if label == UNKNOWN else label for label in deprels], of_labels.best[0].tolist()
            columns = own, _known(of_labels.probs[0]), map(names.__getitem__, best), of_labels.best_probs[0].tolist()
            more = list(zip(*columns, strict=True))
        for row, block in zip(doubts, (each.block for each in records), strict=True):
            if block and FINE in block.raw:
                notes = [misc.split(b"|") for number, misc in block.cells("id", "misc") if number.isdigit()]
                row[[FINE in (each.partition(b":")[0] for each in some) for some in notes]] = np.nan
        if by := self.by:
            whole, ranked = (heads >= 0).all(axis=1), list[list[Ranked]]()
            of_trees = _known(np.where(whole, log_probs() if whole.any() else np.nan, np.nan))
            values = {
                "sent_id": [each.sent_id for each in records],
                "n": [n] * len(records),
                "suspects": (doubts > self.threshold).sum(axis=1).tolist(),
                "expected_errors": _known(expected_errors(doubts)),
                "entropy": entropies().tolist(),
                "least_margin": _known(least_margin(marginals, heads)),
                "tree_prob": [None if each is None else exp(each) for each in of_trees],
                "tree_logprob": of_trees,
                "disagreement": disagreement(marginals).tolist(),
            }
            for record, of_words, found in zip(records, doubts, zip(*values.values(), strict=True), strict=True):
                fields = dict(zip(values, found, strict=True))
                ranked.append([])
                if (key := fields[by.order or by.field]) is not None:  # else it needs heads that are not annotated
                    ranked[-1].append(Ranked((by.key(key),), n, self._written(by, record, of_words, fields)))
        else:
            cells = (each.tolist() for each in (doubts, probs, heads, arcs.probs, arcs.best, arcs.best_probs))
            ranked = [self._words(each, [*rows, more]) for each, *rows in zip(records, *cells, strict=True)]
        unknown = sum(label != UNKNOWN and label not in names for label in deprels)
        sums = (heads >= 0).sum(axis=1).tolist(), np.nansum(doubts, axis=1).tolist()
        return [Counts(*each, unknown) for each in zip(ranked, *sums, strict=True)]

    def _words(self, record: Sentence, columns: Sequence[Sequence[Any]]) -> list[Ranked]:
        if (block := record.block) is None:
            raise no_sentences()
        ranked, words = [], zip(count(1), block.column("form"), *columns, strict=False)
        for word, form, doubt, prob, *cells, of_label in words:
            if not isnan(doubt):
                place = (block.file, block.line_of(word)) if self.several else ()
                ranked.append(Ranked((prob, -doubt), 1, (record.sent_id, word, form, *cells, *of_label, *place)))
        return ranked

    def _written(
        self, by: Criterion, record: Sentence, doubts: Float, values: dict[str, Any]
    ) -> InRank | tuple[Any, ...]:
        """A row; or the sentence as it is, with `Doubt` in MISC of suspects, and comments behind its own.

        It can stand anywhere in a file: without a byte order mark, and with an empty line behind it.
        """
        block = record.block
        if not self.conllu:
            log_prob = None if values["tree_logprob"] == -inf else values["tree_logprob"]
            place = (block.file, block.line) if block else (record.place, None)
            return (*(values | {"tree_logprob": log_prob}).values(), *(place if self.several else ()))
        if block is None:
            raise no_sentences()
        fields = dict.fromkeys(("expected_errors", by.order or by.field, by.field))
        shown = {name: values[name] for name in fields if values[name] is not None and isfinite(values[name])}
        comments = [
            f"# {name} = {probability(value, 6) if name == 'tree_prob' else f'{value:.6f}'}"
            for name, value in shown.items()
        ]
        notes = {
            word: f"{KEY}={probability(doubt)}" if doubt > self.threshold else ""
            for word, doubt in enumerate(doubts.tolist(), 1)
        }
        data = block.with_notes(notes, comments, instead=frozenset({KEY.encode()}))
        return InRank(block.chunk.header + data[block.start :].rstrip(b"\r\n") + 2 * block.newline.encode())


def _heads(block: Block | None, n: int) -> Heads:
    return block.known_heads if block else np.full(n, -1, dtype=np.int32)


def _known(values: Float) -> list[float | None]:
    return [None if isnan(each) else each for each in values.tolist()]
