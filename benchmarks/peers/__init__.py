"""Other people's samplers and sums, where they are installed; a missing one is a dash in the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Peer = TypeVar("Peer")


def installed(peers: Mapping[str, Callable[[], Peer]]) -> dict[str, Peer | None]:
    """The peers by their names; None for those that are not installed."""
    return {name: _loaded(peer) for name, peer in peers.items()}


def _loaded(peer: Callable[[], Peer]) -> Peer | None:
    try:
        return peer()
    except ImportError:
        return None
