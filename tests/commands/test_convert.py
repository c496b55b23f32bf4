"""Scores as they come and go: `deptree convert` between layouts, `deptree dump` from text, and every transport."""

import gzip
import json
import os
import subprocess
import threading
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.io.parsers import adapter_of
from deptree_cli.io.scores.layout import PRESETS
from tests.bounded import bounded
from tests.lines import table
from tests.plus import to_plus
from tests.sample import DATA


@pytest.mark.parametrize("preset", sorted(layout.name for layout in PRESETS if layout.labels is None))
@pytest.mark.parametrize("container", ["npz", "jsonl", "safetensors"])
def test_what_is_written_needs_no_options_to_be_read(done, preset, container):
    done(f"convert $SCORES --to {preset} -o scores.{container}")
    ran = done(f"partition scores.{container}")
    assert f"|from:{preset}|" in ran.signature
    for row, known in zip(ran.rows, done("partition $SCORES").rows, strict=True):
        assert (row["sent_id"], row["n"]) == (known["sent_id"], known["n"])
        for name in ("log_z", "single_root_mass"):
            assert row[name] == pytest.approx(known[name])
    if container == "npz":
        layout, rectangle = PRESETS.get(preset), preset in ("natasha", "udpipe2", "supar-probs")
        with np.load("scores.npz") as scores:
            assert scores["en-1"].shape == ((8, 8) if layout.root == "diagonal" else (9 - rectangle, 9))
            assert scores["en-1"].dtype == (np.float64 if layout.scale == "weight" else np.float32)


def test_the_usual_layout_single_answers_and_options_of_reading(done):
    done("convert $SCORES -o usual.npz")
    with np.load(DATA / "scores.npz") as scores, np.load("usual.npz") as usual:
        own = scores["en-1"].astype(float)
        np.testing.assert_array_equal(usual["en-1"][0, 1:], own[:, 0])
    ran = done("convert $SCORES --to weight,dep-head,last")
    np.testing.assert_allclose(np.array(ran.rows[1]["scores"])[:-1, -1], np.exp(own[:, 0]))
    assert "|from:dep-head,last,weight|" in ran.rows[0]["signature"]
    done("convert $SCORES --temperature 3 -o tempered.npz")
    found, expected = (done(f"partition {line}").rows for line in ("tempered.npz", "$SCORES --temperature 3"))
    assert [row["log_z"] for row in found] == pytest.approx([row["log_z"] for row in expected], rel=1e-5)


def test_weights_that_no_float_holds(done, put):
    """Columns are shifted where that helps; what is still too small is counted."""
    put("far.npy", np.array([[0, 800.0, 900], [0, 0, 100], [0, 790, 0]]))
    shifted = done("convert far.npy --from head-dep,log --to weight")
    assert "1 arc is forbidden now" in shifted.err
    (row,) = shifted.rows[1:]
    np.testing.assert_allclose(row["scores"], [[0, 1, 1], [0, 0, 0], [0, np.exp(-10), 0]])
    assert "forbidden" not in done("convert far.npy --from head-dep,log --to log").err


def forms_of(row):
    return [line.split("\t")[1] for line in row["conllu"].splitlines() if line[:1].isdigit()]


def test_forms_stay_and_make_conllu(done):
    lines = done("convert $DATA/scores.jsonl --from natasha").out
    assert forms_of(json.loads(lines.splitlines()[1]))[:3] == ["She", "saw", "the"]
    out = done("decode - --format conllu", stdin=lines).out.decode()
    assert "# text = She saw the man with the telescope ." in out
    assert "\n2\tsaw\t_\t_\t_\t_\t0\troot\t_\tHeadProb=0.9999" in out


@pytest.mark.quick
@pytest.mark.parametrize("forms", [["a\tb"], ["a\nb"], [""], [1], "a", ["a", "b"], ["\ud800"]], ids=ascii)
@pytest.mark.parametrize("line", ["partition", "sample --format conllu"])
def test_forms_that_cannot_stand_in_a_column_are_an_error(refused, line, forms):
    stdin = json.dumps({"scores": [[1, 1], [1, 1]], "forms": forms}).encode()
    err = refused(f"{line} - --from head-dep -q", "forms", stdin=stdin).err
    assert "--conllu" in err or "Repair" in err


@pytest.mark.parametrize("transport", ["x", "x.gz", "-", "gzip on -", "pipe", "gzip in pipe"])
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("sentences.conllu", "decode $SCORES --conllu"),
        ("labels.json", "decode $DATA/label_scores.npz --from natasha --labels"),
        ("lengths.txt", "decode $DATA/scores.npy --from supar --lengths"),
        ("scores.npz", "decode --from natasha"),
    ],
)
def test_every_transport(done, put, transport, name, line):
    data = (DATA / name).read_bytes()
    wanted = done(f"{line} $DATA/{name} -q --no-header").out
    packed = gzip.compress(data) if "gz" in transport else data
    path = transport.split()[-1]
    if path == "pipe":
        os.mkfifo("pipe")
        feeder = threading.Thread(target=Path("pipe").write_bytes, args=(packed,), daemon=True)
        feeder.start()
    elif path != "-":
        put(path, packed)
    assert done(f"{line} {path} -q --no-header", stdin=packed if path == "-" else b"").out == wanted
    if path == "pipe":
        feeder.join(20)
        assert not feeder.is_alive()


@pytest.fixture(params=["npz", "jsonl"])
def whole(request, put):
    """The name of a file that holds the sample's scores, sentences and scores of labels."""
    blocks = (DATA / "gold.conllu").read_text("utf-8").split("\n\n")
    conllu = {block.split("\n")[0].removeprefix("# sent_id = "): f"{block}\n\n" for block in blocks if block}
    labels, found, rows = json.loads((DATA / "labels.json").read_text("utf-8")), {}, []
    with np.load(DATA / "scores.npz") as scores, np.load(DATA / "label_scores.npz") as label_scores:
        for key in scores:
            found |= {key: scores[key], f"deptree/label_scores/{key}": label_scores[key]}
            found[f"deptree/conllu/{key}"] = np.frombuffer(conllu[key].encode(), np.uint8)
            parts = scores[key].tolist(), label_scores[key].tolist()
            rows.append({"sent_id": key, "scores": parts[0], "label_scores": parts[1], "labels": labels})
            rows[-1]["conllu"] = conllu[key]
    found["deptree/labels"] = np.frombuffer(json.dumps(labels).encode(), np.uint8)
    if request.param == "npz":
        np.savez("all.npz", **found)
    else:
        put("all.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return f"all.{request.param} --from natasha"


EVERYTHING = """
    decode {} --format conllu      | tree_prob
    decode {} --rules ud -k 2 --format jsonl | certified
    sample {} -k 3 --seed 1 --format jsonl | label_log_prob
    marginals {} --format tsv      | label
    doubt {} --rank entropy        | sent_id
    partition {}                   | log_z
    repair $GOLD --scores {} --worth 0 | OldHead
"""


@pytest.mark.parametrize(("line", "parts"), table(EVERYTHING))
def test_one_file_is_as_good_as_four(deptree, whole, line, parts):
    sentences = "" if line.startswith("repair") else "--conllu $GOLD"
    one = deptree(f"{line.format(whole)} -q --no-header")
    four = deptree(f"{line.format('$SCORES')} {sentences} $LABELS -q --no-header")
    assert (one.code, one.out.replace(b"all.npz", b"")) == (four.code, four.out.replace(b"scores.npz", b""))
    assert parts[0].encode() in one.out


def test_rules_find_features_anywhere_in_the_file(done, put):
    """A rule about FEATS holds of all sentences of a file if a word of any has some, also of those in front of it."""
    put("feats.toml", '[[mask]]\nlabel = "nsubj"\nfeats = "Case=Nom"\nallow = true\n')
    blocks = (DATA / "gold.conllu").read_text("utf-8").split("\n\n")[:-1]
    rows = [line.split("\t") for line in blocks[0].split("\n")]
    bare = "\n".join("\t".join([*row[:5], "_", *row[6:]]) if len(row) > 1 else row[0] for row in rows)
    put("bare.conllu", "\n\n".join([bare, *blocks[1:]]) + "\n\n")
    done("convert $SCORES --conllu bare.conllu $LABELS -o bare.npz")
    files = "bare.npz", "$SCORES --conllu bare.conllu $LABELS"
    one, four = (done(f"decode {each} --rules feats.toml --format jsonl -q").rows[1:] for each in files)
    assert [(row["heads"], row["deprels"]) for row in one] == [(row["heads"], row["deprels"]) for row in four]


def test_heads_beside_scores_are_known(done, whole):
    for line in ("doubt {} -q", "decode {} --fix-heads --format jsonl -q", "expect attachment {} -q"):
        one, four = (done(line.format(each)).out for each in (whole, "$SCORES --conllu $GOLD $LABELS"))
        assert one == four, line


def test_forbidden_arcs_have_no_labels(done, put, whole):
    put("leaf.toml", '[[mask]]\nlabel = "nsubj"\ndirection = "right"\n')
    done(f"convert {whole} --rules leaf.toml --to weight -o once.jsonl")
    done("convert once.jsonl -o twice.npz")
    done("convert twice.npz -o thrice.jsonl")
    lines = f"decode {whole} --rules leaf.toml --format jsonl -q", "decode thrice.jsonl --format jsonl -q"
    known, found = (done(line).rows[1:] for line in lines)
    assert [(row["heads"], row["deprels"]) for row in found] == [(row["heads"], row["deprels"]) for row in known]


def test_what_is_left_out_is_told(done, whole):
    assert ".npy holds no sentences and no labels" in done(f"convert {whole} --to log -o s.npy").err
    assert "scores of labels are left out: a product is of arcs" in done(f"combine {whole} {whole} -o c.npz").err
    done(f"convert {whole} --to-labels names.json -o joint.npz")
    assert json.loads(Path("names.json").read_bytes()) == json.loads((DATA / "labels.json").read_text("utf-8"))


def test_what_is_given_by_hand_comes_first(done, refused, put, whole):
    put("few.json", '["x", "y"]')
    refused(f"decode {whole} --labels few.json", "there are scores of 15 labels, but few.json names 2")
    names = [f"l{number}" for number in range(15)]
    put("names.json", json.dumps(names))
    (first, *_) = done(f"decode {whole} --labels names.json").rows[1:]
    assert {*first["deprels"]} < {*names, "root"}
    put("renamed.conllu", (DATA / "gold.conllu").read_bytes().replace(b"telescope", b"periscope"))
    assert b"periscope" in done(f"decode {whole} --conllu renamed.conllu").out
    scores = done(f"decode {whole} --label-scores $DATA/label_scores.npz --labels $DATA/labels.json -q").out
    assert scores == done(f"decode {whole} -q").out


def test_convert_makes_one_file_of_four(done, whole):
    form = whole.split()[0]
    done(f"convert $SCORES --conllu $GOLD $LABELS -o new_{form}")
    done(f"convert {whole} -o again_{form}")
    rows, known = (done(f"decode {each} -q").rows[1:] for each in (f"new_{form}", whole))
    for row, other in zip(rows, known, strict=True):
        assert (row["heads"], row["deprels"]) == (other["heads"], other["deprels"])
        assert row["label_log_prob"] == pytest.approx(other["label_log_prob"], abs=1e-5)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"conllu": 1}, "the field conllu is not text. Give the sentence in CoNLL-U"),
        ({"conllu": "1\tx\n\n"}, "2 columns where a word has 10"),
        ({"conllu": "1\tNo" + "\t_" * 8 + "\n\n"}, "the CoNLL-U beside the scores has 1 word, the scores 2"),
        (
            {"conllu": "1\tNo" + "\t_" * 8 + "\n\n1\tNo" + "\t_" * 8 + "\n\n"},
            "the CoNLL-U beside the scores has 2 sent",
        ),
        ({"conllu": "# sent_id = a\n1\tNo" + "\t_" * 8 + "\n2\tNo" + "\t_" * 8 + "\n\n"}, "the scores is of a"),
        ({"conllu": "\n"}, "the CoNLL-U beside the scores is no sentence"),
        ({"label_scores": [[[1]]]}, "the field labels has no names (there is none)"),
        ({"label_scores": [[[1]]], "labels": ["x", "x"]}, "the label 'x' is listed twice"),
        ({"label_scores": [[[1]]], "labels": [1]}, "1 is not a name"),
        ({"label_scores": [[1]], "labels": ["x"]}, "the field label_scores is not a list of lists of lists"),
        ({"label_scores": [[[1], [1]], [[1], [1]]], "labels": ["x"]}, "the scores of labels have 1 word"),
    ],
)
def test_what_beside_scores_is_wrong(refused, row, says):
    stdin = json.dumps({"scores": [[0, 1, 1], [0, 0, 1], [0, 1, 0]], **row}).encode()
    refused("decode - --from log,head-dep,first", says, stdin=stdin)


def test_sentences_of_other_columns_beside_scores(done, put):
    put("words.conllup", to_plus((DATA / "gold.conllu").read_text("utf-8")))
    done("convert $SCORES --conllu words.conllup -o all.npz")
    lines = ("decode all.npz --format conllu -q --no-header", "decode $SCORES --conllu words.conllup -q --no-header")
    one, two = (done(line).out for line in lines)
    assert one == two


NO = "1\tNo" + "\t_" * 8 + "\n\n"


def test_sentences_that_are_not_utf_8(deptree, refused, put):
    put("latin.conllu", b"# sent_id = 1\n# \xe9\n" + NO.encode())
    put("x.npy", np.zeros((2, 2)))
    refused("convert x.npy --from log,head-dep,first --conllu latin.conllu", "is not UTF-8. Convert the file to UTF-8")
    ran = deptree("convert x.npy --from log,head-dep,first --conllu latin.conllu -o x.npz --on-error skip")
    assert (ran.code, ran.said[-1]) == (1, "deptree: 1 sentence skipped")
    stdin = json.dumps({"scores": [[0, 1], [0, 0]], "conllu": "# \ud800\n" + NO}).encode()
    refused("decode - --from log,head-dep,first", "the field conllu is not UTF-8", stdin=stdin)


def test_labels_of_some_sentences(refused, deptree, put):
    row = {"scores": [[0, 1], [0, 0]], "label_scores": [[[1], [1]], [[1], [1]]], "labels": ["x"]}
    bare, line = {"scores": [[0, 1], [0, 0]]}, "decode - --from log,head-dep,first -q -o x.jsonl"
    rows = [json.dumps(each).encode() + b"\n" for each in (row, bare, {**row, "labels": ["y"]})]
    refused(line, "the file has scores of labels, but none of this sentence", stdin=rows[0] + rows[1])
    refused(line, "scores of labels that are not of the first sentence", stdin=rows[1] + rows[0])
    refused(line, "others than those of the first sentence. Pass joined files separately", stdin=rows[0] + rows[2])


BESIDE = {
    "deptree/conllu/y": (
        np.zeros(0, np.uint8),
        "deptree/conllu/y]: it belongs to no sentence of the file. Leave it out",
    ),
    "deptree/else": (np.zeros(0, np.uint8), "deptree/else]: it belongs to no sentence"),
    "deptree/label_scores/x": (np.zeros((2, 2, 1)), "the labels of these scores have no names in the file"),
    "deptree/labels": (np.array("[]"), "deptree/labels]: these are no bytes (uint8). Save text as"),
    "deptree/conllu/x": (np.zeros(3), "deptree/conllu/x] (x): these are no bytes (uint8)"),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", BESIDE)
def test_what_an_archive_holds_beside_sentences(refused, put, name):
    np.savez("x.npz", **{"x": np.zeros((2, 2)), name: BESIDE[name][0]})
    refused("decode x.npz --from log,head-dep,first -q", BESIDE[name][1])


def test_names_of_what_is_no_sentence(refused, put):
    rows = [{"sent_id": name, "scores": [[0, 1], [0, 0]], "conllu": NO} for name in ("scores", "lengths")]
    stdin = "".join(json.dumps(row) + "\n" for row in rows).encode()
    refused("convert - --from log,head-dep,first -o x.npz", "would be read as a padded batch", stdin=stdin)
    row = {"sent_id": "deptree/conllu/x", "scores": [[0, 1], [0, 0]]}
    line = "convert - --from log,head-dep,first -o x.npz"
    refused(line, "names with deptree/ mean no sentence", stdin=json.dumps(row).encode())
    np.savez("y.npz", **{"deptree/labels": np.frombuffer(b'["x"]', np.uint8)})
    refused("partition y.npz", "the .npz holds no arrays")


needs_natasha = pytest.mark.skipif(find_spec("slovnet") is None, reason="natasha is not installed")


@pytest.fixture
def afresh():
    """Parsers are loaded anew, not taken from an earlier test of this process, nor left to a later one."""
    adapter_of.cache_clear()
    yield
    adapter_of.cache_clear()


@needs_natasha
def test_dumped_text_goes_through_the_pipe(done):
    dumped = done("dump natasha $DATA/paragraphs.txt")
    header, *rows = dumped.rows
    assert header == {"signature": dumped.signature}
    assert dumped.signature.startswith("deptree|dump|from:natasha|parser:")
    assert [row["sent_id"] for row in rows] == [str(number) for number in range(1, 11)]
    text = "".join((DATA / "paragraphs.txt").read_text(encoding="utf-8").split())
    assert "".join(form for row in rows for form in forms_of(row)) == text
    for row in rows:
        assert list(row) == ["sent_id", "scores", "conllu", "labels", "label_scores"]
        n = len(forms_of(row))
        assert np.shape(row["scores"]) == (n, n + 1)
        assert np.shape(row["label_scores"]) == (n, n + 1, len(row["labels"]))
    scores = dumped.out.partition(b"\n")[2]
    samples = done("sample - --from natasha -k 5 --seed 7", stdin=scores).rows
    assert [row["sent_id"] for row in samples] == [row["sent_id"] for row in rows for _ in range(5)]
    assert forms_of(rows[0]) == ["Ранним", "утром", "над", "рекой", "поднялся", "туман", "."]
    assert done("decode - --from natasha", stdin=scores).rows[0]["heads"] == [2, 5, 4, 5, 0, 5, 5]


@needs_natasha
def test_all_of_a_dump_is_in_one_archive(done, udvalidate, put, tmp_path):
    assert done("dump natasha $DATA/paragraphs.txt -o s.npz --batch 3").out == b""
    rows = done("dump natasha $DATA/paragraphs.txt --no-header").rows
    with np.load("s.npz") as found, zipfile.ZipFile("s.npz") as archive:
        assert archive.comment.decode().startswith("deptree|dump|from:natasha|")
        labels = json.loads(found["deptree/labels"].tobytes())
        assert "nsubj" in labels
        assert [name for name in found if not name.startswith("deptree/")] == [row["sent_id"] for row in rows]
        for row in rows:
            assert found[row["sent_id"]].tolist() == row["scores"]
            assert found[f"deptree/label_scores/{row['sent_id']}"].tolist() == row["label_scores"]
        blocks = b"".join(found[f"deptree/conllu/{row['sent_id']}"].tobytes() for row in rows)
    put("s.conllu", blocks)
    checked = udvalidate(tmp_path / "s.conllu", 1)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    decoded = done("decode s.npz --format conllu").out.decode()
    assert "# text = «Сегодня будет жарко», — сказал он и посмотрел на восток." in decoded
    piped = done("decode - --format conllu", stdin=done("dump natasha $DATA/paragraphs.txt").out)
    assert piped.out.decode() == decoded


@needs_natasha
def test_conllu_keeps_tokens_and_bytes(done):
    own = (DATA / "sentences.conllu").read_bytes()
    ran = done("dump natasha - --no-header", stdin=own)
    with np.load(DATA / "scores.npz") as known:
        assert {row["sent_id"]: np.shape(row["scores"]) for row in ran.rows} == {key: known[key].shape for key in known}
    assert "".join(row["conllu"] for row in ran.rows).encode() == own


@needs_natasha
def test_what_holds_no_sentences_says_so(done):
    ran = done("dump natasha $DATA/paragraphs.txt -o s.safetensors")
    assert ".safetensors holds no sentences and no labels: .npz and .jsonl do" in ran.err


@needs_natasha
def test_what_the_input_is_can_be_said(done, refused):
    heading = "# Утро\n\nТуман над рекой.\n".encode()
    refused("dump natasha", "If this is text, pass --input text.", stdin=heading)
    rows = done("dump natasha --input text --no-header", stdin=heading).rows
    assert [forms_of(row) for row in rows] == [["#", "Утро"], ["Туман", "над", "рекой", "."]]


@pytest.mark.slow("process")
@needs_natasha
def test_scores_come_before_the_text_ends(warm):
    command = [warm / "deptree", "dump", "natasha", "--batch", "1", "--no-header", "-q"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        # more than what a pipe's reader takes at once, so that it stands in the first read
        process.stdin.write(("Шёл дождь. " + " " * 160_000 + "\n\n").encode())
        process.stdin.flush()
        first = bounded(process.stdout.readline)
        process.stdin.write("Потом выглянуло солнце.\n".encode())
        process.stdin.close()
        last = process.stdout.read().splitlines()[-1]
    assert process.returncode == 0
    assert forms_of(json.loads(first)) == ["Шёл", "дождь", "."]
    assert forms_of(json.loads(last)) == ["Потом", "выглянуло", "солнце", "."]


@needs_natasha
@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "stdin", "says"),
    [
        ("", b" \n\n", "standard input: the file is empty"),
        ("", b"\xd0\xa2\xff", "standard input:1: this is not UTF-8"),
        ("--input conllu", b"Text.\n", "1 column where a word has 10"),
        # the second block is none: what was asked for does not appear
        ("-o s.npz --batch 1 -q", ("1\tДа" + "\t_" * 8 + "\n\n1\tДа\n\n").encode(), "standard input:3"),
    ],
)
def test_what_dump_refuses(refused, tmp_path, line, stdin, says):
    refused(f"dump natasha {line}", says, stdin=stdin)
    assert list(tmp_path.iterdir()) == []


def test_parsers_of_one_model_and_that_do_not_split_text(refused):
    refused("dump natasha --model m", "natasha has one model only. Leave out --model.", stdin=b"Text.")
    refused("dump supar $DATA/paragraphs.txt --model m", "paragraphs.txt: supar does not split text. Give it sentences")


def test_forbidden_arcs_and_no_labels(refused, done, monkeypatch, afresh):

    class Adapter:
        labels = None

        def scores(self, batch, labelled):
            size = len(batch[0]) + 1
            return [(np.where(np.eye(size, dtype=bool), -np.inf, 0.5), None)]

    monkeypatch.setattr("deptree_cli.io.parsers.adapters.load_supar", lambda model: Adapter())
    block = b"1\tNo\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    ran = done("dump supar --model m", stdin=block)
    (row,) = ran.rows[1:]
    assert (row["scores"], forms_of(row)) == ([[None, 0.5], [0.5, None]], ["No"])
    assert "label_scores" not in row
    assert "supar gives no scores of labels here: trees will have no labels" in ran.err
    assert "|model:m|" in ran.signature
    refused("dump supar --model m --to-labels l.json", "There is no --to-labels now: the file of scores holds them.")
