"""``deptree doubt``: order, the first, bytes of sentences, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deptree_cli import read
from tests.io.pages.scripts import needs_node, run
from tests.sample import DATA, LABELS

GOLD = DATA / "gold.conllu"
BARE = (DATA / "scores.npz", "--from", "natasha")
LINE = ("doubt", *BARE, "--conllu", GOLD)


def sentences() -> dict[str, object]:
    return {each.id: each for each in read(str(BARE[0]), str(GOLD), preset="natasha")}


def without_heads() -> str:
    """The sentences without HEAD and DEPREL."""
    rows = [line.split("\t") for line in GOLD.read_text(encoding="utf-8").split("\n")]
    return "\n".join("\t".join([*each[:6], "_", "_", *each[8:]] if len(each) == 10 else each) for each in rows)


def test_words_in_order_of_probability(done) -> None:
    """All 54 words with the marginals of the library, the least first; the same bytes with two workers."""
    ran = done(*LINE)
    found = sentences()
    probs = [row["prob"] for row in ran.rows]
    assert probs == sorted(probs)
    assert [row["rank"] for row in ran.rows] == list(range(1, 55))
    for row in ran.rows:
        marginals = found[row["sent_id"]].distribution.marginals()
        assert row["prob"] == pytest.approx(marginals[row["head"], row["word"]])
        assert row["best_prob"] == pytest.approx(marginals[:, row["word"]].max())
        assert row["head"] == found[row["sent_id"]].record.block.heads[row["word"] - 1]
    expected = sum(1 - prob for prob in probs)
    assert ran.said == [
        f"deptree: {expected:.1f} of 54 annotated words of 8 sentences are wrong, if the probabilities are right"
    ]
    assert done(*LINE, "--jobs", 2).out == ran.out


@pytest.mark.parametrize("by", ["expected-errors", "entropy", "margin", "tree-prob", "disagreement"])
def test_sentences_in_order(done, by: str) -> None:
    ran = done(*LINE, "--rank", by)
    field = {"margin": "least_margin", "tree-prob": "tree_prob"}.get(by, by.replace("-", "_"))
    values = [row[field] for row in ran.rows]
    assert values == sorted(values, reverse=by not in ("margin", "tree-prob"))
    assert len(values) == 8
    found = sentences()
    for row in ran.rows:
        distribution, heads = found[row["sent_id"]].distribution, found[row["sent_id"]].record.known_heads
        assert row["entropy"] == pytest.approx(distribution.entropy())
        assert row["tree_logprob"] == pytest.approx(distribution.log_prob(heads))
        words = done(*LINE).rows if row["rank"] == 1 else None
        if words:
            own = [each["prob"] for each in words if each["sent_id"] == row["sent_id"]]
            assert row["expected_errors"] == pytest.approx(sum(1 - prob for prob in own))
            assert row["suspects"] == sum(prob < 0.5 for prob in own)


def test_labels_rank_words_with_their_heads(done) -> None:
    rows = done(*LINE, *LABELS).rows
    known = [row["prob"] if row["deprel_prob"] is None else row["deprel_prob"] for row in rows]
    assert known == sorted(known)
    assert all(row["deprel_prob"] is None or row["deprel_prob"] <= row["prob"] for row in rows)


def test_a_label_that_scores_do_not_tell(done, put) -> None:
    put("odd.conllu", GOLD.read_text(encoding="utf-8").replace("\tobj\t", "\tobject\t"))
    ran = done("doubt", *BARE, "--conllu", "odd.conllu", *LABELS)
    odd = [row for row in ran.rows if row["deprel"] == "object"]
    assert odd
    assert {row["deprel_prob"] for row in odd} == {None}
    assert f"{len(odd)} words whose DEPREL is not in --labels" in ran.err


def test_equals_stay_in_the_order_of_the_file(done, put) -> None:
    """Six sentences with the same scores; with a heap of three too."""
    put(
        "s.jsonl",
        "".join(
            json.dumps({"sent_id": f"s{at}", "scores": [[0, 3, 1], [0, 0, 2], [0, 1, 0]]}) + "\n" for at in range(6)
        ),
    )
    words = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
    put("t.conllu", "".join(f"# sent_id = s{at}\n{words}" for at in range(6)))
    line = ("doubt", "s.jsonl", "--conllu", "t.conllu", "--rank", "entropy")
    assert [row["sent_id"] for row in done(*line).rows] == [f"s{at}" for at in range(6)]
    assert [row["sent_id"] for row in done(*line, "--top", 3).rows] == ["s0", "s1", "s2"]


def test_filters(done) -> None:
    rows = done(*LINE).rows
    assert done(*LINE, "--top", 7).rows == rows[:7]
    ranked = done(*LINE, "--per", "sentence").rows
    left, expected = 20, []
    for row in ranked:
        if row["n"] <= left:
            left -= row["n"]
            expected.append(row)
    assert done(*LINE, "--words", 20).rows == expected


def test_nothing_is_told(done, put) -> None:
    """Whatever leaves nothing to write is named: too few words, bounds, marks, a shard without sentences."""
    for line, says in {
        ("--words", 1): "nothing fits into --words 1: the shortest of 8 sentences has 3 words",
        ("--words", 2, "--rank", "entropy", "--format", "conllu"): "--words 2: the shortest of 8 sentences has 3 words",
        ("--words", 3, "--top", 1, "--rank", "tree-prob"): "the shortest of 1 sentence has 9 words",
        ("--shard", "9/9"): "nothing to rank: there are no sentences",
        ("--shard", "9/9", "--per", "sentence"): "nothing to rank: there are no sentences",
    }.items():
        ran = done(*LINE, *line)
        assert not [text for text in ran.out.splitlines() if not text.startswith(b"#")]
        assert [text for text in ran.said if says in text], (line, ran.err)
    rows = [line.split("\t") for line in GOLD.read_text(encoding="utf-8").split("\n")]
    put("fine.conllu", "\n".join("\t".join([*row[:9], "DoubtNote=fine"] if len(row) == 10 else row) for row in rows))
    ran = done("doubt", *BARE, "--conllu", "fine.conllu")
    assert (ran.out, ran.said[0]) == (b"", "deptree: nothing to rank: all words are marked as fine")


def test_sentences_stay_byte_for_byte(done, put) -> None:
    """A byte order mark, CRLF, a stale mark and no last newline: sorted, they are the same bytes but for marks."""
    own = GOLD.read_bytes().replace(b"Also=head=4|", b"Also=head=4|Doubt=0.1|")
    put("odd.conllu", b"\xef\xbb\xbf" + own.replace(b"\n", b"\r\n").rstrip(b"\r\n"))
    out = done("doubt", *BARE, "--conllu", "odd.conllu", "--format", "conllu", "--no-header", "--threshold", 0.5).out
    assert not out.startswith(b"\xef\xbb\xbf")
    blocks = out.split(b"\r\n\r\n")
    assert blocks.pop() == b""
    ranked = done(*LINE, "--per", "sentence").rows
    names = [row["sent_id"] for row in ranked]
    assert [block.split(b"sent_id = ")[1].split(b"\r\n")[0].decode() for block in blocks] == names
    bare = [b"\r\n".join(line for line in block.split(b"\r\n") if b"expected_errors" not in line) for block in blocks]
    marked = [line for block in bare for line in block.split(b"\r\n") if b"Doubt=" in line]
    assert len(marked) == sum(row["suspects"] for row in ranked) == 1
    plain = {block.replace(b"|Doubt=0.5929", b"") for block in bare}
    assert plain == set(GOLD.read_bytes().rstrip(b"\n").replace(b"\n", b"\r\n").split(b"\r\n\r\n"))
    put("out.conllu", done(*LINE, "-q", "--format", "conllu", "--threshold", 1).out)
    again = done("doubt", *BARE, "--conllu", "out.conllu", "-q", "--format", "conllu", "--threshold", 1).out
    assert again == Path("out.conllu").read_bytes()


def test_unannotated_words_are_left_out(done, put) -> None:
    put("part.conllu", GOLD.read_text(encoding="utf-8").replace("\t2\tnsubj\t", "\t_\t_\t"))
    part = done("doubt", *BARE, "--conllu", "part.conllu")
    assert 0 < len(part.rows) < 54
    partial = done("doubt", *BARE, "--conllu", "part.conllu", "--rank", "tree-prob")
    assert 0 < len(partial.rows) < 8
    assert "left out: they lack HEADs that --rank needs" in partial.err
    put("none.conllu", without_heads())
    for more in ((), ("--conllu", "none.conllu")):
        assert done("doubt", *BARE, *more, "--rank", "disagreement").rows[0]["expected_errors"] is None


def test_impossible_heads_and_such_that_make_no_tree(done, put) -> None:
    put("s.jsonl", '{"sent_id": "a", "scores": [[0, 1, 1], [0, 0, 1], [0, 0, 0]]}\n')
    put("t.conllu", "# sent_id = a\n1\ta\t_\t_\t_\t_\t2\tdep\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n")
    (row,) = done("doubt", "s.jsonl", "--conllu", "t.conllu", "--rank", "tree-prob").rows
    assert (row["tree_prob"], row["tree_logprob"], row["expected_errors"]) == (0.0, None, 1.0)
    assert np.isfinite(row["entropy"])


def test_what_a_report_has_marked_as_fine_is_left_out(done, put) -> None:
    """With a note behind it, too; other notes leave a word in, and all stay where sentences are written."""
    text = GOLD.read_text(encoding="utf-8")
    for form, head, note in (("Москвы", 3, "fine: asked"), ("Brna", 6, "wrong: look again"), ("sang", 1, "finer")):
        (line,) = (each for each in text.split("\n") if each.split("\t")[1:2] == [form])
        assert line.split("\t")[6] == str(head)
        cells = line.split("\t")
        entries = [] if cells[9] == "_" else [cells[9]]
        text = text.replace(line, "\t".join([*cells[:9], "|".join([*entries, f"DoubtNote={note}"])]))
    put("marked.conllu", text)
    marked = ("doubt", *BARE, "--conllu", "marked.conllu")
    left = [row for row in done(*LINE).rows if (row["sent_id"], row["word"]) != ("ru-1", 6)]
    assert [row["prob"] for row in done(*marked).rows] == [row["prob"] for row in left]
    found = {row["sent_id"]: row for row in done(*marked, "--per", "sentence").rows}
    before = {row["sent_id"]: row for row in done(*LINE, "--per", "sentence").rows}
    assert found["ru-1"]["expected_errors"] < before["ru-1"]["expected_errors"] - 0.4
    assert found["cs-1"] | {"rank": 0} == before["cs-1"] | {"rank": 0}
    assert done(*marked, "--format", "conllu").out.count(b"DoubtNote=") == 3


@needs_node
def test_what_the_page_exports_is_read(done, put) -> None:
    """A word that is marked as fine in the page is none of the rows of `doubt`; one that is wrong is."""
    done("report", *BARE, "--conllu", GOLD, "-o", "page.html")
    data = json.loads(Path("page.html").read_text("utf-8").split('id="data">')[1].split("</script>")[0])
    expression = (
        "(() => { const all = readSentences(value), marks = new Marks('key');"
        " const mark = (id, ...of) => marks.set(all.find((s) => s.id === id), ...of);"
        " mark('ru-1', 6, {verdict: 'fine', note: 'asked | twice'}); mark('cs-1', 8, {verdict: 'wrong'});"
        " return marksAsConllu(all, marks, value.stale); })()"
    )
    put("exported.conllu", run(["data.js", "marks.js"], expression, data))
    rows = done("doubt", *BARE, "--conllu", "exported.conllu").rows
    assert [row["prob"] for row in rows] == [
        row["prob"] for row in done(*LINE).rows if (row["sent_id"], row["word"]) != ("ru-1", 6)
    ]


def test_scores_that_are_read_in_a_wrong_way_are_suspected(done) -> None:
    """Most heads are doubted then, and so they are not if the layout is right."""
    line = ("doubt", DATA / "scores.npy", "--conllu", GOLD, "--top", 1, "--from")
    says = "deptree: more than half of the heads are doubted: is --from right? deptree inspect checks it"
    assert says in done(*line, "synjax").said
    assert says not in done(*line, "supar").said


def test_rows_of_several_files_have_file_and_line(done, put) -> None:
    copy = put("copy.conllu", GOLD.read_bytes())
    scores = [DATA / "scores.npz"] * 2
    given = [*scores, "--from", "natasha", "--conllu", GOLD, "--conllu", copy]
    for row in done("doubt", *given).rows:
        line = Path(row["file"]).read_text(encoding="utf-8").splitlines()[row["line"] - 1]
        assert line.split("\t")[:2] == [str(row["word"]), row["form"]]
    for row in done("doubt", *given, "--per", "sentence").rows:
        assert Path(row["file"]).read_text(encoding="utf-8").splitlines()[row["line"] - 1] == (
            f"# sent_id = {row['sent_id']}"
        )
    assert "file" not in done(*LINE).rows[0]
