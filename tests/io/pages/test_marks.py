"""Sentences with marks keep every byte that is not about them."""

from __future__ import annotations

from deptree_cli.io.conllu.columns import COLUMNS
from tests.io.pages.scripts import needs_node, run

STALE = {"comments": ["tree_logprob"], "prefix": "swor_", "misc": ["HeadProb", "Doubt", "DoubtNote"]}
CONLLU = (
    "# sent_id = s\r\n# swor_rank = 1\r\n# tree_logprob = -1\r\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\r\n"
    "1\ta\t_\tX\t_\t_\t2\tdet\t2:det\tHeadProb=.5|A=B=C\r\n1.1\te\t_\t_\t_\t_\t_\t_\t0:root\t_\r\n"
    "2\tb\t_\tX\t_\t_\t0\troot\t0:root\t_\r\n\r\n"
)
SENTENCE = {"index": 0, "id": "s", "n": 2, "forms": ["a", "b"], "tree": [2, 0], "annotated": [True, True]}
SENTENCE |= {"conllu": CONLLU, "columns": COLUMNS}
MARKS = """const marks = { in: () => value.marks }, out = [value.sentence]"""


def exported(marks: list, function: str, *more: str, **fields: object) -> str:
    value = {"marks": marks, "sentence": SENTENCE | fields, "stale": STALE}
    expression = f"(() => {{ {MARKS}; return {function}({', '.join(['out', 'marks', *more])}); }})()"
    return run(["data.js", "marks.js"], expression, value)


@needs_node
def test_conllu_without_marks_is_the_file_and_a_verdict_touches_misc_alone():
    assert exported([], "marksAsConllu", "value.stale") == CONLLU
    found = exported([[1, {"verdict": "ambiguous", "note": "this|that"}]], "marksAsConllu", "value.stale")
    assert found == CONLLU.replace("A=B=C", "A=B=C|DoubtNote=ambiguous: this/that")


@needs_node
def test_a_chosen_head_drops_what_was_true_of_the_old_tree():
    found = exported(
        [[1, {"verdict": "wrong", "head": 0}], [2, {"head": 1, "label": "obj"}]], "marksAsConllu", "value.stale"
    )
    assert found == (
        "# sent_id = s\r\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\r\n"
        "1\ta\t_\tX\t_\t_\t0\troot\t_\tA=B=C|DoubtNote=wrong\r\n2\tb\t_\tX\t_\t_\t1\tobj\t_\t_\r\n\r\n"
    )


@needs_node
def test_marks_go_into_the_columns_of_the_file():
    """Columns that marks change nothing in are copied, and none is added."""
    plus = "# global.columns = ID MISC X:Y HEAD DEPREL\n1\tDoubtNote=no\t=HYPERLINK()|*\t2\tdet\n2\t_\t_\t0\troot\n\n"
    marks = [[1, {"verdict": "fine", "head": 0}], [2, {"head": 1, "label": "obj"}]]
    columns = ["id", "misc", "x:y", "head", "deprel"]
    assert exported(marks, "marksAsConllu", "value.stale", conllu=plus, columns=columns) == (
        "# global.columns = ID MISC X:Y HEAD DEPREL\n1\tDoubtNote=fine\t=HYPERLINK()|*\t0\troot\n2\t_\t_\t1\tobj\n\n"
    )


@needs_node
def test_to_choose_the_head_that_a_word_has_is_no_mark():
    """Where the CoNLL-U has none it is one, and is written: the head shown is the most probable tree's."""
    bare = {**SENTENCE, "annotated": [False, True], "conllu": CONLLU.replace("\t2\tdet", "\t_\tdet")}
    expression = (
        "value.sentences.map((s) => { const marks = new Marks('key'); marks.set(s, 1, {head: s.tree[0]});"
        " marks.set(s, 2, {verdict: 'fine', head: s.tree[1]});"
        " return [marks.in(s), marksAsConllu([s], marks, value.stale)]; })"
    )
    (marks, _), (of_bare, written) = run(
        ["data.js", "marks.js"], expression, {"sentences": [SENTENCE, bare], "stale": STALE}
    )
    assert marks == [[2, {"verdict": "fine"}]]
    assert of_bare == [[1, {"head": 2}], [2, {"verdict": "fine"}]]
    assert "1\ta\t_\tX\t_\t_\t2\tdet\t_\tA=B=C\r\n" in written
