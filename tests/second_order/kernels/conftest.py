"""What the tests of kernels share, for those of this wing."""

from tests.kernels.conftest import check_law, draws, state  # noqa: F401
