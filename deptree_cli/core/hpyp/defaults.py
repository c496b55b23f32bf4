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
