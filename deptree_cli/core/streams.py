"""Where randomness comes from: one stream per sentence, and its handing over to a kernel."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from operator import index
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISpawnableSeedSequence
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError

# What users give: a seed, from which a sentence's own stream is made, or a Generator, which every use moves on.
Randomness = int | np.random.Generator

# Numbers of 64 bits that SFC64 starts from.
U64, WORDS = np.uint64, 3


class SentenceSeed(ISpawnableSeedSequence):
    """A hash of a seed, a sentence's id and how often that came before, as what NumPy's bit generators start from.

    Attributes:
        digest: 24 bytes, as many as SFC64 takes.
        spawn_key: with `entropy` what streams beside its own are seeded with.
    """

    def __init__(self, seed: int, sent_id: str, occurrence: int = 0) -> None:
        self.digest = _digest(seed, sent_id, occurrence)
        self.spawn_key = ()

    @property
    def entropy(self) -> int:
        return int.from_bytes(self.digest, "little")

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        return np.frombuffer(self.digest, np.dtype(dtype).newbyteorder("<"))[:n_words]

    def spawn(self, n_children: int) -> Any:
        return self._sequence.spawn(n_children)  # which counts its children

    @cached_property
    def _sequence(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.entropy)


def sentence_stream(seed: int, sent_id: str, occurrence: int = 0) -> np.random.Generator:
    """The random stream of one sentence.

    Depends on the seed, the sentence's id and how often that id came before, and on nothing else: neither on the other
    sentences of a file nor on who draws them in which order.
    """
    own: Any = SentenceSeed(seed, sent_id, occurrence)
    return np.random.Generator(np.random.SFC64(own))


@dataclass(frozen=True)
class SentenceStreams:
    """The random streams of many sentences; `names` are the id of each, and how often that came before."""

    seed: int
    names: Sequence[tuple[str, int]]

    def of(self, b: int) -> np.random.Generator:
        return sentence_stream(self.seed, *self.names[b])

    @cached_property
    def states(self) -> NDArray[np.uint64]:
        """What `kernel_state` first gives of each, (B, 4), without an object for each.

        NumPy's SFC64 (Doty-Humphrey) adds, shifts and rotates three words and a counter, and leaves out twelve numbers.
        """
        digests, found = b"".join([_digest(self.seed, *name) for name in self.names]), []
        a, b, c = np.frombuffer(digests, dtype="<u8").reshape(-1, WORDS).astype(np.uint64).T
        for counter in np.arange(1, 17, dtype=np.uint64):
            found.append(a + b + counter)
            a, b, c = b ^ (b >> U64(11)), c + (c << U64(3)), ((c << U64(24)) | (c >> U64(40))) + found[-1]
        return np.stack(found[12:], axis=1)


def _digest(seed: int, sent_id: str, occurrence: int = 0) -> bytes:
    text = f"{seed} {occurrence} {sent_id}".encode("utf-8", "surrogateescape")
    return blake2b(text, digest_size=8 * WORDS).digest()


def stream_of(rng: Randomness | None, seed: int | None, sent_id: str | None = None) -> np.random.Generator:
    """The stream that a user asks for: a Generator as it is, or that of a seed, of a fresh one if none is given.

    Args:
        sent_id: of the sentence whose stream it is; None for what is of no sentence.
    """
    if rng is not None and seed is not None:
        raise DeptreeError("rng and seed are both given", "Give one of them", sent_id=sent_id or "")
    if isinstance(rng, np.random.Generator):
        return rng
    number = seed_of(seed if rng is None else rng, sent_id or "")
    return np.random.Generator(np.random.PCG64(number)) if sent_id is None else sentence_stream(number, sent_id)


def seed_of(seed: int | None, sent_id: str = "") -> int:
    """The seed that a user gives; a fresh one of 32 bits, as the commands take, in place of None."""
    if seed is None:
        return secrets.randbits(32)
    try:
        number = index(seed)
    except TypeError:
        number = -1
    if number < 0 or isinstance(seed, bool):
        remedy = "Give an integer of 0 or more, or a numpy.random.Generator"
        raise DeptreeError(f"{seed!r} is not a seed", remedy, sent_id=sent_id)
    return number


def offshoot(rng: np.random.Generator) -> np.random.Generator:
    """A stream seeded by the next numbers of another one: for streams that are made of a seed, which does not move on.

    So `spawn` and `label_stream` give others each time that the same Generator is used.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(kernel_state(rng).tolist())))


def kernel_state(rng: np.random.Generator, size: int = 4) -> NDArray[np.uint64]:
    """A fresh state for a kernel's own generator (`kernels/xoshiro.py`): 64 bits a number, whatever the Generator's."""
    return rng.integers(0, 1 << 64, size, dtype=np.uint64)
