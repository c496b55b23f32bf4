"""Where randomness comes from: one stream per sentence, and its handing over to a kernel."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from hashlib import blake2b
from operator import index

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError

# What users give: a seed, from which a sentence's own stream is made, or a Generator, which every use moves on.
Randomness = int | np.random.Generator


def sentence_stream(seed: int, sent_id: str, occurrence: int = 0) -> np.random.Generator:
    """The random stream of one sentence.

    Depends on the seed, the sentence's id and how often that id came before, and on nothing else: neither on the other
    sentences of a file nor on who draws them in which order.
    """
    entropy = [seed, occurrence, *np.frombuffer(_digest(sent_id), dtype="<u4").tolist()]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))


def kernel_states(seed: int, names: Iterable[tuple[str, int]]) -> NDArray[np.uint64]:
    """What `kernel_state` first gives of each sentence's stream, (B, 4), without making streams.

    Args:
        names: the id of each sentence, and how often that came before.
    """
    from deptree_cli.kernels.batches.seeds import fill_states  # loads kernels: when there is work

    sent_ids, occurrences = zip(*names, strict=True)
    words = np.frombuffer(b"".join(map(_digest, sent_ids)), dtype="<u4").reshape(-1, 4)
    seeds = [seed >> shift & 0xFFFFFFFF for shift in range(0, max(seed.bit_length(), 1), 32)]
    before = np.broadcast_to(np.array(seeds, dtype=np.uint64), (len(words), len(seeds)))
    entropy = np.column_stack([before, np.array(occurrences, dtype=np.uint64), words.astype(np.uint64)])
    states = np.empty((len(words), 4), dtype=np.uint64)
    fill_states(entropy, states)
    return states


def _digest(sent_id: str) -> bytes:
    return blake2b(sent_id.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def stream_of(rng: Randomness | None, seed: int | None, sent_id: str | None = None) -> np.random.Generator:
    """The stream that a user asks for: a Generator as it is, or that of a seed, of a fresh one if none is given.

    Args:
        sent_id: of the sentence whose stream it is; None for what is of no sentence.

    Raises:
        DeptreeError: both are given, or what is given is neither a seed nor a Generator.
    """
    if rng is not None and seed is not None:
        raise DeptreeError("rng and seed are both given", "Give one of them", sent_id=sent_id or "")
    if isinstance(rng, np.random.Generator):
        return rng
    number = seed_of(seed if rng is None else rng, sent_id or "")
    return np.random.Generator(np.random.PCG64(number)) if sent_id is None else sentence_stream(number, sent_id)


def seed_of(seed: int | None, sent_id: str = "") -> int:
    """Return a seed that a user gives; a fresh one of 32 bits, as the commands take, in place of None.

    Raises:
        DeptreeError: it is none.
    """
    if seed is None:
        return secrets.randbits(32)
    try:
        number = index(seed)
    except TypeError:
        number = -1
    if number < 0 or isinstance(seed, bool):
        remedy = "Give an integer of 0 or more, or a numpy.random.Generator"
        raise DeptreeError(f"{seed!r} is no seed", remedy, sent_id=sent_id)
    return number


def offshoot(rng: np.random.Generator) -> np.random.Generator:
    """A stream seeded by the next numbers of another one: for streams that are made of a seed, which does not move on.

    So `spawn` and `label_stream` give others each time that the same Generator is used.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(kernel_state(rng).tolist())))


def kernel_state(rng: np.random.Generator, size: int = 4) -> NDArray[np.uint64]:
    """A fresh state for a kernel's own generator (`kernels/xoshiro.py`): 64 bits a number, whatever the Generator's."""
    return rng.integers(0, 1 << 64, size, dtype=np.uint64)
