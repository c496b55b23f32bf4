"""``deptree bitext``: expectations over alignments of sentence pairs, a command for each thing that comes of them."""

from __future__ import annotations

import click

from deptree_cli.cli.groups import LazyGroup

# name -> one line of help; the module is commands/bitext/<name>.py, and its command has the module's name
COMMANDS = {
    "expectations": "Compute the probability of every link.",
    "align": "Write the best links of every sentence pair.",
    "show": "Draw a sentence pair: its matrix with its links.",
}


@click.group(
    cls=LazyGroup,
    package="deptree_cli.commands.bitext",
    table=COMMANDS,
    no_args_is_help=False,
    epilog="\b\nTry: deptree bitext align bitext.npz --text bitext.txt",
)
def bitext() -> None:
    """Align sentence pairs: from scores of links to probabilities of links and to alignments.

    SCORES has a matrix for every sentence pair: how much each source word (row) likes each target word (column), as a
    log-score. Alignments by an inversion transduction grammar (Wu 1997) link words one to one, or leave them unlinked,
    such that neighbouring parts of the sentences may change places. Expectations over them are exact, or approximate by
    randomized pruning (Bouchard-Cote, Petrov and Klein 2009) where sentences are too long for that.
    """
