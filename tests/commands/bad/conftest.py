"""What tests of bad input that have no table yet begin with."""

import pytest


def bad(name, args, says, files=None):
    """A case: a command line, what its one line must say, and the files that it meets."""
    return pytest.param(args, says, files or {}, id=name)


@pytest.fixture
def refused():
    def check(ran, *says):
        assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), ran.err
        assert ran.said[0].startswith("deptree")
        assert [part for part in says if part not in ran.said[0]] == [], ran.said[0]

    return check


@pytest.fixture
def meet(put, deptree, tmp_path):
    """Run a bad command among these files, quietly and not, which must not change what its one line says."""

    def run(args, files):
        for name, content in {"unrelated": b"", **files}.items():
            put(name, content)
        before = sorted(path.name for path in tmp_path.iterdir())
        quiet, loud = deptree(*args, "-q"), deptree(*args)
        assert loud.said[-1:] == quiet.said
        assert all(said.startswith("deptree: ") for said in loud.said[:-1]), loud.err
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        return quiet

    return run
