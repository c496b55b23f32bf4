"""``deptree dump``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain, islice

import click

from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import INPUT, NAME_OR_INPUT, IntRange, command, opt, use
from deptree_cli.cli.run import Pipeline, Run, Source, with_signature
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import Out
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io import parsers
from deptree_cli.io.encoders import SCORES
from deptree_cli.io.encoders.arrays import tell_left_out
from deptree_cli.io.encoders.base import Page
from deptree_cli.io.files.streams import STDIN, open_input
from deptree_cli.io.parsers import PARSERS, Parser
from deptree_cli.io.scores.containers import CONTAINERS

HELP = """Run a parser and write all that it says: scores of arcs and of labels, and the sentences.

INPUT (- is standard input) is text in UTF-8, paragraphs between empty lines, or CoNLL-U, whose tokens are kept. JSON
Lines and .npz hold all of it, and say how it is to be read: other commands take them as they are. Arc scores are
unchanged. The parser must be installed: natasha (for Russian) is an extra of this package, the others are packages of
their own.
"""


def _described(entry: Parser) -> str:
    takes = "text or CoNLL-U" if entry.splits else "CoNLL-U"
    return f"{entry.name}: {takes}; pip install {entry.requirement}"


GONE = dict.fromkeys(("--to-conllu", "--to-label-scores", "--to-labels"), "the file of scores holds them")


@command(help=HELP, listing=Listing("Parsers", PARSERS, _described, of_argument=True), gone=GONE)
def dump(
    parser: Parser = opt(metavar="PARSER", shell_complete=PARSERS.complete, convert=PARSERS.get),
    path: str = opt(metavar="[INPUT]", required=False, default=STDIN, type=INPUT),
    model: str | None = opt(
        "--model", type=NAME_OR_INPUT, metavar="NAME", help="The parser's model, for all but natasha: a name or a path."
    ),
    kind: str | None = opt(
        "--input", type=click.Choice(["text", "conllu"]), help="What INPUT is.  [default: by its first bytes]"
    ),
    size: int = opt("--batch", type=IntRange(1), default=32, metavar="N", help="Sentences at a time.  [default: 32]"),
    out: Out = use(Out, formats=(SCORES,)),
    run: Run = use(Run),
) -> int:
    fields = {"from": parser.layout, "parser": parser.version, "model": model, **run.signature_fields}
    page, arcs = Page(run.sign("dump", fields), out.header), out.encoder(run.output)
    with arcs.open(run.output, page) as write, open_input(path) as file:
        kind = kind or parsers.kind_of(file.head)
        if kind == "text" and not parser.splits:
            raise DeptreeError(f"{parser.name} does not split text", "Give it sentences in CoNLL-U", place=file.place)
        adapter = parsers.adapter_of(parser.name, model)
        whole = CONTAINERS.get(arcs.name).keeps_extras
        tell_left_out(arcs, run.warn)
        read = parsers.read_sentences(file, kind, parsers.splitter(parser, adapter))
        start, step = run.shard[0] - 1, run.shard[1]
        source = parsers.batches(islice(read, start, None, step), size, file.place)
        pipeline = Pipeline[parsers.Batch, parsers.Batch](Source(Counted(source)), replace(run, shard=(1, 1)))
        labelled = whole and adapter.labels is not None
        scored = pipeline.map(partial(score_batch, parser.name, model, labelled))
        for each in with_signature(chain.from_iterable(scored), page.signature, run):
            if isinstance(each, DeptreeError):  # the parser could not score it
                run.skip(each)
            else:
                if whole and each.of_labels is None:
                    run.warn("labels", f"{parser.name} gives no scores of labels here: trees will have no labels")
                write(arcs.encode(each, None))
    return pipeline.exit_code


def score_batch(
    parser: str, model: str | None, labelled: bool, batch: parsers.Batch, _: None
) -> list[parsers.Scored | DeptreeError]:
    """Scores a batch; every process loads the parser once."""
    return parsers.score(PARSERS.get(parser), parsers.adapter_of(parser, model), batch, labelled)
