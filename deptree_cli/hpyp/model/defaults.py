"""What commands and the library do unless told otherwise; light, for help texts need it too."""

from __future__ import annotations

# Particles of searches and filters: more gain a tenth of a point of accuracy at most.
PARTICLES = 1000

# Independent filters for the probabilities of words: two are the fewest that tell how far they are off.
FILTERS = 2

# Words of the longest sentences that are generated.
LONGEST = 200

# Words of the longest sentences that are read: more are a missing blank line rather than a sentence.
MOST_WORDS = 1000

# Iterations from one state of the sampler that is kept to the next.
SPACING = 5


def kept_iterations(burn_in: int, samples: int) -> range:
    """After which iterations so many states are kept: the first after the burn-in, the last when training ends."""
    return range(burn_in, burn_in + SPACING * (samples - 1) + 1, SPACING)
