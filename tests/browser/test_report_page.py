"""The report in a browser: what a reader sees, clicks and takes home."""

from __future__ import annotations

import pytest

from tests.browser.conftest import AXE, DATA, EVIL

pytestmark = pytest.mark.slow("process")


def ids(page):
    return page.locator(".rows .id bdi").all_text_contents()


def heads(page):
    """The bars: name of the head -> probability."""
    bars = page.locator(".heads .head")
    names = bars.locator(".name bdi").all_text_contents()
    return dict(zip(names, bars.locator(".p").all_text_contents(), strict=True))


def look_at(page, word):
    page.locator(f'.word[data-word="{word}"]').click()


def test_sorts_and_filters(opened):
    page = opened("sample")
    by_doubt = ids(page)
    assert by_doubt[0] == "en-4"
    assert len(by_doubt) == 8
    page.get_by_label("Sort by").select_option("order of the file")
    assert ids(page)[0] == "en-1"
    page.get_by_label("Reverse the order").click()
    assert ids(page)[-1] == "en-1"
    page.get_by_label("Search text").fill("TELESCOPE")
    assert ids(page) == ["en-1"]
    page.get_by_label("Search text").fill("")
    page.get_by_role("combobox", name="Label", exact=True).select_option("acl:relcl")
    assert ids(page) == ["en-3"]
    page.get_by_label("UPOS").select_option("PUNCT")  # no clause is a full stop
    assert ids(page) == []
    assert page.get_by_text("No sentence fits").is_visible()
    page.get_by_label("UPOS").select_option("VERB")
    assert ids(page) == ["en-3"]


def test_bars_of_the_file_filter(opened):
    page = opened("sample")
    page.locator(".chart.upright").nth(1).locator(".bar-button:enabled").first.click()
    assert 0 < len(ids(page)) < 8
    page.get_by_role("button", name="Show all bars").click()
    assert len(ids(page)) == 8
    assert page.locator(".chart").count() == 4  # with gold heads there is calibration


def test_a_fixed_head_changes_other_probabilities(opened):
    """Who has the telescope decides nothing else; in `Plants flower.` heads hang on each other."""
    page = opened("sample", "en-4")
    look_at(page, 1)
    before = heads(page)
    look_at(page, 2)
    page.locator(".heads .head", has_text="ROOT").click()
    assert "Given 2 flower ← ROOT (probability .731)" in page.locator(".given").inner_text()
    look_at(page, 1)
    given = heads(page)
    assert given["ROOT"] == "0" != before["ROOT"]
    assert given["2 flower"] != before["2 flower"]
    page.get_by_role("button", name="Release all").click()
    assert heads(page) == before


def test_keys(opened):
    page = opened("sample")
    first = page.locator("h2").first.inner_text()
    page.keyboard.press("j")
    assert page.locator("h2").first.inner_text() != first
    page.keyboard.press("k")
    assert page.locator("h2").first.inner_text() == first
    page.locator(".scroller").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("2")
    assert page.locator(".given").is_visible()
    page.keyboard.press("0")
    assert not page.locator(".given").is_visible()
    page.keyboard.press("n")
    assert page.locator(".caption").inner_text() == "Sample 1"
    page.keyboard.press("s")
    page.get_by_text("Sample 3", exact=True).wait_for()
    page.keyboard.press("s")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("jw")
    assert page.get_by_label("Search text").input_value() == "jw"


def test_marks_stay_and_are_exported(opened, tmp_path):
    page = opened("sample", "en-1")
    look_at(page, 7)
    page.keyboard.press("a")
    page.get_by_label("Head to write").select_option("4 man")
    page.get_by_label("Note").fill("who has it?")
    page.get_by_label("Note").press("Tab")
    page.reload()
    page.wait_for_selector(".picture")
    assert page.locator(".rows .mark.ambiguous").count() == 1
    exported = saved(page, "CoNLL-U", tmp_path / "m.conllu")
    before = (DATA / "gold.conllu").read_text(encoding="utf-8").splitlines()
    after = exported.read_text(encoding="utf-8").splitlines()
    (changed,) = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    misc = changed[0].split("\t")[-1]
    assert changed[1].split("\t")[6:] == ["4", "nmod", "_", f"{misc}|DoubtNote=ambiguous: who has it?"]


def saved(page, button, path):
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    download.value.save_as(path)
    return path


def test_without_scores_broken_rules_are_marked_listed_and_filtered(opened, tmp_path):
    page = opened("trees")
    assert ids(page)[:3] == ["raw-01", "raw-07", "raw-02"]  # two places, two, one
    assert page.locator(".tools, .chart, .heads, .picture .arc.other").count() == 0
    assert "root-is-not-0 (1)" in page.get_by_role("combobox", name="Broken rule").inner_text()
    page.get_by_role("combobox", name="Broken rule").focus()
    page.keyboard.type("too-many")
    assert ids(page) == ["raw-08"]
    page.locator(".rows li").click()
    assert page.locator(".broken li").all_inner_texts() == ["too-many-subjects at 1 I with 5 soup"]
    assert page.locator(".picture text.badge").all_text_contents() == ["!", "!"]
    broken = page.locator(".picture g.arc.broken-arc")
    assert [each.get_attribute("data-dependent") for each in broken.all()] == ["5", "1"]
    assert broken.first.locator(".line").evaluate("(line) => getComputedStyle(line).strokeDasharray") == "5px, 3px"
    page.locator(".broken button").press("Enter")
    assert "breaks too-many-subjects" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("w")
    assert "DoubtNote=wrong" in saved(page, "CoNLL-U", tmp_path / "m.conllu").read_text(encoding="utf-8")
    page.keyboard.press("?")
    assert "samples" not in page.get_by_role("dialog").inner_text()


def test_without_scores_a_missing_head_is_no_arc_and_can_be_chosen(opened, tmp_path):
    page = opened("trees", "raw-04")
    assert "Head 12 (no word) is" in page.locator(".marking").inner_text()
    assert page.locator('.picture g.arc[data-dependent="6"]').count() == 0
    page.get_by_label("Head to write").select_option("2 gave")
    assert "\tNNS\t_\t2\tobj\t" in saved(page, "CoNLL-U", tmp_path / "m.conllu").read_text(encoding="utf-8")


def test_markup_in_a_treebank_is_text(opened):
    page = opened("evil")
    page.get_by_label("Search text").fill("document.title")
    assert ids(page) == [EVIL]
    page.locator(".rows li").click()
    assert page.locator("h2").first.inner_text() == EVIL
    assert EVIL in page.locator(".picture .form").all_text_contents()
    assert any(EVIL in tag for tag in page.locator(".picture .tag").all_text_contents())
    assert page.title() == "evil.jsonl · evil.conllu"
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1920])
@pytest.mark.parametrize(("name", "sent_id"), [("sample", "en-1"), ("trees", "raw-01")])
def test_it_is_accessible_and_fits(name, sent_id, width, scheme, opened):
    """No violation of axe-core's rules; the page itself never scrolls sideways."""
    page = opened(name, sent_id, width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if not AXE.exists():
        pytest.skip("make browser installs axe-core")
    page.keyboard.press("w")
    found = page.evaluate(f"(() => {{ {AXE.read_text(encoding='utf-8')} }})() || axe.run()")
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found["violations"]] == []
