"""``deptree hpyp``: the generative parser of Buys and Blunsom (2015), a command for each thing it can do."""

from __future__ import annotations

import click

from deptree_cli.cli.table import Entry, LazyGroup

COMMANDS = {
    "train": Entry(
        "Train a parser on a treebank.", "deptree hpyp train treebank.conllu -o model.npz --seed 7", "treebank", "model"
    ),
    "parse": Entry(
        "Parse sentences: best trees, samples, arc scores.",
        "deptree hpyp parse model.npz sentences.conllu --tags predict",
        "model",
        "scores",
    ),
    "surprisal": Entry(
        "Compute how unexpected every word is, in bits.",
        "deptree hpyp surprisal model.npz sentences.conllu --tags predict --seed 1",
        "model",
    ),
    "perplexity": Entry(
        "Compute how well a model predicts sentences.",
        "deptree hpyp perplexity model.npz gold.conllu --seed 1",
        "model",
    ),
    "generate": Entry(
        "Sample sentences with their trees.", "deptree hpyp generate model.npz -k 10 --seed 7", "model", "trees"
    ),
}


@click.group(
    cls=LazyGroup,
    package="deptree_cli.hpyp.commands",
    table=COMMANDS,
    gone={"describe": "in Python, Parser.load(MODEL).trained has what a model knows"},
    no_args_is_help=False,
)
def hpyp() -> None:
    """Train and use a generative parser. It needs no other parser, no GPU and no pretrained model.

    From a treebank in CoNLL-U it learns, in seconds to minutes, how probable words, tags and trees are (Buys and
    Blunsom 2015). A model parses, samples trees, writes arc scores for the other commands, computes surprisals and
    generates sentences. Neural parsers (natasha, stanza) are more accurate.
    """
