"""What machine code stands on: a change of a kernel, of the main house or of a wing, makes it stale."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deptree_cli.kernels import kept
from tests.house import FILES


def test_all_kernels_are_among_them() -> None:
    """Whatever is made by the decorator."""
    decorated = {path for path in FILES.values() if "\n@kernel" in path.read_text(encoding="utf-8")}
    assert decorated <= set(kept.kernel_files())
    rooms = {path.relative_to(kept.PACKAGE).parts[0] for path in decorated}
    assert rooms >= {
        "kernels",
        "hpyp",
        "bitext",
        "second_order",
    }


@pytest.mark.parametrize(
    ("changed", "is_stale"),
    [
        ("kernels/xoshiro.py", True),
        ("kernels/wilson.py", True),
        ("hpyp/kernels/search.py", True),
        ("bitext/kernels.py", True),
        ("second_order/kernels.py", True),
        ("hpyp/model/sentences.py", False),
        ("core/labels.py", False),
    ],
)
def test_a_changed_kernel_makes_machine_code_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str, is_stale: bool
) -> None:
    """Each file of kernels is compiled for types of others, so all are stale."""
    copy = tmp_path / "deptree_cli"
    shutil.copytree(kept.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kept, "PACKAGE", copy)
    before = kept.digest.__wrapped__()
    with (copy / changed).open("a") as file:
        file.write("# something else\n")
    assert (kept.digest.__wrapped__() != before) == is_stale
