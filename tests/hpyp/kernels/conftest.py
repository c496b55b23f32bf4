"""The fixtures of tests/kernels, for the same floor of this wing."""

from tests.kernels.conftest import draws, state  # noqa: F401
