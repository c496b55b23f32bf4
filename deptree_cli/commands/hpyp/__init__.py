"""``deptree hpyp``: the generative parser of Buys and Blunsom (2015), a command for each thing it can do."""

from __future__ import annotations

import click

from deptree_cli.cli.groups import LazyGroup

# name -> one line of help; the module is commands/hpyp/<name>.py, and its command has the module's name
COMMANDS = {
    "train": "Train a parser on a treebank.",
    "parse": "Parse sentences: best trees, samples, score matrices.",
    "surprisal": "Compute how surprising every word is, in bits.",
    "perplexity": "Compute the perplexity of sentences.",
    "generate": "Draw sentences with their trees.",
    "describe": "Show what a model holds.",
}


@click.group(
    cls=LazyGroup,
    package="deptree_cli.commands.hpyp",
    table=COMMANDS,
    no_args_is_help=False,
    epilog="\b\nTry: deptree hpyp train treebank.conllu -m model.npz && deptree hpyp parse model.npz sentences.conllu",
)
def hpyp() -> None:
    """Train and use a generative parser: no other parser, no GPU and no pretrained model needed.

    From a treebank in CoNLL-U it learns, in seconds to minutes, how trees grow word by word (Buys and Blunsom 2015). So
    it gives trees, samples of trees, score matrices for the other commands, surprisals and sentences. Neural parsers
    (natasha, stanza) are more accurate.
    """
