"""``deptree bitext``: expectations over alignments of sentence pairs, a command for each thing that comes of them."""

from __future__ import annotations

import click

from deptree_cli.cli.groups import LazyGroup

# name -> one line of help; the module is bitext/commands/<name>.py, and its command has the module's name
COMMANDS = {
    "expectations": "Compute the probability of every link.",
    "align": "Write the best links of every sentence pair.",
    "show": "Draw one sentence pair as a matrix with its links.",
}


@click.group(
    cls=LazyGroup,
    package="deptree_cli.bitext.commands",
    table=COMMANDS,
    no_args_is_help=False,
    epilog="\b\nTry: deptree bitext align bitext.npz --text bitext.txt",
)
def bitext() -> None:
    """Align the words of sentence pairs: which source word is linked with which target word.

    SCORES has a matrix of log-scores for every sentence pair: how well each source word (row) matches each target word
    (column). An alignment links words one to one or leaves them unlinked; neighbouring parts of a sentence may swap
    places (inversion transduction grammar, Wu 1997). Link probabilities are exact. For very long pairs they can be
    approximated by randomized pruning (Bouchard-Cote, Petrov and Klein 2009).
    """
