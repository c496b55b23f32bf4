"""How an output was made, in one line from which the run can be repeated."""

from __future__ import annotations

from collections.abc import Mapping

from deptree_cli.version import __version__


def signature(command: str, fields: Mapping[str, object]) -> str:
    """``deptree|sample|sampler:elimination|root:single|size:100|seed:7|v:0.1.0``; fields of value None are left out."""
    parts = [f"{key}:{value}" for key, value in fields.items() if value is not None]
    return "|".join(["deptree", command, *parts, f"v:{__version__}"])
