"""What a run uses that its command line does not say: the signature is then worth a line on stderr."""

from __future__ import annotations

import click

_KEY = "deptree_cli.provenance"


def mark_provenance(context: click.Context | None, *fields: str) -> None:
    """Note that these fields of the signature were chosen by the program or a file of scores."""
    if context is not None:
        context.meta.setdefault(_KEY, set()).update(fields)


def chosen_for_user(signature: str) -> bool:
    """Whether a signature says what the command line of this run does not."""
    context = click.get_current_context(silent=True)
    chosen = context.meta.get(_KEY, set()) if context else set()
    return any(f"|{field}:" in signature for field in chosen)
