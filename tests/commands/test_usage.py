"""Options that mean nothing, or nothing together, are refused: one line says what to do, and nothing is written."""

from __future__ import annotations

import shlex

import pytest

from deptree_cli.io.encoders import ARRAYS, encoders
from tests.every_command import COMMANDS, options
from tests.lines import table, words
from tests.sample import DATA

REFUSED = """
    sampel $SCORES                          | sampel | sample
    hpip                                    | deptree: No such command 'hpip'. Did you mean hpyp? See deptree --help.
    hpyp trian                              | deptree hpyp: No such command 'trian'. Did you mean train? See
    check_bias                              | No such command 'check_bias'. Did you mean check-bias? See
    hpyp xyz                                | deptree hpyp: No such command 'xyz'. See deptree hpyp --help.
    zzz                                     | deptree: No such command 'zzz'. See deptree --help.
    sample $SCORES --sed 7                  | --sed | --seed
    sample $SCORES --projektive             | --projektive | Did you mean | --projective
    sample                                  | SCORES
    sample $SCORES b.npz                    | b.npz
    sample $SCORES --sampler gibbs          | gibbs | wilson-marginal
    sample $DATA/scores.npz --from log,rows | rows | dep-head
    sample $DATA/scores.npz                 | --from log
    sample $SCORES --orient=dep-head        | There is no --orient now: pass --from dep-head.
    sample $SCORES --scale log              | There is no --scale now: pass --from log.
    bitext align b.npz --chains 2           | There is no --chains now: in Python, deptree_cli.pruning.expectations
    hpyp train $GOLD --contexts c.toml      | There is no --contexts now: in Python, Parser.train takes contexts.
    hpyp describe m.npz                     | There is no describe now: in Python, Parser.load(MODEL)
    sample $SCORES --scheduler a:1          | set DEPTREE_SCHEDULER=a:1.
    sample $SCORES --format xml             | --format | xml | jsonl
    sample $SCORES -k 0                     | -k | 0
    sample $SCORES -k 0.5                   | -k | 0.5
    sample $DATA/one.npy -k 100000000000000
    sample $DATA/one.npy -k 10000000000000000000000
    sample $SCORES --temperature 0          | temperature | 0 | positive
    sample $SCORES --temperature nan        | temperature | nan
    sample $SCORES --temperature 0 --on-error=skip | temperature
    sample $SCORES --jobs 0                 | --jobs | 0
    sample $SCORES --shard 0/3              | --shard | 0/3
    sample $SCORES --shard 4/3              | --shard | 4/3
    sample $SCORES --shard 1                | --shard | '1'
    sample $SCORES --seed -1                | --seed | -1
    check-bias $SCORES --alpha 1            | --alpha | 1
    sample $SCORES --sampler wilson         | wilson | --multi-root
    sample $SCORES --sampler wilson-marginal --multi-root | wilson-marginal | --multi-root | elimination
    sample $SCORES --sampler wilson --projective          | does not draw projective single-root trees | auto, eisner, \
 | add --multi-root and leave out --projective
    check-bias $SCORES --sampler elimination --projective --multi-root | does not draw projective trees with several \
 | auto, eisner, or leave out --projective.
    sample $SCORES --sampler eisner --multi-root | eisner does not draw spanning trees | elimination \
 | or add --projective.
    decode $SCORES --format npz -o x.jsonl  | x.jsonl: .jsonl is the suffix of jsonl, but | npz
    decode $SCORES --format jsonl -o x.npz  | x.npz: .npz is the suffix of npz, but | jsonl
    decode $SCORES --format jsonl -o x.conllu.gz | x.conllu.gz: .conllu is the suffix of conllu, but
    bitext align $DATA/bitext.npz --format pharaoh -o x.jsonl | x.jsonl: .jsonl is the suffix of jsonl, but
    sample $SCORES --unique -o a.npz        | arrays | --unique
    swor $SCORES -o a.npz                   | npz
    check-bias $SCORES -o a.conllu          | conllu
    sample $SCORES --format conllu          | --conllu
    sample $SCORES -o none/a.jsonl          | none/a.jsonl | folder | Create none
    sample $SCORES -o $DATA                 | sample_data | irectory
    sample - --conllu -                     | standard input | once
    check-bias - --from natasha --samples - | standard input | once
    sample -                                | standard input | empty
    partition $DATA/scores.npy --from supar --lengths l   | 12 | (10, 10)
    partition $DATA/scores.npy --from supar               | scores.npy | --lengths
    check-bias $DATA/figure1.npy --samples none.jsonl     | none.jsonl | no such file
    check-bias $DATA/figure1.npy --samples short.jsonl    | short.jsonl:1 (1) | 2 words | 3
    check-bias $DATA/figure1.npy --samples other.jsonl    | other.jsonl:1 (x) | the scores do not have this sentence
    check-bias $DATA/figure1.npy --samples $DATA/scores.npz | scores.npz: | CoNLL-U or JSON Lines
"""

# Options that would have no effect.
WITHOUT_EFFECT = """
    check-bias $SCORES --samples s.jsonl --sampler wilson-rc | --sampler needs trees to draw
    check-bias $SCORES --samples s.jsonl -k 50               | -k needs trees to draw
    agree $GOLD $GOLD --alpha 0.1                            | --alpha needs --test
    eval $GOLD --scores $SCORES --resamples 9                | --resamples needs gold trees
    hpyp parse m.npz $GOLD --beam 8 --particles 9            | --particles needs --to-scores
    decode $SCORES --budget 7                                | --budget needs rules
    decode $SCORES --relax                                   | --relax needs rules: --rules
    decode $SCORES --method mbr -k 2 | -k needs --method mst, but --method is mbr. Remove one, or add
    marginals $SCORES -k 5                                   | -k needs rules that only whole trees decide
    marginals $SCORES --above 0.1 -o x.npz   | --above needs TSV or JSON Lines, but the output is npz
    swor $SCORES --labelled                                  | --labelled needs --labels FILE
    decode $SCORES $SENTENCES --sent-id-format {id}/{k}      | --sent-id-format needs -k
    sample $SCORES --deps keep               | --deps needs --format conllu, but the output is jsonl
    swor $SCORES --sent-id-format {id}-{k}                   | --sent-id-format needs --format conllu
    agree $GOLD $GOLD --from natasha         | --from needs --scores FILE.
    diff $GOLD $GOLD --labels l.json         | --labels needs --scores FILE.
    decode $SCORES --label-scores l.npz      | --label-scores needs --labels FILE.
    eval $GOLD $GOLD --shard 1/2             | No such option | --shard
    eval $GOLD --scores $SCORES --no-punct   | --no-punct cannot be combined with --scores. Remove one.
    combine $SCORES --fit --weights 1 --gold $GOLD           | --fit cannot be combined with --weights. Remove one.
    decode $SCORES --space projective --multi-root | --space projective contradicts --multi-root. Leave out one
"""


@pytest.mark.parametrize(("line", "says"), table(REFUSED + WITHOUT_EFFECT))
def test_refused(deptree, refused, put, tmp_path, line, says):
    put("l", "12\n" * 8)
    put("short.jsonl", '{"sent_id":"1","heads":[0,1]}\n')
    put("other.jsonl", '{"sent_id":"x","heads":[0,1,1]}\n')
    before = sorted(tmp_path.iterdir())
    quiet, loud = refused(f"{line} -q", *says), deptree(line)
    assert loud.said[-1:] == quiet.said
    assert all(said.startswith("deptree: ") for said in loud.said[:-1])
    assert sorted(tmp_path.iterdir()) == before


def test_no_command_at_all_leads_to_the_help(real):
    assert real("-V").out == real("--version").out
    ran = real()
    assert (ran.code, ran.out) == (2, b"")
    assert "--help" in ran.err
    assert max(map(len, ran.said)) <= 120


@pytest.mark.quick
@pytest.mark.parametrize("text", ["{id}-{k:03}", "{id}.{k:3d}", "{k}/{id}{{}}", "{id}{id} 1{k:99}"])
def test_names_of_trees(done, text):
    out = done(f"sample $SCORES $SENTENCES -k 2 --seed 1 --sent-id-format {shlex.quote(text)}").out.decode()
    assert f"# sent_id = {text.format(id='en-1', k=2)}\n" in out


NO_NAMES = """{id:>10000000000}-{k} {id}-{k:10000000000} {id}-{k:100} {id}-{k:{k}} {id}-{k!r} {id.__class__}-{k}
    {id[0]}-{k} {id} {k} {}{k} {id}{k}{n} {id}{k"""


@pytest.mark.quick
@pytest.mark.parametrize("text", [*NO_NAMES.split(), "{id}\n{k}"])
def test_no_other_names_of_trees(refused, text):
    line = f"sample $SCORES $SENTENCES --sent-id-format {shlex.quote(text)}"
    refused(line, "must have {id} and {k} and no other field")


@pytest.mark.quick
@pytest.mark.parametrize("text", ["{id}{k}", "{k}{id}", "{id}1{k:03}", "{id}-{k}{id}", "{k}0{id}-{k}"])
def test_names_that_two_trees_would_share(refused, text):
    """The 11th tree of `a` and the first of `a1` are both `a11`: something else than a digit must stand between."""
    says = f"{text!r} can give trees of two sentences the same name", "such as '{id}-sample_{k}'"
    refused(f"sample $SCORES $SENTENCES -k 11 --sent-id-format {text}", *says)


FORMATS = {name: getattr(options(name).get("--format"), "type", None) for name in COMMANDS}
WRITE_ARRAYS = [name for name, found in FORMATS.items() if "npz" in getattr(found, "choices", ())]
OTHERS = {  # than scores
    "combine": f"{DATA}/scores.npz:natasha {DATA}/scores.npz:natasha --method mixture",
    "bitext expectations": "$DATA/bitext.npz",
    "dump": "natasha $DATA/paragraphs.txt",
}


@pytest.mark.parametrize("fmt", [each.name for each in encoders([ARRAYS])])
@pytest.mark.parametrize("name", WRITE_ARRAYS)
def test_a_terminal_gets_no_bytes(terminal, name, fmt):
    code, shown = terminal(*words(f"{name} {OTHERS.get(name, '$SCORES')} --format {fmt}"))
    (line,) = shown.splitlines()
    assert code == 2
    if fmt == "npy" and name in ("convert", "dump"):
        assert "a .npy cannot store that these scores are read with" in line
    else:
        assert line == "deptree: a terminal cannot show arrays. Name a file with -o, or redirect: > FILE."
