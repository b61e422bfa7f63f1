# Everything runs in .venv, which is made when first needed and again when pyproject.toml changes:
# `make lab` installs what lessons and labs need, all other commands the rest as well.
# Settings: make test WORKERS=4 · make lab LAB=--no-browser · make notebooks ONLY="01 05"
#           make lab PYTHON=python3.12 · make class SEED=7 GAME=2048 OUT=class.zip · make release ONLY=hw01
PYTHON  ?= python3
WORKERS ?= 2
LAB     ?=
ONLY    ?=
SEED    ?=
GAME    ?=
OUT     ?=
KERNELS := $(addprefix tests/test_,board.py lockstep.py ntuple.py learning.py rules.py stages.py stages_play.py starts.py \
             expectimax.py folding.py small_boards.py)
COMPILE := import lib2048; network = lib2048.Network("4x6"); network.value(0); \
           lib2048.evaluate("random", 1); lib2048.train(network, actions=1000, progress=False)

BIN   := .venv/bin
# Of JupyterLab: without nbgrader's menus, and its terminals and cells find `lib2048`.
LEARN := PATH="$(CURDIR)/$(BIN):$$PATH" JUPYTER_CONFIG_PATH="$(CURDIR)/lib2048/course/reader/jupyter/learner$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}"
LABS  := .venv/.labs
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help lab test test-ci test-all bounds notebooks check release class wheel reproduce card book lint bench clean

help: ## say what each command does
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

lab: $(LABS) ## open JupyterLab on your own copy of the first lesson, in my/
	@$(BIN)/lib2048 lessons update
	@$(BIN)/python -c '$(COMPILE)' >/dev/null 2>&1 & # what the first lesson needs, while its reader reads
	@echo "For lib2048 in another terminal:  source .venv/bin/activate   (JupyterLab's own terminals have it)"
	@$(LEARN) $(BIN)/jupyter lab $(LAB) my/00_start_here.ipynb

test: $(READY) ## run the unit tests and lessons 00 to 19 (twelve minutes, on two cores)
	LIB2048_QUICK=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not slow and not ci" tests notebooks

test-ci: $(READY) ## run what the project's check adds to that: appendices, labs, widgets, more cases
	LIB2048_QUICK=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "ci and not slow" tests notebooks

test-all: bounds ## run all tests: every browser's, kills, Ctrl-C, the wheel, each page of the book, too
	LIB2048_QUICK=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile tests notebooks

bounds: $(READY) ## run the tests of the kernels with every index checked
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(KERNELS)

notebooks: $(READY) ## run the lessons in place, at their full budgets, and keep their outputs
	$(BIN)/python tools/lessons.py $(ONLY)

check: $(READY) ## check the stored lessons, and that the labs' releases are those of their sources
	$(BIN)/python tools/lessons.py --check $(ONLY)
	$(if $(ONLY),,$(BIN)/python tools/labs.py --check)

release: $(READY) ## generate what students get of each lab from its source
	$(BIN)/python tools/labs.py $(ONLY)

class: $(READY) ## build one zip file for the students of a class: make class SEED=7
	$(if $(SEED),,$(error say which class: make class SEED=7))
	$(BIN)/python tools/make_class.py --seed $(SEED) $(if $(GAME),--game $(GAME)) $(if $(OUT),--out $(OUT))

wheel: $(READY) ## try the wheel in an empty environment of every Python that is found
	$(BIN)/python tools/try_wheel.py

reproduce: $(READY) ## say what is recorded and what it takes, and prove its first rows
	@$(BIN)/python tools/reproduce.py $(ONLY)

card: $(READY) ## write the data card and the hashes of all that is recorded
	$(BIN)/python tools/card.py

book: $(READY) ## build the book, for reading in a browser: build/book/index.html
	$(BIN)/python tools/book.py

lint: $(READY) ## check style (ruff), layers (import-linter) and annotations (mypy)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

bench: $(READY) ## measure the speed of play and of training on this machine
	$(BIN)/lib2048 bench
	$(BIN)/lib2048 bench --network cnn22
	$(BIN)/lib2048 bench --network cnn22ss
	$(BIN)/python benchmarks/envs.py

clean: ## remove what the tools leave behind (to start over, remove .venv too)
	rm -rf build *.egg-info .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find . -path ./.venv -prune -o \( -name __pycache__ -o -name .ipynb_checkpoints \) -exec rm -rf {} +

$(LABS): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "$(PYTHON) is Python %d.%d; the course needs 3.11 or later: make PYTHON=python3.12 …" % sys.version_info[:2])'
	@echo "Setting up .venv. This takes a minute or two, and happens once."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -e '.[course,deep]'
	@touch $@

$(READY): $(LABS)
	@echo "Installing what tests and tools need, too. This takes another minute, and happens once."
	$(BIN)/python -m pip install --disable-pip-version-check -e '.[all]'
	@touch $@
