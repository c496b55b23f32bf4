"""Python comes to the same bytes as machine code: what is worked on, and how, must not depend on which was at hand."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

from tests.sample import DATA

SCORES = f"{DATA}/scores.npz --from natasha"

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@pytest.mark.slow("process")
@pytest.mark.parametrize(
    "line",
    [
        f"sample {SCORES} -k 50 --seed 7",
        f"sample {SCORES} -k 5 --seed 7 --projective",
        f"swor {SCORES} -k 5 --seed 7",
        f"partition {SCORES}",
        f"marginals {SCORES}",
        f"marginals {SCORES} --projective",
        f"marginals {DATA}/saturated.npy --from log",
        f"expect entropy {SCORES} --grad",
        f"decode {SCORES} -k 3",
        f"decode {SCORES} --method mbr --conllu {DATA}/sentences.conllu",
        f"check-bias {DATA}/figure1.npy -k 200 --seed 7",
        f"bitext expectations {DATA}/bitext.npz",
    ],
)
def test_the_same_bytes(deptree, line):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "deptree_cli", *line.split(), "-q"]
    interpreted = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=200)
    compiled = deptree(*line.split(), "-q")
    assert len(compiled.out) > 50
    assert (interpreted.stdout, interpreted.returncode) == (compiled.out, compiled.code)
