"""``deptree show``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import FloatRange, check_effect, command, opt, use
from deptree_cli.cli.run import ALONE, Job, Run, Source, Tasks
from deptree_cli.cli.score_options import SCORES_OR_TREES, Scores, chosen_sentence
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import Out
from deptree_cli.core import ruleset
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.errors import DeptreeError, counted, plural, words
from deptree_cli.core.rules import Words
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import UNKNOWN
from deptree_cli.io.files.streams import STDIN, place_of, share_of
from deptree_cli.io.pairing import tokens_in
from deptree_cli.io.pictures.arcs import ENOUGH, Arc, Picture, picture_of, shown_form
from deptree_cli.io.pictures.notebook import forms_of, labels_of, tree_of
from deptree_cli.io.read import blocks_in, blocks_side, read, sentences
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Companion, Sentence, holding


@command()
def show(
    scores: Scores = use(Scores, or_trees=True, scores=SCORES_OR_TREES),
    wanted: str | None = opt(
        "--sentence",
        metavar="ID",
        help="The sent_id of the sentence, or its number.  "
        "[default: the first; of several TREES, the first that differs]",
    ),
    size: int | None = options.size(None, "Draw N samples over each other instead of the marginals.", "none"),
    seed: int = options.seed(),
    above: float | None = opt(
        "--above",
        type=FloatRange(0, 1),
        metavar="P",
        help="Show all arcs more probable than P, with 0 every possible one.  "
        f"[default: those that bring each word to {ENOUGH:.0%} of its mass, fewer if they crowd]",
    ),
    out: Out = use(Out, formats=("text", "svg", "tex"), has_header=False),
    run: Run = use(Run, lacks=ALONE),
) -> int:
    """Draw one sentence: a tree of CoNLL-U as it is, or arcs as dark as they are probable.

    Draws text for a terminal, SVG (long sentences in several rows), or TikZ for papers (-o FILE.tex). Of SCORES, the
    tree of --conllu, or else the most probable one, is above the words, other probable arcs below. An arc without a
    number is certain (at least .99). If heads of TREES are not a tree, a note says what is wrong. Several TREES are
    drawn together; arcs that differ from the first file's are dashed.

    A note says how many arcs are hidden. With -k the arcs are those of samples, as dark as they are frequent. Two files
    of trees share a row of words, if the words are the same; sentences are paired by sent_id, or else by order.
    """
    if scores.given:
        check_effect(("size", "above"), "scores: these are sentences with trees")
        return _show_trees(scores.given, wanted, out, run)
    select = chosen_sentence(wanted, scores.place)
    fields = {"sentence": wanted, "size": size, "seed": seed if size else None, "above": above}
    job = Job("show", scores.source(run), run, out, last=fields, select=select)
    return job.write(partial(draw_arcs, size, above), seed)


class Drawn(NamedTuple):
    picture: Picture


def draw_arcs(size: int | None, above: float | None, sentence: ScoredSentence, rng: np.random.Generator) -> Drawn:
    """A sentence as a picture, of its marginals or of `size` samples."""
    distribution, block = sentence.distribution, sentence.record.block
    tree, caption = tree_of(distribution, block)
    samples = SAMPLERS.get("auto").draw(distribution, size, rng) if size else None
    if size:
        caption += f"; {counted(size, 'sample')}"
    forms, labels, marginals = forms_of(distribution, block), _labels(sentence, distribution), distribution.marginals()
    return Drawn(picture_of(sentence.id, forms, marginals, tree, labels, caption, above, samples))


def _labels(sentence: ScoredSentence, distribution: ArcFactored) -> dict[tuple[int, int], str]:
    """The relations of the CoNLL-U, by (head, dependent); for other arcs the most probable ones, if scores tell."""
    found, block = labels_of(distribution), sentence.record.block
    given = sentence.interpretation.given(sentence.record)  # then a label is that of every arc
    for dependent, (head, label) in enumerate(zip(block.heads, block.labels, strict=True) if block else (), 1):
        for node in range(distribution.n + 1) if head is None and given else [head]:
            if node is not None and label is not None:
                found[node, dependent] = shown_form(label)
    return found


def _show_trees(paths: Sequence[str], wanted: str | None, out: Out, run: Run) -> int:
    others = enumerate(paths[1:], 1)
    beside = [
        Companion(blocks_side(blocks_in(path, any_heads=True), place_of(path)), holding(str(at))) for at, path in others
    ]
    items = read(sentences(paths[:1], any_heads=True), beside, run.warn)
    chosen = chosen_sentence(wanted, place_of(paths[0]))

    def first_that_differs(tasks: Tasks) -> Tasks:
        first = list[Any]()
        for task in tasks:
            if isinstance(task, DeptreeError):
                yield task
                continue
            first = first or [task]
            if any(found != [] for _, found in compared(task[0])):
                first = [task]
                break
        else:
            run.warn("same", "no sentence differs: this is the first")
        yield from chosen(iter(first))

    source: Source[Sentence, Sentence] = Source(Counted(items, share=share_of(paths[:1])))
    select = first_that_differs if wanted is None and beside else chosen
    names = [place_of(path) if path == STDIN else Path(path).name for path in paths]
    job = Job("show", source, run, out, {"trees": ", ".join(paths)}, {"sentence": wanted}, select)
    return job.write(partial(draw_trees, names if len({*names}) == len(names) else paths))


def compared(sentence: Sentence) -> list[tuple[Block, list[int] | None]]:
    """The sentence in all files, each with the words, from 1 on, whose head or label is not the first one's.

    None if words are others. Labels count if all files have some.
    """
    first = sentence.sentence
    blocks = [first, *sentence.companions.values()]
    if all(block.raw == first.raw for block in blocks):
        return [(block, []) for block in blocks]
    words, labelled = tokens_in(first), all({*block.deprels} != {UNKNOWN} for block in blocks)

    def answers(block: Block) -> list[tuple[int | None, str]]:
        return list(zip(block.heads, block.deprels if labelled else [UNKNOWN] * block.n, strict=True))

    def differing(block: Block) -> list[int] | None:
        if not words.has_words_of(tokens_in(block)):
            return None
        pairs = zip(answers(first), answers(block), strict=True)
        return [word for word, (one, other) in enumerate(pairs, 1) if one != other]

    return [(block, differing(block)) for block in blocks]


# What heads are that are not a tree, in a few words.
_WRONG = {
    ruleset.INVALID_HEAD: "no head",
    ruleset.UNKNOWN_HEAD: "head beyond the sentence",
    ruleset.SELF_LOOP: "own head",
    ruleset.MULTIPLE_ROOTS: "several roots",
    ruleset.NON_TREE: "a cycle",
}


def draw_trees(names: Sequence[str], sentence: Sentence, _: None) -> Drawn:
    """The trees that files have of a sentence: two by two on a row of words, and on their own those of other words."""
    alike, apart = list[Picture](), list[Picture]()
    for name, (block, found) in zip(names, compared(sentence), strict=True):
        differs = "other words" if found is None else _differ(len(found)) if block is not sentence.block else ""
        facts = "; ".join(filter(None, [differs, _what_is_wrong(block)]))
        title = f"{name} ({facts})" if facts and len(names) > 1 else facts or name * (len(names) > 1)
        answers = enumerate(zip(block.heads, block.deprels, strict=True), 1)
        arcs = [
            Arc(
                head=ruleset.NO_HEAD if head is None else head,
                dependent=word,
                probability=1.0,
                label="" if label == UNKNOWN else shown_form(label),
                differs=word in (found or ()),
            )
            for word, (head, label) in answers
        ]
        forms = list(map(shown_form, block.column("form")))
        picture = Picture(shown_form(sentence.sent_id), forms, arcs, "", titles=[title])
        (apart if found is None else alike).append(picture)
    pairs = (alike[at : at + 2] for at in range(0, len(alike), 2))
    first, *further = [*(one.above(*other) for one, *other in pairs), *apart]
    return Drawn(replace(first, further=further))


def _differ(number: int) -> str:
    return f"{number or 'no'} {plural(number or 1, 'word')} differ{'s' * (number < 2)}"


def _what_is_wrong(block: Block) -> str:
    """Why the heads of a sentence are not a tree; empty if they are."""
    by_rule = defaultdict[str, list[int]](list)
    heads = [ruleset.NO_HEAD if head is None else head for head in block.heads]
    nothing_known = Words((), [None] * block.n, [frozenset()] * block.n)
    for each in ruleset.broken(ruleset.Ruleset("", ()), nothing_known, heads, [""] * block.n):
        by_rule[each.rule] += each.words
    wrong = ", ".join(f"{_WRONG[rule]} ({words(sorted(found))})" for rule, found in by_rule.items())
    return wrong and f"not a tree: {wrong}"
