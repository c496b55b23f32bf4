"""``deptree dump``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import click

from deptree_cli.commands.options import output_option
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.inputs import STDIN, open_input
from deptree_cli.io.jsonl import dump as line_of
from deptree_cli.io.output import STDOUT, NpzOutput, Output
from deptree_cli.io.parsers import PARSERS
from deptree_cli.io.parsers.scoring import Scored, score, splitter
from deptree_cli.io.parsers.sentences import kind_of, read_sentences
from deptree_cli.io.report import progress, talk
from deptree_cli.io.score_files import CONTAINERS, container_of
from deptree_cli.io.score_files import Write as WriteScores
from deptree_cli.io.signature import signature

Batches = Iterator[list[Scored]]
Write = Callable[[list[Scored]], None]


@dataclass(frozen=True)
class Outputs:
    """Where everything goes: paths, of which each but the first may be None for nowhere.

    Attributes:
        scores: None is standard output.
        header: whether the signature is the first line of JSON Lines.
        made: the signature.
    """

    scores: str | None
    sentences: str | None
    label_scores: str | None
    labels: str | None
    header: bool
    made: str


@click.command(epilog="\b\nTry: deptree dump natasha paragraphs.txt | deptree sample - -k 5 --seed 7")
@click.argument("parser", type=click.Choice(list(PARSERS)), metavar="PARSER")
@click.argument("path", metavar="[INPUT]", default=STDIN)
@click.option("--model", metavar="NAME", help="The parser's model, for all but natasha: a name or a path.")
@output_option
@click.option("--sentences", metavar="FILE", help="The sentences as CoNLL-U, for --conllu of the other commands.")
@click.option("--label-scores", metavar="FILE", help="Scores of labels given the head, as .npz: one axis more.")
@click.option("--labels", metavar="FILE", help="The names of the labels, in the order of that axis, as JSON.")
@click.option(
    "--input", "kind", type=click.Choice(["text", "conllu"]), help="What INPUT is.  [default: by its first bytes]"
)
@click.option(
    "--batch", "size", type=click.IntRange(1), default=32, metavar="N", help="Sentences at a time.  [default: 32]"
)
@click.option("--header/--no-header", default=True, help="The signature as first line of JSON Lines.  [default: yes]")
@click.option("--quiet", "-q", is_flag=True, help="Nothing on stderr but errors.")
def dump(
    parser: str,
    path: str,
    model: str | None,
    output: str | None,
    sentences: str | None,
    label_scores: str | None,
    labels: str | None,
    kind: str | None,
    size: int,
    header: bool,
    quiet: bool,
) -> None:
    """Run a parser and write its edge scores, raw, for --from PARSER: natasha, stanza, supar, spacy or hanlp.

    INPUT (- is standard input) is text in UTF-8, paragraphs between empty lines, or CoNLL-U, whose tokens are kept;
    supar and hanlp take CoNLL-U only. Writes JSON Lines with sent_id, scores and forms, or what the suffix of -o says:
    .npz, .npy, .safetensors. The parser has to be installed: natasha (for Russian) is an extra of this package, the
    others go by their own names.
    """
    line = PARSERS[parser]
    made = signature("dump", {"from": parser, "parser": line.version, "model": model})
    outputs = Outputs(output, sentences, label_scores, labels, header, made)
    _check(outputs)
    with open_input(path) as file:
        kind = kind or kind_of(file.head)
        if kind == "text" and not line.splits:
            raise DeptreeError(f"{parser} does not split text", "Give it sentences in CoNLL-U", place=file.place)
        adapter = line.load(model)
        if adapter.labels is None and (label_scores or labels):
            raise DeptreeError(f"{parser} has no labels with this model", "Leave out --label-scores and --labels")
        read = progress(read_sentences(file, kind, splitter(line, adapter)), quiet=quiet)
        batches = score(line, adapter, read, size, bool(label_scores))
        _write(batches, adapter.labels, outputs, quiet)


def _check(outputs: Outputs) -> None:
    """Raise before any work is done for outputs that cannot be."""
    container_of(outputs.scores)
    paths = outputs.scores or STDOUT, outputs.sentences, outputs.label_scores, outputs.labels
    if len(set(filter(None, paths))) < len(list(filter(None, paths))):
        raise click.UsageError("Two outputs cannot go to the same place: name a file for each.")


def _write(batches: Batches, labels: list[str] | None, outputs: Outputs, quiet: bool) -> None:
    """Write batch after batch; the signature goes to stderr with the first: what fails says one thing only."""
    with ExitStack() as opened:
        writers = list(_writers(outputs, opened))
        if outputs.labels:
            opened.enter_context(Output(outputs.labels)).write(line_of(labels))
        said = quiet
        for batch in batches:
            if not said:
                talk(outputs.made)
                said = True
            for write in writers:
                write(batch)


def _writers(outputs: Outputs, opened: ExitStack) -> Iterator[Write]:
    container = CONTAINERS[container_of(outputs.scores)]
    yield _arcs(opened.enter_context(container(outputs.scores, outputs.made, outputs.header)))
    if outputs.label_scores:
        yield _labels(opened.enter_context(NpzOutput(outputs.label_scores, outputs.made)))
    if outputs.sentences:
        yield _blocks(opened.enter_context(Output(outputs.sentences)))


def _arcs(to: WriteScores) -> Write:
    def write(batch: list[Scored]) -> None:
        for scored in batch:
            to(scored.sentence.sent_id, scored.scores, [word.form for word in scored.sentence.words])

    return write


def _labels(out: NpzOutput) -> Write:
    def write(batch: list[Scored]) -> None:
        for scored in batch:
            if scored.labels is not None:
                out.write(scored.sentence.sent_id, scored.labels)

    return write


def _blocks(out: Output) -> Write:
    def write(batch: list[Scored]) -> None:
        for scored in batch:
            out.write(scored.sentence.conllu)

    return write
