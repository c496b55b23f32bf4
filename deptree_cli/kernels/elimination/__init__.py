"""Elimination of words: its sweeps and what stands on them, for trees that may cross."""

from deptree_cli.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
