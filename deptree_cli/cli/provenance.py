"""What a run uses that its command line does not say: the signature is then worth a line, and errors say so."""

from __future__ import annotations

import re

import click
from click.core import ParameterSource

_KEY = "deptree_cli.provenance"

# In place of the name of a field: whatever the signature holds.
ANYTHING = "*"


def mark_provenance(context: click.Context | None, *fields: str) -> None:
    """Note that these fields of the signature were chosen by the program, a file of scores or the configuration."""
    if context is not None:
        context.meta.setdefault(_KEY, set()).update(fields)


def says_more(signature: str) -> bool:
    """Whether a signature says what the command line of this run does not."""
    context = click.get_current_context(silent=True)
    chosen = context.meta.get(_KEY, set()) if context else set()
    return any(field == ANYTHING or f"|{field}:" in signature for field in chosen)


# Under which the contexts of a run know the file of its defaults.
FILE_OF_DEFAULTS = "deptree_cli.defaults"


def from_defaults(context: click.Context, text: str) -> str:
    """Say which options of a message are not on the command line but in the file of defaults; empty if none is."""
    named = dict.fromkeys(re.findall(r"(?<![\w-])--?[a-z][a-z-]*(?![\w-])", text))
    found = [
        option
        for option in named
        for each in context.command.params
        if option in [*each.opts, *each.secondary_opts]
        and context.get_parameter_source(each.name or "") is ParameterSource.DEFAULT_MAP
    ]
    where = context.meta.get(FILE_OF_DEFAULTS)
    return f"{' and '.join(found)} {'is' if len(found) == 1 else 'are'} set in {where}" if found else ""
