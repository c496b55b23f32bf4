"""Trees that obey: masks for what an arc decides; division, with a certificate, for what only a tree decides."""
