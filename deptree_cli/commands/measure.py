"""``deptree measure``: quantities of trees, what each comes to by chance, and the means of both; or a row a word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, compress, count, pairwise, repeat
from typing import Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.help import READING, Listing
from deptree_cli.cli.options import INPUT, check_effect, command, flag, opt, use
from deptree_cli.cli.rule_options import SPACE, Space
from deptree_cli.cli.run import Fold, Job, Run, Source
from deptree_cli.cli.score_options import Scores, beside
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import ROWS, TABLE, Out
from deptree_cli.core import errors
from deptree_cli.core.chance import moments, of_random_trees
from deptree_cli.core.dtypes import Array, Float, Int
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.evaluation import PUNCTUATION, universal
from deptree_cli.core.intervals import CONFIDENCE, RESAMPLES, treebank_means
from deptree_cli.core.measures import OfTree, OverArcs, Reduction, arc_shapes, words_of
from deptree_cli.core.quantities import NUMBERS
from deptree_cli.core.spaces import NonProjective, TreeSpace
from deptree_cli.core.streams import stream_of
from deptree_cli.io.conllu.blocks import Block, columns_of, surface_tokens
from deptree_cli.io.conllu.columns import decoded
from deptree_cli.io.encoders.base import Row, Sheet, cells, numbers_as_cells
from deptree_cli.io.files.streams import check_readable, share_of
from deptree_cli.io.read import sentence_of
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees import blocks_of, sentences_that_are_trees, tree_of
from deptree_cli.kernels.budget import foresee

HELP = """Measure dependency lengths, direction, depth and crossings of trees, and compare them with chance.

Writes means over sentences with bootstrap intervals: a row for each quantity of the trees, and a row for each of its
baselines: the same trees with their words in random or in the shortest order (exact), random trees, and, with --scores,
the parser's expectation.

`difference` is the mean of the trees minus the baseline. Sums over arcs have exact expectations. Other quantities need
-k sampled trees; `error` is the standard error due to sampling. `sd` is the standard deviation within a sentence.

--per word writes a row for each word and its arc: `length` is head - word, positive where the head follows, null for
roots; `depth` is the number of arcs to the root; `crossed`: another arc crosses it; `nonprojective`: a word between the
two does not descend from the head.
"""

WORD, SENTENCE, TREEBANK = "word", "sentence", "treebank"

# What a table has unless quantities are asked for; everything else has all.
SHOWN = ("length", "mean_length", "optimality", "head_final", "depth", "crossings")

# Whose the numbers of a column are: the tree's own, and what chance makes them.
TREES, RANDOM_TREES, PARSER = "trees", "random_trees", "parser"

# The quantity that all trees of a sentence share.
LENGTH = "length"

# The role under which a sentence has the comments that are asked for.
COMMENTS = "comments"

# How many steps of Python a word costs, for `foresee`, and each word that an arc passes: elements of a dozen loops.
STEPS, PASSED = 150, 2

# The columns of means, and what a table shows of them.
MEANS = (
    *("quantity", "of", "sentences", "mean", "low", "high"),
    *("difference", "difference_low", "difference_high", "sd", "error"),
)
HEADINGS = ("quantity", "of", "mean", "low", "high", "difference")

# The columns of words behind their sentences'.
WORDS = (*("word", "form", "upos", "deprel", "head_deprel", "length", "depth"), "crossed", "nonprojective")


@command(
    help=HELP,
    listing=Listing("Quantities", NUMBERS, lambda entry: f"{entry.name}:\n  {entry.summary}"),
    gone={
        "--by": "--per sentence or word with --comment KEY writes rows to group",
        "--compare": "--per sentence writes rows to compare",
        "--confidence": "intervals cover 95 %",
        "--resamples": f"intervals are from {RESAMPLES:,} resamples",
        "--plot": "--per sentence writes rows to draw",
    },
)
def measure(
    trees: tuple[str, ...] = opt(metavar="TREES...", many=True, type=INPUT),
    per: str = opt(
        "--per",
        type=click.Choice([WORD, SENTENCE, TREEBANK]),
        default=TREEBANK,
        metavar="UNIT",
        help="Write rows of each word or sentence, or means of the treebank: word, sentence or treebank."
        "  [default: treebank]",
    ),
    names: tuple[str, ...] = opt(
        "--quantity",
        many=True,
        metavar="NAME",
        shell_complete=NUMBERS.complete,
        help="What to measure; may be repeated.  [default: all; in a table some]",
    ),
    comments: tuple[str, ...] = opt(
        "--comment",
        many=True,
        metavar="KEY",
        help="Add a comment, also of the document, to rows of words or sentences, such as genre; may be repeated.",
    ),
    size: int | None = options.size(None, "Trees to sample for quantities that are not sums over arcs.", "none"),
    seed: int = options.seed(),
    no_punct: bool = flag(
        "--no-punct",
        section=READING,
        often=True,
        help="Leave out punctuation (label punct); its dependents go to its head.",
    ),
    tokens: bool = flag("--tokens", section=READING, help="Take each multiword token as one word."),
    scores: Scores | None = beside(
        "Arc scores of the same sentences: what the parser expects.", lacks=["lengths", "label_scores"], but=SPACE
    ),
    space: Space = use(Space),
    out: Out = use(Out, formats=ROWS),
    run: Run = use(Run, lacks=["shard"]),
) -> int:
    if per == TREEBANK:
        check_effect(["comments"], "rows: --per sentence or --per word")
    elif per == WORD:
        check_effect(["names", "size", "scores", "tokens"], "--per sentence or --per treebank")
    comments = tuple(dict.fromkeys(comments))
    packing = Packing(scores.how.space if scores else space.trees, no_punct, tokens)
    how = {"punct": "no" if no_punct else None, "words": "tokens" if tokens else None}
    first = {"per": per, "quantities": "+".join(names) or None, **({} if scores else space.signature_fields), **how}
    drawn_seed = None if size is None else seed
    of_means = {"confidence": CONFIDENCE, "resamples": RESAMPLES, "seed": seed}
    last: dict[str, object] = {"size": size, **(of_means if per == TREEBANK else {"seed": drawn_seed})}
    last["comments"] = "+".join(comments) or None
    job = Job("measure", _source(trees, scores, packing, comments, run), run, out, first, last)
    if per == WORD:
        several = len(trees) > 1
        return job.write(WordRows(comments, several), sheet=_sheet(["sent_id", *["file"] * several], comments, WORDS))
    in_table = job.encoder is TABLE
    asked = tuple(NUMBERS.get(name).name for name in dict.fromkeys(names))
    chosen = asked or (SHOWN if in_table else tuple(NUMBERS.names))
    work = Measure(chosen, packing.space, size, drawn_seed, scores is not None, no_punct or tokens, comments)
    if size is not None and not any(field.kind == ERROR for field in work.fields):
        why = "-k samples trees for quantities that are not sums over arcs, but all of these are"
        raise click.UsageError(f"{why}. Remove it.")
    if per == SENTENCE:
        fields = [f"{each.outer}.{each.quantity}".removeprefix(".") for _, each in work.shown]
        behind = [name for name in chosen if name != LENGTH] if in_table else fields
        return job.write(work, drawn_seed, _sheet(["sent_id", "file"], comments, [LENGTH, *behind]))
    shown = {name: name for name in (*HEADINGS, *["error"] * bool(size))}
    sheet = Sheet(MEANS, "measure", shown if in_table else None)
    return job.summarise(work, Treebank(work.fields, seed), sheet, drawn_seed)


def _sheet(first: Sequence[str], comments: Sequence[str], others: Sequence[str]) -> Sheet:
    for key in comments:
        if key in (*first, *others):
            raise click.UsageError(f"Rows have {key} as it is. Remove --comment {key}.")
    return Sheet([*first, *comments, *others], "measure")


def _source(
    trees: tuple[str, ...], scores: Scores | None, packing: Packing, comments: Sequence[str], run: Run
) -> Source[Any, Any]:
    """The sentences, each with the comments that are asked for; trees without words have none."""
    if scores is None:
        check_readable(trees if len(trees) > 1 else ())
        read = map(sentence_of, chain.from_iterable(map(blocks_of, trees)), count(1))
        return Source(Counted(with_comments(read, comments, run), share=share_of(trees)), packing)
    if len(trees) > 1:
        raise click.UsageError(f"--scores belong to one file of trees, but there are {len(trees)}. Give one.")
    files = (replace(scores.files[0], conllu=trees[0]),)
    source = replace(scores, files=files).source(run)
    items = Counted(with_comments(source.items, comments, run), share=share_of(trees))
    return Source(items, partial(scored_packing, scores.how, packing), source.signature_fields)


def with_comments(
    items: Iterable[Sentence | DeptreeError], keys: Sequence[str], run: Run
) -> Iterator[Sentence | DeptreeError]:
    """The items, each sentence with its comments of these keys.

    Those under `# newdoc` are of all sentences of the document that have none of their own; `newdoc`, `newpar` and
    `meta::`, wherever they stand, of all that follow, up to the next.
    """
    held: dict[str, str] = {}
    found: set[str] = set()
    for item in items:
        if keys and isinstance(item, Sentence):
            block = item.sentence
            own = {key: value for key in keys if (value := block.comment(key))}
            if begins := _NEW_DOCUMENT.search(block.raw):
                held = {key: value for key, value in held.items() if key.startswith(("newdoc", "newpar"))}
            held |= {key: own[key] for key in own if begins or key.startswith(("newdoc", "newpar", "meta::"))}
            item.companions[COMMENTS] = [own.get(key, held.get(key)) for key in keys]
            found |= {*own}
        yield item
    for key in keys:
        if key not in found:
            run.warn(key, f"no sentence has the comment {key!r}")


_NEW_DOCUMENT = re.compile(rb"^#[^\S\n]*newdoc\b", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class PackedTrees:
    """The trees of sentences, of which `places` are the numbers among those that there were.

    `heads` are those of all words, (words,), 0 for ROOT; `starts`, (sentences + 1,), is where each sentence begins and
    the last one ends; `reductions` are empty if trees are whole.
    """

    places: Sequence[int]
    read: Sequence[Sentence]
    heads: Int
    starts: Int
    reductions: Sequence[Reduction] = ()

    @property
    def lengths(self) -> Int:
        return np.diff(self.starts)

    def about(self, keys: Sequence[str], has_file: bool = True) -> dict[str, Sequence[Any]]:
        """The columns that say which sentences these are, with comments of these keys."""
        found: dict[str, Sequence[Any]] = {"sent_id": [each.sent_id for each in self.read]}
        found |= {"file": [each.sentence.file for each in self.read]} if has_file else {}
        return found | {key: [each.companions[COMMENTS][at] for each in self.read] for at, key in enumerate(keys)}


@dataclass(frozen=True)
class Packing:
    """How sentences become packed trees, which have to be of the space; it travels to worker processes."""

    space: TreeSpace
    no_punct: bool = False
    tokens: bool = False

    def __call__(self, read: Sentence) -> PackedTrees:
        heads = np.array(tree_of(read.sentence).heads, dtype=np.int64)
        if not self.space.contains(heads[None])[0]:
            self._check_roots(heads, "the tree")
            problem = f"the tree is not one of the {self.space.trees}"
            raise DeptreeError(problem, "Choose another tree space, or correct it")
        return self._packed([(0, read, heads)])

    def batch(self, read: Sequence[Sentence]) -> PackedTrees | None:
        found = [
            (place, each, np.array(heads, dtype=np.int64))
            for place, each in enumerate(read)
            if None not in (heads := each.sentence.heads)
        ]
        if found:
            own = [heads for *_, heads in found]
            sound = sentences_that_are_trees(np.concatenate(own), np.cumsum([0, *map(len, own)])).tolist()
            found = [each for each in compress(found, sound) if self._is_of_space(each[2])]
        with suppress(DeptreeError):  # of one sentence, which is told of it by itself
            return self._packed(found) if found else None
        return None

    def _is_of_space(self, tree: Int) -> bool:
        if isinstance(self.space, NonProjective):  # roots are quickly counted
            return not self.space.single_root or np.count_nonzero(tree == 0) == 1
        return bool(self.space.contains(tree[None])[0])

    def _packed(self, found: Sequence[tuple[int, Sentence, Int]]) -> PackedTrees:
        places, read, heads = map(list, zip(*found, strict=True))
        reductions = [self._reduction(each.sentence) for each in read] if self.no_punct or self.tokens else []
        for number, (each, reduction) in enumerate(zip(read, reductions, strict=False)):
            heads[number] = reduction.of(heads[number][None])[0]
            if not len(heads[number]):
                raise DeptreeError("no word is left without punctuation", "Leave this sentence out", place=each.place)
            self._check_roots(heads[number], "the root is punctuation, and without it the tree", each.place)
        return PackedTrees(places, read, np.concatenate(heads), np.cumsum([0, *map(len, heads)]), reductions)

    def _reduction(self, block: Block) -> Reduction:
        labels = block.deprels if self.no_punct else [""] * block.n
        sizes = [each.last - each.first + 1 for each in surface_tokens(block)] if self.tokens else []
        units = np.repeat(np.arange(len(sizes)), sizes) if self.tokens else None
        return Reduction(np.array([universal(label) == PUNCTUATION for label in labels], dtype=bool), units)

    def _check_roots(self, heads: Int, what: str, place: str = "") -> None:
        roots, setting = int(np.count_nonzero(heads == 0)), errors.SEVERAL_ROOTS
        if self.space.single_root and roots > 1:
            remedy = f"Add {setting}, or correct the tree, for example with deptree repair"
            raise DeptreeError(f"{what} has {counted(roots, 'root')}", remedy, place=place, options=(setting,))


def scored_packing(how: Interpretation, packing: Packing, read: Sentence) -> tuple[PackedTrees, ScoredSentence]:
    trees = packing(read)  # first: it names what is wrong with the tree
    return trees, how(read)


# What numbers are: of a tree itself or an expectation, a standard deviation, an error due to sampling.
KINDS = MEAN, SD, ERROR = "mean", "sd", "error"


class SentenceField(NamedTuple):
    """Numbers of sentences: a quantity of the trees (`TREES`), or something of a baseline."""

    quantity: str
    of: str
    kind: str = MEAN

    @property
    def outer(self) -> str:
        """The object that it stands in in rows, if any."""
        return "" if self.of == TREES else self.of if self.kind == MEAN else f"{self.of}_{self.kind}"


# Cells of many rows, by column: texts and whole numbers, or numbers in arrays, unknown ones NaN.
Cells = Mapping[str | SentenceField, Sequence[Any] | Array]


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows that are made together, a column after another, which is several times as fast as a cell after another."""

    make: Callable[[], Cells]

    @cached_property
    def rows(self) -> list[Row]:
        objects: dict[str, dict[str, Sequence[Any]]] = {"": {}}
        for key, values in self.make().items():
            outer, name = ("", key) if isinstance(key, str) else (key.outer, key.quantity)
            objects.setdefault(outer, {})[name] = _known(values) if isinstance(values, np.ndarray) else values
        rows, *others = (
            [dict(zip(each, row, strict=True)) for row in zip(*each.values(), strict=True)] for each in objects.values()
        )
        return [row | dict(zip([*objects][1:], each, strict=True)) for row, *each in zip(rows, *others, strict=True)]

    @cached_property
    def lines(self) -> list[bytes]:
        """The rows as lines of TSV."""
        columns = []
        for key, values in self.make().items():
            if isinstance(values, np.ndarray):
                columns.append(numbers_as_cells(values))
            else:
                kinds = {*values}
                texts = dict(zip(kinds, cells(str(key), kinds), strict=True))
                columns.append([texts[value] for value in values])
        return [b"\t".join(each) + b"\n" for each in zip(*columns, strict=True)]


@dataclass(frozen=True, eq=False, slots=True)
class Rows:
    """Those of a sentence; with the first of a table, what all of this count for."""

    of: Columns
    which: slice
    counted: Counts | None = None

    def rows(self) -> list[Row]:
        return self.of.rows[self.which]

    def to_tsv(self) -> bytes:
        return b"".join(self.of.lines[self.which])


@dataclass(frozen=True)
class WordRows:
    """Rows of the words of sentences, with comments; several: whether there are several files."""

    keys: tuple[str, ...]
    several: bool

    in_batches = True

    def __call__(self, sentence: Any, _: None) -> Any:
        return sentence.ask(self.of_many) or self.of_many(sentence.alone)[0]

    def of_many(self, trees: PackedTrees, _: None = None) -> list[Rows]:
        blocks, lengths = [each.sentence for each in trees.read], trees.lengths.tolist()
        ids = np.concatenate([np.arange(1, block.n + 1) for block in blocks])
        kept = np.ones(len(ids), dtype=bool)
        if trees.reductions:
            kept = ~np.concatenate([each.removed for each in trees.reductions])
        found = columns_of(blocks, "form", "upos", "deprel")
        forms, tags, labels = ([decoded(cell, "") for cell in compress(cells, kept.tolist())] for cells in found)
        heads, first = trees.heads.tolist(), np.repeat(trees.starts[:-1], lengths).tolist()
        of_heads = [labels[start + head - 1] if head else None for start, head in zip(first, heads, strict=True)]
        distances = (trees.heads - words_of(trees.starts)).tolist()
        spans = [distance if head else None for head, distance in zip(heads, distances, strict=True)]
        crossed, gaps, depths = (values.tolist() for values in arc_shapes(trees.heads, trees.starts))
        about = trees.about(self.keys, self.several).items()
        columns: Cells = {name: list(chain.from_iterable(map(repeat, some, lengths))) for name, some in about}
        own = ids[kept].tolist(), forms, tags, labels, of_heads, spans, depths, crossed, gaps
        made = Columns(lambda: {**columns, **dict(zip(WORDS, own, strict=True))})
        return [Rows(made, slice(*part)) for part in pairwise(trees.starts.tolist())]


@dataclass(frozen=True)
class Measure:
    """Measures trees, and random trees of the space.

    Attributes:
        size: how many trees are drawn for what is not a sum over arcs; None: none.
        scored: whether the parser's scores are read too: see `scored_packing`.
        reduced: whether words are left out or joined, so that the parser's trees have to be, too.
        keys: of the comments that sentences have.
    """

    names: tuple[str, ...]
    space: TreeSpace
    size: int | None
    seed: int | None
    scored: bool
    reduced: bool
    keys: tuple[str, ...]

    @property
    def trees(self) -> int:
        return self.size or 0 if self.scored else 0

    @property
    def in_batches(self) -> bool:
        return not self.scored

    @cached_property
    def _quantities(self) -> list[OfTree]:
        return [NUMBERS.get(name) for name in self.names]

    @cached_property
    def fields(self) -> list[SentenceField]:
        """What is known of a sentence; spreads and errors follow what they are of."""
        found, sampled = list[SentenceField](), self.size is not None
        for quantity in self._quantities:
            name, exact = (
                quantity.name,
                isinstance(quantity, OverArcs) and (self.space.single_root or not quantity.over),
            )
            has = {of: (True, each.variance is not None, False) for of, each in quantity.baselines.items()}
            if name != LENGTH and (exact or sampled):
                has[RANDOM_TREES] = True, sampled, not exact
            if name != LENGTH and self.scored and ((exact and not self.reduced) or sampled):
                has[PARSER] = True, True, not exact or self.reduced
            found.append(SentenceField(name, TREES))
            found += [SentenceField(name, of, kind) for of, kinds in has.items() for kind in compress(KINDS, kinds)]
        return found

    @property
    def shown(self) -> list[tuple[int, SentenceField]]:
        """The fields of rows, behind the length, with their numbers: those of trees first."""
        known = [(at, field) for at, field in enumerate(self.fields) if field.quantity != LENGTH]
        return sorted(known, key=lambda each: each[1].of != TREES)

    def __call__(self, prepared: Any, rng: np.random.Generator | None) -> Any:
        if not self.scored:
            return prepared.ask(self.of_many) or self.of_many(prepared.alone)[0]
        trees, sentence = prepared
        reduction = trees.reductions[0] if trees.reductions else None
        parser = moments(sentence.distribution, self._quantities, self.size, rng, reduction)
        return self.of_many(trees, None, np.array([parser]))[0]

    def of_many(self, trees: PackedTrees, _: Any = None, parser: Float | None = None) -> list[Rows]:
        """What is found in some trees; parser: (sentences, quantities, 3)."""
        foresee(STEPS * len(trees.heads) + PASSED * float(np.abs(trees.heads - words_of(trees.starts)).sum()))
        lengths, which = np.unique(trees.lengths, return_inverse=True)
        how = self.space, self.names, self.size, self.seed
        random = np.stack([of_random_trees(n, *how) for n in lengths.tolist()])[which]
        packed, unknown, columns = (trees.heads, trees.starts), np.full(len(trees.read), np.nan), list[Float]()
        own, found = unknown, tuple[Float, ...]()
        for name, of, kind in self.fields:
            at = self.names.index(name)
            quantity = self._quantities[at]
            if of == TREES:
                own = np.asarray(quantity.of_trees(*packed), dtype=np.float64)
                found = (own,)
            elif kind == MEAN and (baseline := quantity.baselines.get(of)):
                variance = unknown if baseline.variance is None else np.maximum(baseline.variance(*packed), 0.0)
                found = np.asarray(baseline.mean(*packed), dtype=np.float64), np.sqrt(variance)
            elif kind == MEAN:
                others = random if of == RANDOM_TREES or parser is None else parser
                found = tuple(np.where(np.isnan(own), np.nan, others[:, at].T))
            columns.append(found[KINDS.index(kind)])
        numbers = np.column_stack(columns)
        made, counts = Columns(partial(self._cells, trees, numbers)), Counts(trees.lengths, numbers)
        return [Rows(made, slice(at, at + 1), None if at else counts) for at in range(len(trees.read))]

    def _cells(self, trees: PackedTrees, numbers: Float) -> Cells:
        made: dict[Any, Any] = trees.about(self.keys) | {LENGTH: trees.lengths.tolist()}
        for at, field in self.shown:
            is_whole = field.of == TREES and NUMBERS.get(field.quantity).whole
            made[field] = numbers[:, at].astype(np.int64) if is_whole else numbers[:, at]
        return made


def _known(values: Array) -> list[Any]:
    found: list[Any] = values.tolist()
    return [None if value != value else value for value in found] if values.dtype.kind == "f" else found


class Counts(NamedTuple):
    """The lengths of some sentences, and the numbers of all fields, (sentences, fields)."""

    lengths: Int
    numbers: Float


class Treebank(Fold[Counts]):
    """Keeps the numbers of all sentences as they come, and tells their means."""

    def __init__(self, fields: Sequence[SentenceField], seed: int) -> None:
        self._fields, self._seed = fields, seed
        self._found = list[Counts]()

    def add(self, counts: Counts) -> None:
        self._found.append(counts)

    def rows(self) -> list[Row]:
        if not self._found:
            raise DeptreeError("there are no trees to measure", "Give sentences with HEADs")
        lengths, numbers = map(np.concatenate, zip(*self._found, strict=True))
        columns = [(quantity, of) for quantity, of, kind in self._fields if kind == MEAN]
        of_kind: dict[str, dict[int, Float]] = {kind: {} for kind in KINDS}
        for (quantity, of, kind), values in zip(self._fields, numbers.T, strict=True):
            of_kind[kind][columns.index((quantity, of))] = values
        found = treebank_means(
            np.column_stack(list(of_kind[MEAN].values())),
            of_kind[SD],
            of_kind[ERROR],
            lengths,
            [columns.index((quantity, TREES)) for quantity, _ in columns],
            [at for at, (_, of) in enumerate(columns) if of == RANDOM_TREES],
            stream_of(None, self._seed),
        )
        rows: list[Row] = []
        for at, (quantity, of) in enumerate(columns):
            known = {name: _known(values)[at] for name, values in found.items()}
            row: dict[str, Any] = {"quantity": quantity, "of": of}
            row |= {name: known[name] for name in (MEANS[2:6] if of == TREES else MEANS[2:9])}
            rows.append(row | {name: known[name] for name in MEANS[9:] if known[name] is not None})
        return rows
