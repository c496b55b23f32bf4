"""Commands load what their run needs and no more: modules and lines of ours, kernels apart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import PROJECT

# The most modules and lines that a run of each command loads, kernels apart.
MOST = {
    "partition sample_data/scores.npz --from log": (51, 8_300),
    "sample sample_data/scores.npz --from log --seed 1": (54, 8_750),
    "check sample_data/sentences.conllu": (45, 8_200),
    "eval sample_data/gold.conllu sample_data/gold.conllu": (43, 8_350),
}

PROGRAM = """
import sys
from contextlib import redirect_stdout, suppress
from io import StringIO, TextIOWrapper, BytesIO

from deptree_cli.cli.app import main

with redirect_stdout(TextIOWrapper(BytesIO())), suppress(SystemExit):
    main()
files = [module.__file__ for name, module in list(sys.modules.items()) if name.startswith("deptree_cli")]
print(*(file for file in files if file and "kernels" not in file), sep="\\n")
"""


@pytest.mark.slow("process")
@pytest.mark.parametrize("line", MOST)
def test_a_command_loads_few_modules_and_lines(line: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *line.split()], capture_output=True, text=True, check=True, cwd=PROJECT
    )
    files = ran.stdout.split()
    modules, lines = MOST[line]
    assert len(files) > 20, ran.stderr
    assert len(files) <= modules
    assert sum(len(Path(file).read_bytes().splitlines()) for file in files) <= lines
