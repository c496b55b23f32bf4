"""The fixtures of tests/io, for the same floor of this wing."""

from tests.io.conftest import says, scratch  # noqa: F401
