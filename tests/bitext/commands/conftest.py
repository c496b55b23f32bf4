"""The fixtures of tests/commands, for the same floor of this wing."""

from tests.commands.conftest import deptree, done, put, shell, terminal  # noqa: F401
