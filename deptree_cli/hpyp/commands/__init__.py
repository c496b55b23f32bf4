"""``deptree hpyp``: the generative parser of Buys and Blunsom (2015), a command for each thing it can do."""

from __future__ import annotations

import click

from deptree_cli.cli.groups import LazyGroup

# name -> one line of help; the module is hpyp/commands/<name>.py, and its command has the module's name
COMMANDS = {
    "train": "Train a parser on a treebank.",
    "parse": "Parse sentences: best trees, samples, arc scores.",
    "surprisal": "Compute how unexpected every word is, in bits.",
    "perplexity": "Compute how well a model predicts sentences.",
    "generate": "Sample sentences with their trees.",
    "describe": "Show how a model was trained and what it knows.",
}


@click.group(
    cls=LazyGroup,
    package="deptree_cli.hpyp.commands",
    table=COMMANDS,
    no_args_is_help=False,
    epilog="\b\nTry: deptree hpyp train treebank.conllu -m model.npz && deptree hpyp parse model.npz sentences.conllu",
)
def hpyp() -> None:
    """Train and use a generative parser. It needs no other parser, no GPU and no pretrained model.

    From a treebank in CoNLL-U it learns, in seconds to minutes, how probable words, tags and trees are (Buys and
    Blunsom 2015). A model parses, samples trees, writes arc scores for the other commands, computes surprisals and
    generates sentences. Neural parsers (natasha, stanza) are more accurate.
    """
