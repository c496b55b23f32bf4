"""Defaults of options from `deptree.toml` or DEPTREE_CONFIG: used, shown, and refused where they name nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "sample_data"
SCORES = DATA / "scores.npz"


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Work in an empty folder; called with text, it is that folder's deptree.toml."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEPTREE_CONFIG", raising=False)
    return lambda text: Path("deptree.toml").write_text(text, encoding="utf-8")


def test_options_of_all_commands_and_of_one(done, config):
    config('from = "natasha"\n[sample]\nsize = 3\nseed = 7\n[swor]\nsize = 4\n')
    ran = done("sample", SCORES)
    assert ran.out == done("sample", SCORES, "-k", 3, "--seed", 7, "--from", "natasha").out
    assert len(done("swor", SCORES, "--seed", 1).rows) == 4 * 8


def test_the_command_line_has_precedence(done, config):
    config('from = "natasha"\nsize = 2\n[sample]\nsize = 3\n')
    assert len(done("sample", SCORES).rows) == 3 * 8
    assert len(done("sample", SCORES, "-k", 1).rows) == 8


def test_the_signature_shows_it(done, config):
    config('from = "natasha"\n[sample]\nseed = 7\n')
    assert "|from:natasha|" in done("sample", SCORES).signature
    assert "|seed:7|" in done("sample", SCORES).signature


def test_how_a_run_is_done_is_no_news(done, config):
    config("jobs = 2\nquiet = false\n")
    assert done("partition", SCORES, "--from", "natasha").err == ""


def test_flags_and_what_may_be_repeated(done, config):
    config(
        f'from = "natasha"\nunique = true\nmulti-root = true\nconllu = "{DATA / "sentences.conllu"}"\nheader = false\n'
    )
    ran = done("sample", SCORES, "--seed", 1)
    assert ran.out.startswith(b"# sent_id = en-1/sample_1\n")
    assert b"# tree_count = 1" in ran.out
    config(f'from = "natasha"\nconllu = ["{DATA / "sentences.conllu"}"]\n')
    assert b"# sent_id = en-1\n" in done("decode", SCORES).out


def test_the_file_of_the_environment(done, put, config, monkeypatch):
    config("no = toml")
    put("other.toml", 'from = "natasha"\n')
    monkeypatch.setenv("DEPTREE_CONFIG", "other.toml")
    assert len(done("partition", SCORES).rows) == 8


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = \n", "deptree.toml: cannot be read as TOML"),
        ("sizes = 3\n", "deptree.toml: there is no option 'sizes'. Did you mean size?"),
        ("[sampel]\nsize = 3\n", "deptree.toml: there is no command 'sampel'. Did you mean sample?"),
        ("[partition]\nsize = 3\n", "deptree.toml: deptree partition has no option 'size'"),
        ('scale = "lg"\n', "deptree.toml: scale = 'lg'"),
        ("multi-root = 1\n", "deptree.toml: multi-root = 1 is not true or false"),
        ("temperature = true\n", "deptree.toml: temperature = True is not text or a number"),
        ("scale = [1]\n", "deptree.toml: scale = [1] is not text"),
        ('output = "x"\n', "deptree.toml: 'output' cannot have a default here"),
        ('scheduler = "tcp://x"\n', "deptree.toml: 'scheduler' cannot have a default here"),
    ],
)
def test_what_is_wrong_with_it(deptree, config, text, said):
    config(text)
    ran = deptree("partition", SCORES, "--from", "natasha")
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert said in ran.err


def test_a_file_that_is_not_there(deptree, config, monkeypatch):
    monkeypatch.setenv("DEPTREE_CONFIG", "nowhere.toml")
    ran = deptree("partition", SCORES, "--from", "natasha")
    assert ran.code == 2
    assert "nowhere.toml: cannot be read as TOML (No such file or directory)" in ran.err
    assert deptree("--help").code == 0


@pytest.fixture
def train(deptree, config):
    """Train with a configuration; the signature says with which options."""

    def run(text: str, *args: object):
        config(text)
        return deptree("hpyp", "train", DATA / "treebank.conllu", "-m", "m.npz", "--force", *args)

    return run


def test_subcommands_of_a_group(train):
    text = 'seed = 3\niterations = 1\n[hpyp]\niterations = 2\ntags = "xpos"\n[hpyp.train]\noracle = "sampled"\n'
    assert "|tags:xpos|words:yes|iterations:2|oracle:sampled|seed:3|" in train(text).signature
    assert "|iterations:1|" in train(text, "--iterations", 1, "--tags", "xpos").signature
    assert "|iterations:1|oracle:static|seed:3|" in train("seed = 3\niterations = 1\n[sample]\nsize = 3\n").signature


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[hpyp.trian]\nseed = 1\n", "there is no command 'trian'. Did you mean train?"),
        ("[hpyp.train]\niteration = 1\n", "deptree hpyp train has no option 'iteration'. Did you mean iterations?"),
        ("[hpyp]\niteration = 1\n", "there is no option 'iteration'. Did you mean iterations?"),
        ("[hpyp]\nsampler = 1\n", "there is no option 'sampler'"),
        ("[hpyp.train]\niterations = 0\n", "iterations = 0: "),
        ('[hpyp.train]\nmodel = "x"\n', "'model' cannot have a default here"),
        ('[hpyp]\nmodel = "x"\n', "'model' cannot have a default here"),
        ("hpyp = 1\n", "'hpyp' is a command, not an option. Write a table, [hpyp]."),
        ("[hpyp]\ntrain = 1\n", "'train' is a command, not an option. Write a table, [hpyp.train]."),
    ],
)
def test_what_is_wrong_with_it_for_subcommands(train, text, said):
    ran = train(text)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), ran.err
    assert f"deptree: deptree.toml: {said}" in ran.err


@pytest.mark.parametrize(
    ("text", "args", "said"),
    [
        ('gold = "g"\n', ("expect", "entropy", SCORES), "--gold FILE. --gold is set in deptree.toml. See"),
        ('[decode]\nmethod = "mbr"\n', ("decode", SCORES, "-k", 3), "--method is set in deptree.toml. See"),
        ("[decode]\nsize = 3\n", ("decode", SCORES, "--method", "mbr"), "-k is set in deptree.toml. See"),
        ('size = 3\nmethod = "mbr"\n', ("decode", SCORES), "-k and --method are set in deptree.toml. See"),
        ("temperature = -1\n", ("partition", SCORES), "--temperature is set in deptree.toml. See"),
        ("multi-root = true\n", ("sample", SCORES, "--sampler", "wilson-rc"), "--multi-root is set in deptree.toml."),
    ],
)
def test_an_option_that_does_not_fit_says_where_it_is_from(deptree, config, text, args, said):
    config('from = "natasha"\n' + text)
    ran = deptree(*args)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert said in ran.err
    assert "--from" not in ran.err


def test_what_is_on_the_command_line_is_not_from_there(deptree, config):
    config('from = "natasha"\nmethod = "mbr"\n[decode]\nsize = 3\n')
    assert "set in" not in deptree("decode", SCORES, "--method", "mbr", "-k", 2).err


def test_the_file_is_called_by_its_name(deptree, put, config, monkeypatch):
    put("other.toml", 'gold = "g"\n')
    monkeypatch.setenv("DEPTREE_CONFIG", "other.toml")
    assert "--gold is set in other.toml." in deptree("expect", "entropy", SCORES, "--from", "natasha").err
