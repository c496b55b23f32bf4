"""A browser for the page: Chromium as the system has it, led by playwright, both from `make browser`.

Without one of them these tests skip and say so.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lines import words

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".browser"
DATA = ROOT / "sample_data"
AXE = TOOLS / "axe_playwright_python" / "axe.min.js"

# What a treebank may have, and a page must show as text.
EVIL = "</script><script>document.title='caught'</script><img/src=x>"


@pytest.fixture(scope="session")
def browser():
    """Chromium."""
    if TOOLS.is_dir() and str(TOOLS) not in sys.path:
        sys.path.append(str(TOOLS))
    playwright = pytest.importorskip("playwright.sync_api", reason="make browser installs playwright")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium: make browser")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """A folder with reports: `sample.html`; `evil.html`, whose first sentence has markup everywhere; and of `trees`."""
    folder = tmp_path_factory.mktemp("reports")
    gold = (DATA / "gold.conllu").read_text(encoding="utf-8")
    evil = gold.replace("# sent_id = en-1\n", f"# sent_id = {EVIL}\n", 1).replace("\tsaw\t", f"\t{EVIL}\t", 1)
    (folder / "evil.conllu").write_text(evil.replace("\tobl\t", f"\t{EVIL}\t", 1), encoding="utf-8")
    lines = (DATA / "scores.jsonl").read_text(encoding="utf-8")
    (folder / "evil.jsonl").write_text(lines.replace('"en-1"', json.dumps(EVIL), 1), encoding="utf-8")
    for line in (
        "report $SCORES --conllu $GOLD --gold $GOLD --rules ud $LABELS -o sample.html",
        "report evil.jsonl --from natasha --conllu evil.conllu -o evil.html",
        "report $DATA/broken.conllu --rules ud -o trees.html",
    ):
        command = [Path(sys.executable).parent / "deptree", *words(line)]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return folder


@pytest.fixture
def opened(browser, reports):
    """Opens a report: ``opened("sample", "en-1", width=360)``; at the end nothing was asked of a network or said."""
    context = browser.new_context(accept_downloads=True)
    context.set_default_timeout(5000)
    noted = []

    def open_(name, sent_id="", width=1200, height=900, scheme="light"):
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.on("console", lambda message: noted.append(message.text))
        page.on("pageerror", lambda error: noted.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "blob:")) or noted.append(request.url))
        page.goto(f"{(reports / name).as_uri()}.html{'#' * bool(sent_id)}{sent_id}")
        page.wait_for_selector(".picture")
        return page

    yield open_
    context.close()
    assert noted == []
