"""Trees with replacement: speed, growth, the choice between samplers, and claims of the papers."""
