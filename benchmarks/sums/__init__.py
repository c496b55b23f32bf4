"""log Z, marginals, best trees, entropies and gradients, beside baselines: how fast, and how right."""
