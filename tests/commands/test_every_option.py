"""No option in silence: every command, with every option that it takes.

An option changes what comes out (standard output, what is said, a file), or is an error that names it. Whoever adds one
gives it a value here, and a line where it has an effect.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pytest

from tests.every_command import COMMANDS, command
from tests.sample import DATA

PADDED = "padded.npy"  # weights, head-dep, ROOT first: no option is needed, and none says what is so anyway
PLAIN = "scores.npz --from natasha"
LABELLED = f"{PLAIN} --labels labels.json --label-scores label_scores.npz"
FULL, HEADLESS = f"{LABELLED} --conllu deps.conllu", f"{LABELLED} --conllu sentences.conllu"
EIGHTS, THREE = f"{PADDED} --lengths eights.txt", "--conllu three.conllu"
PAIRS, MODEL = "bitext.npz", "model.npz raw_deps.conllu"

# Lines of each command: some have what an option needs, and some do not.
LINES_OF_EACH = f"""
    sample: {PADDED} -k 9 --seed 1; {FULL} -k 9 --seed 1
    swor: {PADDED} --seed 1; {FULL} -k 9 --seed 1
    estimate: swor.jsonl
    decode: {PADDED}; {FULL}; {FULL} -k 5; {FULL} --rules ud --rules forbidden.tsv --temperature 9;
        {PLAIN} {THREE} --rules impossible.tsv
    marginals: {PADDED}; {FULL}; {PLAIN} --format tsv; {PADDED} --temperature calibrated.json --head-sets;
        {FULL} --rules ud --projective --seed 1
    score: {PADDED} turned.jsonl --conllu nines.conllu; {EIGHTS} three.conllu;
        {LABELLED} --conllu partial.conllu decoded.conllu --fix-heads
    eval: gold.conllu decoded.conllu --seed 1; nines.conllu --scores {PADDED};
        gold.conllu decoded.conllu --seed 1 --scores joint.npz --labels joint.json
    measure: treebank.conllu --seed 1; gold.conllu --per sentence -k 9 --seed 1; gold.conllu nines.conllu --per word;
        gold.conllu --seed 1 -k 5 --quantity depth --scores {PLAIN};
        gold.conllu --seed 1 --quantity mean_length --scores joint.npz --labels joint.json
    doubt: {PADDED} --conllu nines.conllu; {PADDED} --rank entropy; {FULL}; {FULL} --rank disagreement
    agree: gold.conllu decoded.conllu; one.jsonl two.jsonl --test --seed 1;
        three.conllu parsed.conllu --scores {EIGHTS}; nines.conllu otherwise.conllu --scores {PADDED};
        gold.conllu decoded.conllu --scores joint.npz --labels joint.json
    check: broken.conllu; nines.jsonl --rules tree
    repair: broken.conllu; broken.conllu --rules few.toml; nines.conllu --worth 0.1 --scores {PADDED};
        gold.conllu --worth 0.1 --scores {LABELLED}; impossible.conllu --rules misc --relax
    partition: {PADDED}; {FULL}
    expect: entropy {PADDED}; entropy {FULL} --grad; renyi {PLAIN} --order 2; kl {PADDED} --other second.npy;
        risk {PLAIN} --gold gold.conllu; features {PLAIN} --features features.npz;
        ge {PLAIN} --features features.npz --target target.txt
    calibrate: {PADDED} --conllu nines.conllu --gold turned.conllu; {EIGHTS} --gold three.conllu;
        {FULL} --gold decoded.conllu
    combine: {PADDED} second.npy; {PADDED} nines.conllu --conllu nines.conllu;
        {PADDED} second.npy --gold nines.conllu --fit; rootless.npy rootless.npy
    diff: gold.conllu decoded.conllu; nines.conllu otherwise.conllu --scores {PADDED};
        gold.conllu decoded.conllu --scores joint.npz --labels joint.json;
        gold.conllu decoded.conllu --scores {LABELLED}
    check-bias: {PADDED} -k 200 --seed 1; {FULL} -k 200 --seed 1; {PLAIN} --samples two.jsonl
    inspect: {PADDED}; {FULL}; {PLAIN} --gold gold.conllu
    show: {PADDED}; {FULL}; {FULL} -k 3 --seed 1; broken.conllu; gold.conllu decoded.conllu
    report: {PADDED} --conllu nines.conllu -o page.html; {PADDED} -o page.html; {FULL} --samples two.jsonl -o page.html;
        broken.conllu -o page.html; broken.conllu --rules ud -o page.html
    convert: {PADDED}; {FULL} -o converted.npz; {LABELLED} --to-labels names.json; rootless.npy
    dump: natasha paragraphs.txt
    warm: inspect
    hpyp train: few.conllu -o new.npz --iterations 1 --seed 1;
        few.conllu -o new.npz --iterations 1 --seed 1 --unlabelled raw.conllu;
        few.conllu -o copy.npz --iterations 3 --seed 1; few.conllu -o foreign.npz --iterations 1 --seed 1
    hpyp parse: {MODEL} --particles 20; {MODEL} --particles 20 -k 2 --seed 1;
        {MODEL} --particles 20 --seed 1 --to-scores s.npz
    hpyp surprisal: {MODEL} --particles 20 --seed 1; {MODEL} --particles 20 --seed 1 --regions tokens --tsv
    hpyp perplexity: {MODEL} --particles 20 --seed 1
    hpyp generate: model.npz -k 3 --seed 1
    bitext align: {PAIRS}; {PAIRS} --above 0.3; {PAIRS} --gold bitext_gold.align
    bitext expectations: {PAIRS}
    bitext show: {PAIRS}
"""
LINES = {
    name: [" ".join(line.split()) for line in lines.split(";")]
    for name, lines in re.findall(r"(?m)^    ([a-z-]+(?: [a-z]+)?): (.*\n(?:        .*\n)*)", LINES_OF_EACH)
}
OTHER_METHODS = ("randomized --iterations 20 --seed 1", "tic-tac-toe", "rdp --iterations 2 --seed 1")
for name, more in {"align": "--above 0.01 --format jsonl", "expectations": "", "show": ""}.items():
    LINES[f"bitext {name}"] += [f"pairs.npy {more}", *(f"{PAIRS} {more} --method {each}" for each in OTHER_METHODS)]

# What an option is given, by its name or, where commands differ, behind that of the command.
GIVEN = """
    --above 0.9; --alpha 0.999; --batch 2; --beam 2; --budget 1; --comment text; estimate --quantity depth;
    measure --quantity depth; bitext align --above 0.01; show --above 0.99; --changes changes.tsv; --confidence 0.5;
    --conllu nines.conllu; --cost 3:1; --coverage 0.9; --features features.npz; --filters 3; --from dep-head,weight;
    --gold gold.conllu; --known known.tsv; bitext align --gold bitext_gold.align; --iterations 2;
    --label-scores label_scores.npz;
    --labels labels.json; --lengths eights.txt; --like treebank.conllu; --longest 3; --mass 0.5;
    bitext align --method randomized --iterations 5 --seed 1; bitext expectations --method tic-tac-toe;
    bitext show --method tic-tac-toe; decode --method mbr; --model other.npz; --null-score 3; --order 3;
    --other other_scores.npz; --particles 7; --passes 2; --permutations 50; --report report.json; --resamples 500;
    --rules forbidden.tsv; check --rules tree; repair --rules tree; --sampler colbourn; swor --sampler beam;
    --samples two.jsonl; --rank entropy; --score-kind log; --scores scores.npz; --seconds 1e-9; --seed 2;
    --sent-id-format {id}~{k}; --sentence 2; --shard 1/2; --size 4; --space multi-root; --states 2;
    --target target.txt; --temperature 2; --text pairs.txt; --threshold 0.45; --to dep-head,last,log;
    --to-labels to.json; --to-scores t.npz; --top 1;
    --unlabelled raw.conllu; --weights 0.25,0.75; --within 0.5; --words 20; --worth 0.1; --output out.jsonl;
    calibrate --output out.json; repair --output out.conllu; report --output out.html; show --output out.svg;
    bitext show --output out.txt; hpyp parse --output out.conllu; hpyp generate --output out.conllu"""
VALUES: dict[str, str] = dict(re.match(r"(.*?--[a-z-]+) (.*)", each.strip()).groups() for each in GIVEN.split(";"))

# What an option needs: each line is tried without and with it.
NEEDS = {
    "agree --seed": "--test",
    "marginals --seed": "--rules ud --projective",
    "marginals --head-sets": "--temperature calibrated.json",
    "show --seed": "-k 3",
    "--sent-id-format": "-k 3",
}

# What by its nature changes nothing where nothing is wrong, and why.
NEVER = {
    "--jobs": "the same bytes, by several processes",
    "--on-error": "nothing is wrong with these sentences",
    "--quiet": "there may be nothing to say",
    "dump --batch": "the same bytes, in other steps",
    "dump --input": "what the first bytes say anyway; the other one is tried in test_dump",
    "warm --cpu": "compiles for a minute: tried in cli/test_terminal",
    "warm --output": "compiles for a minute: tried in cli/test_terminal",
}

# What no line can show here, but that it is refused.
REFUSED = {
    "repair --budget": "a search that ends before a tree is found is an error",
    "dump --model": "natasha has none",
}


# Lines, by parts of them, that options by their nature leave as they are, and why.
LEFT = """
    --seed                                        |                        | scripts pass it to every command
    --conllu                                      | scores.npz             | it confirms the names of these scores
    bitext align --text, bitext expectations --text | bitext.npz           | it confirms the numbers of words
    combine --space, combine --multi-root         | padded.npy             | scores may have no tree with one root
    convert --space, convert --multi-root         | padded.npy, scores.npz | as combine
    decode --budget, decode --relax               | --rules ud             | the first tree obeys
    decode --method                               | deps.conllu            | both find the same tree
    inspect --gold                                | deps.conllu            | these sentences have the same heads
    hpyp train --force                            | new.npz, copy.npz      | nothing is there, or the same data
    bitext align --method                         | pairs.npy              | of such short pairs nothing is pruned
    hpyp parse --particles                        | raw_deps               | few find the best tree too
    measure --space, measure --multi-root         | --per word             | trees of several roots are let through
    measure --projective                          | --per word             | trees with crossing arcs are refused
    measure --labels, agree --labels, diff --labels | joint                | names are not shown, or are the same
    repair --budget, repair --cost, repair --known, repair --like, repair --multi-root, repair --projective, \
    repair --relax, repair --rules, repair --space, \
    repair --temperature | broken, --worth, gold., impossible | repaired alike
"""
EXCUSED: dict[str, list[str]] = defaultdict(list)
for row in filter(None, map(str.strip, LEFT.splitlines())):
    left, parts, _ = row.split("|")
    for option in left.split(","):
        EXCUSED[option.strip()] += map(str.strip, parts.split(","))


def prepare(run: Callable[..., Any], folder: Path) -> None:
    for each in DATA.iterdir():
        if each.is_file():
            shutil.copy(each, folder)
    _write_arrays(folder)
    _write_texts(folder)
    for line in (
        f"decode {HEADLESS} -o decoded.conllu",
        f"swor {PLAIN} -k 5 --seed 7 -o swor.jsonl",
        f"sample {PLAIN} -k 30 --seed 1 -o one.jsonl",
        f"sample {PLAIN} -k 30 --seed 2 -o two.jsonl",
        f"sample {EIGHTS} --conllu three.conllu --seed 5 -o parsed.conllu",
        f"calibrate {PADDED} --gold nines.conllu --coverage 0.5 --coverage 0.9 -o calibrated.json",
        "hpyp train few.conllu -o model.npz --iterations 2 --seed 1",
        "hpyp train few.conllu -o copy.npz --iterations 2 --seed 1",
        "hpyp train raw_gold.conllu -o foreign.npz --iterations 1 --seed 1",
        f"convert {LABELLED} --to-labels joint.json -o joint.npz",
    ):
        ran = run(*line.split())
        assert ran.code == 0, (line, ran.err)


def _write_arrays(folder: Path) -> None:
    rng = np.random.default_rng(0)
    with np.load(folder / "scores.npz") as scores:
        arrays = dict(scores)
    np.save(folder / PADDED, rng.uniform(0.1, 2, (3, 10, 10)))
    np.save(folder / "rootless.npy", [[0.0, 1, 1], [0, 0, 0], [0, 0, 0]])
    np.save(folder / "second.npy", rng.uniform(0.1, 2, (3, 10, 10)))
    np.savez(
        folder / "other_scores.npz", **{each: array + rng.normal(size=array.shape) for each, array in arrays.items()}
    )
    np.savez(folder / "features.npz", **{each: rng.normal(size=(*array.shape, 2)) for each, array in arrays.items()})
    np.save(folder / "pairs.npy", rng.normal(size=(2, 4, 4)))
    (folder / "pairs.txt").write_text("a b ||| x y\nc d ||| z w\n")
    (folder / "eights.txt").write_text("8\n8\n8\n")
    (folder / "target.txt").write_text("1.0\n2.0\n")


def _write_texts(folder: Path) -> None:
    blocks = (folder / "gold.conllu").read_text().rstrip().split("\n\n")
    _write(folder / "deps.conllu", map(_with_deps, blocks))
    _write(folder / "three.conllu", blocks[:3])
    _write(folder / "nines.conllu", map(_with_ninth, blocks[:3]))
    _write(folder / "otherwise.conllu", [_with_ninth(each).replace("\t2\tobl\t", "\t4\tobl\t") for each in blocks[:3]])
    rows = [{"sent_id": f"en-{k}", "heads": _heads(_with_ninth(block))} for k, block in enumerate(blocks[:3], 1)]
    _write(folder / "turned.jsonl", map(json.dumps, reversed(rows)))
    _write(folder / "nines.jsonl", map(json.dumps, rows))
    _write(folder / "turned.conllu", reversed([_with_ninth(each).replace("\t2\t", "\t1\t") for each in blocks[:3]]))
    _write(folder / "partial.conllu", (each.replace("\t2\tnsubj", "\t_\t_") for each in blocks))
    _write(folder / "raw_deps.conllu", map(_with_deps, (folder / "raw.conllu").read_text().rstrip().split("\n\n")[:4]))
    _write(folder / "impossible.conllu", [each.replace("SpaceAfter=No", "HeadIn=7") for each in blocks[:3:2]])
    (folder / "few.toml").write_text('at-most-one = [["obj", "obl"]]\n')
    _write(folder / "few.conllu", (folder / "treebank.conllu").read_text().split("\n\n")[:30])
    (folder / "known.tsv").write_text("raw-02\thead-self-loop\t6\n")
    (folder / "forbidden.tsv").write_text("en-1\t7\tNotHead\t2,4\n")
    (folder / "impossible.tsv").write_text("en-1\t7\tHeadIn\t7\n")


def _write(path: Path, blocks: Iterable[str]) -> None:
    path.write_text("".join(f"{each}\n\n" if path.suffix == ".conllu" else f"{each}\n" for each in blocks))


def _with_deps(block: str) -> str:
    lines = [line.split("\t") for line in block.split("\n")]
    for fields in lines:
        if len(fields) > 1 and fields[0].isdigit():
            fields[8] = f"{fields[6]}:{fields[7]}|9:dep" if fields[0] != "9" else f"{fields[6]}:{fields[7]}"
    return "\n".join(map("\t".join, lines))


def _heads(block: str) -> list[int]:
    rows = [line.split("\t") for line in block.split("\n")]
    return [int(fields[6]) for fields in rows if fields[0].isdigit()]


def _with_ninth(block: str) -> str:
    return f"{block}\n9\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_"


class Outcome(NamedTuple):
    """How a run ended and what it wrote, but for what repeats its command line."""

    code: int
    out: bytes
    said: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...]

    @property
    def is_sound(self) -> bool:
        """Whether it did its work, whatever it found; what is refused says why."""
        assert self.code in (0, 1, 3) or (self.code == 2 and self.said), self
        return self.code != 2


def named(option: click.Option) -> str:
    return max(option.opts, key=len)


# By command and name; others than those with a value change nothing.
OPTIONS = {
    (name, named(each)): each
    for name in COMMANDS
    for each in command(name).params
    if isinstance(each, click.Option) and each.expose_value
}
SHORT = {"--json": "--format jsonl", "--tsv": "--format tsv"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    return tmp_path_factory.mktemp("lines"), {}


@pytest.fixture
def outcome(deptree, filled, monkeypatch):
    """Call with a line: its outcome, worked out once."""
    folder, known = filled
    monkeypatch.chdir(folder)
    if not known:
        prepare(deptree, folder)

    def run(line: str) -> Outcome:
        if line not in known:
            known[line] = observed(deptree, folder, line)
        return known[line]

    return run


def observed(deptree, folder: Path, line: str) -> Outcome:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    ran = deptree(*line.split())
    after = {path: path.read_bytes() for path in folder.iterdir()}
    written = sorted((path, data) for path, data in after.items() if before.get(path) != data)
    for path, _ in written:
        path.write_bytes(before[path]) if path in before else path.unlink()
    said = tuple(each for each in ran.said if not each.startswith("deptree: deptree|"))
    return Outcome(ran.code, content(ran.out), said, tuple((path.name, content(data)) for path, data in written))


SIGNATURE = re.compile(rb'deptree\|([a-z -]+)\|[^"\r\n<]*')


def content(data: bytes) -> bytes:
    """What was written, without the fields of signatures that only say how; of an archive, all that is in it."""
    if zipfile.is_zipfile(BytesIO(data)):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = [each.encode() + archive.read(each) for each in archive.namelist()]
            data = b"\n".join([*parts, archive.comment])
    return SIGNATURE.sub(_without_fields, data)


def _without_fields(found: re.Match[bytes]) -> bytes:
    """Of scores, the fields that say how they are read are a part of them."""
    kept = re.findall(rb"\|(?:from|trees):[^|]*", found[0])
    return found[1] + b"".join(kept if found[1] in (b"convert", b"dump", b"combine", b"hpyp parse") else [])


def tries(name: str, option: click.Option) -> Iterator[tuple[str, list[str]]]:
    """Lines, and what each gets, once each: without and with what the option needs, without and with another of it."""
    opt, values = named(option), values_of(name, option)
    for line in LINES[name]:
        words = f"{name} {line}".split()
        if not {*option.opts} & {*words}:
            yield " ".join(words), values
            if needed := of(NEEDS, name, opt):
                yield f"{name} {line} {needed}", values
            continue
        place = next(number for number, word in enumerate(words) if word in option.opts)
        mine = words[place : place + 2 - option.is_flag]
        without = " ".join([*words[:place], *words[place + len(mine) :]])
        yield without, [" ".join(mine)] if len(values) == 1 else values
        if not (option.is_flag or option.multiple):
            yield " ".join(words), [each for each in values if each.split()[1] != mine[1]]


def values_of(name: str, option: click.Option) -> list[str]:
    opt = named(option)
    if option.is_flag:
        return [opt, *option.secondary_opts]
    if isinstance(option.type, click.Choice):
        return [f"{opt} {each}" for each in option.type.choices]
    value = of(VALUES, name, opt)
    assert value, f"{name} {opt} has no value in GIVEN"
    return [f"{opt} {value}"]


def of(table: dict[str, str], name: str, opt: str) -> str:
    """What a table has for a command's option, or for all of this name."""
    return table.get(f"{name} {opt}") or table.get(opt, "")


def silences(line: str, plain: Outcome, chosen: dict[str, Outcome]) -> list[str]:
    """Which choices leave a line as it is; of several at most one is what it does anyway, so they differ by pairs."""
    if len(chosen) == 1:
        return [f"{line} {words}" for words, found in chosen.items() if found.is_sound and found == plain]
    pairs = combinations(chosen.items(), 2)
    return [f"{line} {one[0]} / {two[0]}" for one, two in pairs if one[1].is_sound and one[1] == two[1]]


TRIED = [(name, opt) for name, opt in OPTIONS if not {opt, f"{name} {opt}"} & {*NEVER, *SHORT}]


@pytest.mark.slow("process")
@pytest.mark.parametrize(("name", "opt"), TRIED, ids=lambda each: each.replace(" ", "-"))
def test_it_has_an_effect_or_is_refused(outcome, name, opt):
    effects, silent, said = 0, [], []
    for line, tried in tries(name, OPTIONS[name, opt]):
        plain = outcome(line)
        chosen = {words: outcome(f"{line} {words}") for words in tried}
        if not any(part in line for part in EXCUSED.get(f"{name} {opt}", EXCUSED.get(opt, []))):
            silent += silences(line, plain, chosen)
        effects += sum(found.is_sound and (found != plain or len(chosen) > 1) for found in chosen.values())
        said += [found.said[-1:] for found in chosen.values() if not found.is_sound]
    assert not silent
    assert effects or f"{name} {opt}" in REFUSED, said


@pytest.mark.slow("process")
@pytest.mark.parametrize(("name", "opt"), [each for each in OPTIONS if each[1] in SHORT], ids=lambda each: f"{each}")
def test_a_short_name_is_its_format(outcome, name, opt):
    for line in (each for each in LINES[name] if "--format" not in each):
        assert outcome(f"{name} {line} {opt}") == outcome(f"{name} {line} {SHORT[opt]}")


def test_all_are_known():
    assert LINES.keys() == {*COMMANDS}
    named_somewhere = {*NEVER, *REFUSED, *VALUES, *NEEDS, *EXCUSED}
    assert named_somewhere <= {each for name, opt in OPTIONS for each in (opt, f"{name} {opt}")}
