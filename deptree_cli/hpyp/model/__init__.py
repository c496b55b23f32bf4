"""The generative parser of Buys and Blunsom (2015): transitions, tags and words from Pitman-Yor processes."""
