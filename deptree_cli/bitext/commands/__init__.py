"""``deptree bitext``: expectations over alignments of sentence pairs, a command for each thing that comes of them."""

from __future__ import annotations

import click

from deptree_cli.cli.table import Entry, LazyGroup

COMMANDS = {
    "expectations": Entry(
        "Compute the probability of every link.",
        "deptree bitext expectations bitext.npz --method randomized --iterations 500 --seed 7",
        "pairs",
        "arrays",
    ),
    "align": Entry(
        "Write the best links of every sentence pair.",
        "deptree bitext align bitext.npz --gold bitext_gold.align -o links.align",
        "pairs",
    ),
    "show": Entry(
        "Draw one sentence pair as a matrix with its links.",
        "deptree bitext show bitext.npz --text bitext.txt --sentence de-3",
        "pairs",
        "picture",
    ),
}


@click.group(cls=LazyGroup, package="deptree_cli.bitext.commands", table=COMMANDS, no_args_is_help=False)
def bitext() -> None:
    """Align the words of sentence pairs: which source word is linked with which target word.

    SCORES has a matrix of log-scores for every sentence pair: how well each source word (row) matches each target word
    (column). An alignment links words one to one or leaves them unlinked; neighbouring parts of a sentence may swap
    places (inversion transduction grammar, Wu 1997). Link probabilities are exact. For very long pairs they can be
    approximated by randomized pruning (Bouchard-Cote, Petrov and Klein 2009).
    """
