"""What a run uses that its command line does not say: then the signature is worth a line on stderr."""

from __future__ import annotations

import click

_KEY = "deptree_cli.unsaid"

# In place of the name of a field: whatever the signature holds.
ANYTHING = "*"


def mark_unsaid(context: click.Context | None, *fields: str) -> None:
    """Note that these fields of the signature were chosen by the program, a file of scores or the configuration."""
    if context is not None:
        context.meta.setdefault(_KEY, set()).update(fields)


def says_more(signature: str) -> bool:
    """Whether a signature says what the command line of this run does not."""
    context = click.get_current_context(silent=True)
    unsaid = context.meta.get(_KEY, set()) if context else set()
    return any(field == ANYTHING or f"|{field}:" in signature for field in unsaid)
