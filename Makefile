# A fresh machine needs Python 3.11 or newer and make; the targets set up the rest, in .venv.
# Another interpreter: make test PYTHON=/path/to/python

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test test-all interpreted laws oldest adapters browser browser-tools wheel release-check image lint types \
  bench tables docs man clean

VENV := .venv
RUN_STAMP := $(VENV)/.installed
TEST_STAMP := $(VENV)/.installed-test
DEV_STAMP := $(VENV)/.installed-dev
PYTHONS := $(PYTHON) python3.14 python3.13 python3.12 python3.11 python3

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' Makefile | expand -t 15

install: $(RUN_STAMP)  ## the command deptree in .venv/bin

# A name on the PATH may be an empty shell of a version manager, so each candidate has to run to count.
$(VENV)/bin/python:
	@for python in $(PYTHONS); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "setting up $(VENV) with $$("$$python" --version)"; \
	    "$$python" -m venv --clear $(VENV) && exit 0; \
	    rm -rf $(VENV); \
	    echo "make: $$python cannot make a virtual environment (on Debian and Ubuntu: apt install python3-venv)" >&2; \
	    exit 1; \
	  fi; \
	done; \
	echo "make: deptree needs Python 3.11 or newer; none of these is: $(strip $(PYTHONS))." >&2; \
	echo "      Install one, or name it: make PYTHON=/path/to/python" >&2; \
	exit 1

$(RUN_STAMP): pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable .
	@touch $@

$(TEST_STAMP): pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable '.[test]'
	@touch $@ $(RUN_STAMP)

$(DEV_STAMP): pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(TEST_STAMP) $(RUN_STAMP)

# From here on a command line reads as a user would type it.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

# Tests start hundreds of processes, which would each compile the package from its sources again.
unexport PYTHONDONTWRITEBYTECODE

demo: $(RUN_STAMP)  ## the main commands on sample_data, each shown before its output
	@mkdir -p demo_output
	deptree inspect sample_data/scores.npz --from natasha
	@echo
	deptree partition sample_data/scores.npz --from natasha
	@echo
	deptree sample sample_data/scores.npz --from natasha --conllu sample_data/sentences.conllu -k 2 --seed 7 | head -n 40
	@echo
	deptree swor sample_data/one.npy -k 5 --seed 7
	@echo
	deptree marginals sample_data/scores.npz --from natasha -o demo_output/marginals.npz
	@echo
	@echo '# Wilson-RC is biased on this graph, so the next command finds a bias and exits with status 1.'
	deptree check-bias sample_data/figure1.npy --sampler wilson-rc -k 2000 --seed 7; test $$? -eq 1
	@echo '# Bias found, as it should be. The default sampler on the same graph has none (status 0):'
	deptree check-bias sample_data/figure1.npy --sampler auto -k 2000 --seed 7
	@echo
	deptree report sample_data/scores.npz --from natasha --conllu sample_data/gold.conllu --gold sample_data/gold.conllu \
	  --labels sample_data/labels.json --label-scores sample_data/label_scores.npz --rules ud -o demo_output/report.html
	@echo
	@echo '# Done. The marginals are in demo_output/marginals.npz, and demo_output/report.html is a page to open in a browser.'
	@echo '# To type such lines yourself: . $(VENV)/bin/activate'

# The tests of a file share what they compile.
IN_PARALLEL := -n auto --dist loadfile

test: $(TEST_STAMP)  ## the quick tests: three cases of each function that is not slow, without PyTorch and JAX; 2 minutes
	pytest $(IN_PARALLEL) --quick

test-all: $(DEV_STAMP)  ## all tests, with PyTorch and JAX; 10 minutes
	pytest $(IN_PARALLEL)

interpreted: $(DEV_STAMP)  ## kernel tests without compilation: for debuggers and coverage
	NUMBA_DISABLE_JIT=1 pytest -n auto tests/kernels tests/hpyp/kernels tests/bitext/test_kernels.py tests/second_order/test_kernels.py

laws: $(DEV_STAMP)  ## only the statistical laws of the samplers
	pytest -n auto -m laws

# By the oldest Python, for which these versions were built. torch is not among them: its old builds for CPUs are in an index
# of their own, and the usual ones bring gigabytes of CUDA. JAX, of which the tests ask for a recent one, needs newer others.
FLOORS = import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  extras = [each for name in "$(EXTRAS)".split(",") for each in project["optional-dependencies"][name]]; \
  print(*(each.replace(">=", "==").split(",")[0] for each in project["dependencies"] + extras), sep="\n")
EXTRAS := dask,natasha,safetensors

oldest:  ## all tests but those of torch and JAX with the oldest versions that pyproject.toml allows
	python3.11 -m venv --clear .oldest
	.oldest/bin/python -c '$(FLOORS)' > .oldest/floors.txt
	.oldest/bin/python -m pip install --quiet --constraint .oldest/floors.txt --editable '.[$(EXTRAS),test]'
	.oldest/bin/pytest -n auto --ignore tests/browser

# Gigabytes, most of them torch; TORCH=torch==X.Y takes another one.
adapters: $(VENV)/bin/python  ## the adapters against the real parsers, where these can be installed
	tests/adapters.sh $(VENV)/bin/python .adapters

# Chromium is the system's; playwright, which leads it, and axe-core, which checks accessibility, go into a folder of their
# own. Where one of them is not to be had the tests skip.
browser: $(DEV_STAMP) browser-tools  ## tests of the report in a browser
	pytest tests/browser

browser-tools: $(VENV)/bin/python
	command -v chromium || command -v chromium-browser || command -v google-chrome \
	  || { apt-get update --quiet=2 && apt-get install --yes --quiet=2 --no-install-recommends chromium > /dev/null; }
	test -d .browser || python -m pip install --quiet --target .browser playwright axe-playwright-python \
	  || { rm -rf .browser; exit 1; }

# The second is for the minor versions of Python and numba that it was made with, on processors like x86-64-v3.
wheel: $(DEV_STAMP)  ## in dist/ a wheel, and one that brings machine code along; the demo is run with that
	rm -rf build dist deptree_cli/machine_code
	pip wheel --quiet --no-deps --wheel-dir dist .
	deptree warm --output deptree_cli/machine_code
	pip wheel --quiet --no-deps --wheel-dir build/platform .
	rm -rf deptree_cli/machine_code
	wheel tags --remove --python-tag $$(python -c 'import sys; print("cp%d%d" % sys.version_info[:2])') \
	  --platform-tag $$(python -c 'import sysconfig; print(sysconfig.get_platform())' | tr .- _) build/platform/*.whl
	mv build/platform/*.whl dist
	rm -rf build
	tests/wheel.sh $(VENV)/bin/python dist/*-cp*.whl

# Both are built anew, and the wheel is run far from this folder.
release-check: $(DEV_STAMP)  ## sdist and wheel, checked, and the demo from the wheel in an empty environment
	rm -rf build dist
	python -m build --outdir dist .
	twine check --strict dist/*
	tests/release.sh $(VENV)/bin/python dist/*.whl

image: Dockerfile  ## a container image with warmed kernels (ENGINE=podman: by another engine)
	$(or $(ENGINE),docker) build --tag deptree-cli .

lint: $(DEV_STAMP)  ## ruff: rules and format
	ruff check --no-cache . # a cache does not see that an imported module is gone
	ruff format --check .

types: $(DEV_STAMP)  ## mypy, strict for the package
	mypy deptree_cli benchmarks

bench: $(DEV_STAMP)  ## benchmarks, their results kept (NAME=inference: of one)
	python -m benchmarks --write $(or $(NAME),all)

tables: $(DEV_STAMP)  ## results in the tables of the manual
	python -m benchmarks tables

docs: $(DEV_STAMP)  ## the manual as a site, in site/
	NO_MKDOCS_2_WARNING=1 python -m mkdocs build

# click-man takes the commands that a group has loaded; ours loads them when they are asked for.
man: $(DEV_STAMP)  ## man pages in man/, by click-man
	mkdir -p man
	python -c 'from click_man.core import write_man_pages; from deptree_cli.cli.app import deptree, __version__; \
	  deptree.commands = {name: deptree.get_command(None, name) for name in deptree.list_commands(None)}; \
	  write_man_pages("deptree", deptree, version=__version__, target_dir="man")'

clean:  ## remove what make made, .venv too
	rm -rf $(VENV) .adapters .browser .oldest build dist *.egg-info demo_output man site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
