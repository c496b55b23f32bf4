"""The page's scripts by node, without a browser: mathematics and text, which need none."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

SCRIPTS = files("deptree_cli.io.pages") / "report" / "js"

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def run(names: list[str], expression: str, value: Any) -> Any:
    """What a JavaScript expression in `value` gives, after some of the page's scripts."""
    loaded = "\n".join((SCRIPTS / name).read_text(encoding="utf-8") for name in names)
    read = 'const value = JSON.parse(require("fs").readFileSync(0));'
    script = f'"use strict";{loaded}\n{read}\nconsole.log(JSON.stringify({expression}));'
    ran = subprocess.run(
        ["node", "-e", script], input=json.dumps(value), capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
