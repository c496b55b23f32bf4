"""Where randomness comes from: one stream per sentence, and its handing over to a kernel."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


def sentence_stream(seed: int, sent_id: str, occurrence: int = 0) -> np.random.Generator:
    """The random stream of one sentence.

    Depends on the seed, the sentence's id and how often that id came before, and on nothing else: neither on the other
    sentences of a file nor on who draws them in which order.
    """
    digest = blake2b(sent_id.encode("utf-8", "surrogateescape"), digest_size=16).digest()
    entropy = [seed, occurrence, *np.frombuffer(digest, dtype="<u4").tolist()]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))


def kernel_state(rng: np.random.Generator) -> NDArray[np.uint64]:
    """A fresh state for a kernel's own generator (`kernels/xoshiro.py`)."""
    return rng.bit_generator.random_raw(4)
