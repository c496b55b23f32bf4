"""Randomness is handed in."""

from __future__ import annotations

import ast
import re

from tests.house import FILES, imports_of, is_within, tree_of

# What a seed of our own is to NumPy: an interface.
SEEDS = "numpy.random.bit_generator.ISpawnableSeedSequence"


def test_no_global_random_numbers() -> None:
    """Randomness comes from a Generator that was handed in: no np.random.seed, no np.random.rand, no `random`."""
    used = {
        (module, ast.unparse(node))
        for module, path in FILES.items()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
    }
    harmless = re.compile(r"(np|numpy)\.random\.(Generator|PCG64|SFC64|SeedSequence|BitGenerator)\b")
    assert not [
        (module, name) for module, name in used if re.match(r"(np|numpy)\.random\.", name) and not harmless.match(name)
    ]
    imported = [(module, name) for module in FILES for name in imports_of(module)]
    assert not [
        each
        for each in imported
        if is_within(each[1], "random") or (is_within(each[1], "numpy.random") and each[1] != SEEDS)
    ]
