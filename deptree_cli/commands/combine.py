"""``deptree combine``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import compress
from typing import Any

import click

from deptree_cli.cli.combining import (
    TREES,
    Distributions,
    Fit,
    LaidOutPath,
    Mix,
    Product,
    members_of,
    split_layouts,
    with_gold_tree,
    written_weight,
)
from deptree_cli.cli.job import Job
from deptree_cli.cli.layout_options import MATRIX_OPTIONS, signature_of
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import apply, command, option, reading_option
from deptree_cli.cli.work import Counted, Source
from deptree_cli.cli.writing import Writing, format_options
from deptree_cli.core.combination import checked_weights
from deptree_cli.core.dtypes import Float
from deptree_cli.core.spaces import Short, TreeSpace
from deptree_cli.io.conllu.malformed import no_sentences
from deptree_cli.io.encoders import ARRAYS, SCORES
from deptree_cli.io.encoders.text import CONLLU
from deptree_cli.io.files.streams import STDIN
from deptree_cli.io.read import trees_in
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.scores.meta import space_of
from deptree_cli.io.scores.presets import layout, text_of
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.scores.several import Member, read_several

PRODUCT, MIXTURE = "product", "mixture"

# What a product is written in.
WRITTEN = Layout("head-dep", "first", "log")


def _numbers(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[float, ...]:
    """The numbers between commas."""
    try:
        return tuple(map(float, text.split(","))) if text else ()
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 0.7,0.3.") from None


HELP = """Combine several parsers, or votes, about the same sentences.

SCORES are score files (FILE:LAYOUT if they have different layouts), or trees (CoNLL-U, or JSON Lines of sent_id and
heads), which are votes. product: weighted sums of log-scores; writes a score file for all other commands. mixture:
weighted means of arc probabilities, which are exact, and the consensus: the tree with the highest expected attachment
score.

A mixture has no arc scores. It is written as JSON Lines (heads, support, marginals, and standard_errors over
voters), with --conllu as CoNLL-U with HeadProb, or as arrays of marginals.
"""


@command(help=HELP)
@click.argument("scores", nargs=-1, required=True, type=INPUT, callback=split_layouts)
@option("--method", type=click.Choice([PRODUCT, MIXTURE]), help="See above.  [default: product; with trees, mixture]")
@option("--weights", callback=_numbers, metavar="W,W,...", help="One weight per file.  [default: equal weights]")
@option("--fit", is_flag=True, help="Find the weights that make the trees of --gold most probable, and use them.")
@reading_option(
    "--gold", type=INPUT, often=True, help="Gold trees for --fit: the same sentences; words with HEAD _ are not used."
)
@reading_option("--conllu", type=INPUT, often=True, help="The sentences in CoNLL-U.")
@partial(apply, MATRIX_OPTIONS)
@format_options("jsonl", "conllu", ARRAYS)
@run_options
def combine(
    scores: tuple[LaidOutPath, ...],
    method: str | None,
    weights: tuple[float, ...],
    fit: bool,
    gold: str | None,
    conllu: str | None,
    writing: Writing,
    run: RunOptions,
    **how: Any,
) -> int:
    """Combine parsers, or votes."""
    _check(scores, weights, fit, gold, conllu)
    asked = layout(how["preset"])
    members = members_of(scores, asked)
    mixed = _is_mixture(method, members, fit)
    writing = writing.of_single_trees() if mixed else writing.narrowed("a product, which is scores", SCORES)
    if conllu is None and writing.encoder(run.output) is CONLLU:
        raise no_sentences().at(scores[0])
    used = checked_weights(weights, len(members), mixed)
    space = _space(_with_weight(members, used), how)
    interpretation = Interpretation(Layout(), space=space)

    def source(read: Sequence[Member]) -> Source[Any, Any]:
        items = Counted(read_several(read, conllu, [trees_in([gold])] if gold else [], run.warn))
        prepare = Distributions(interpretation, tuple(each.layout for each in read))
        return Source(items, prepare, _fields(members, how, space), conllu is not None)

    if fit:
        used = checked_weights(_fitted(source(members), Fit(mixed, scores), run), len(members), mixed)
        members = members_of(scores, asked)  # files are read once each time they are opened
    last = {"weights": ",".join(map(written_weight, used)), "fit": gold if fit else None}
    read, positive = source(_with_weight(members, used)), used[used > 0]
    if mixed:
        return Job("combine", read, run, writing, {"method": MIXTURE}, last).write(Mix(positive))
    first = {"from": text_of(WRITTEN), "method": PRODUCT}
    return Job("combine", read, run, writing, first, last).write(Product(positive, WRITTEN))


def _with_weight(members: Sequence[Member], weights: Float) -> list[Member]:
    """The files whose weight is not 0: the others are not read."""
    return list(compress(members, weights))


def _check(paths: Sequence[str], weights: tuple[float, ...], fit: bool, gold: str | None, conllu: str | None) -> None:
    """Raise for options that contradict each other."""
    if fit and weights:
        raise click.UsageError("--fit finds the weights: leave out --weights.")
    if fit != (gold is not None):
        raise click.UsageError(
            "--fit needs gold trees: --gold FILE." if fit else "--gold needs --fit. Add it, or remove --gold."
        )
    if fit and STDIN in (*paths, gold, conllu):
        raise click.UsageError("--fit reads all files twice, and standard input (-) can be read only once.")


def _is_mixture(method: str | None, members: Sequence[Member], fit: bool) -> bool:
    """Whether the files are mixed: if that is asked for, and if one of them is of trees."""
    trees = next((each.path for each in members if each.scores is None), None)
    if method == PRODUCT and trees is not None:
        raise click.UsageError(f"{trees} has trees, which have no scores to add up. Use --method {MIXTURE}.")
    if fit and trees is not None:
        raise click.UsageError(f"--fit needs probabilities of gold trees, and {trees} has none: give --weights.")
    return method == MIXTURE or trees is not None


def _space(members: Sequence[Member], how: dict[str, Any]) -> TreeSpace:
    """The tree space that options ask for, or any of the files."""
    own = next((each.scores.meta.trees for each in members if each.scores and each.scores.meta.trees), "")
    short: Short = {"single_root": False if how["multi_root"] else None, "projective": how["projective"] or None}
    return space_of(own, how["space"], **short)


def _fields(members: Sequence[Member], how: dict[str, Any], space: TreeSpace) -> dict[str, object]:
    """What of the options of reading a run must repeat to give the same result."""
    layouts = [text_of(each.layout.complete) if each.layout else TREES for each in members]
    return {"files": ",".join(each.path for each in members), "layouts": ";".join(layouts), **signature_of(space)}


def _fitted(source: Source[Any, Any], fit: Fit, run: RunOptions) -> list[float]:
    """The weights that fit the gold trees, as people hear of them."""
    for each in Pipeline(source, run).map(with_gold_tree):
        fit.add(*each)
    for line in fit.lines():
        run.warn(line, line)
    return [float(written_weight(each)) for each in fit.found.weights]
