# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test coverage fuzz browser lint format bench docs sample clean

help: ## list the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: $(VENV)/.demo ## the main job on what comes with lmkin: a report in lmkin-demo/
	HF_HUB_OFFLINE=1 $(BIN)/lmkin demo

# Every core runs tests; BLAS with threads of its own on top would mostly wait. The tests start some hundred
# processes: where PYTHONDONTWRITEBYTECODE is set, each would compile the source of lmkin again.
PYTEST := HF_HUB_OFFLINE=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto

test: $(VENV)/.dev browser ## run the tests
	$(PYTEST)

coverage: $(VENV)/.dev browser ## run the tests, and say which lines they do not reach
	$(PYTEST) --cov --cov-report=term

MUTANTS := 20000

fuzz: $(VENV)/.dev ## mutants of every file that lmkin reads: none may crash, hang or be read as something else
	PYTHONPATH=src:tests $(BIN)/python -m fuzz.run --regressions --mutants $(MUTANTS)

# The tests of the report look at it in a real browser. Where there is none, and it can be had without asking
# anyone, it is installed; where it cannot, those tests are skipped and everything else runs.
BROWSER := command -v chromium || command -v chromium-browser || command -v google-chrome
APT := env DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=20

browser:
	@{ $(BROWSER); } >/dev/null || { \
		echo 'No browser here; trying to install chromium for the tests of the report …'; \
		root=; [ "$$(id -u)" = 0 ] || root='sudo -n'; \
		{ command -v apt-get && $$root $(APT) update \
			&& $$root $(APT) install -y --no-install-recommends chromium && $(BROWSER); } </dev/null >/dev/null 2>&1 \
		|| echo '*** NO BROWSER: the browser tests WILL BE SKIPPED. To run them: apt-get install chromium ***'; }

lint: $(VENV)/.dev ## formatter, linter and type checker, without changing anything
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev ## let the formatter and the linter mend what they can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev ## benchmarks: ratios to a floor in the same run
	HF_HUB_OFFLINE=1 $(BIN)/python benchmarks/extraction.py
	$(BIN)/python benchmarks/similarity.py
	$(BIN)/python benchmarks/attention.py
	$(BIN)/python benchmarks/dependency.py
	$(BIN)/python benchmarks/redundancy.py
	$(BIN)/python benchmarks/probing.py --synthetic --rows 20000 --cache .bench-probing

docs: $(VENV)/.docs ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

sample: $(VENV)/.dev ## generate the files of the sample corpus again; they come out the same
	PYTHONPATH=tools $(BIN)/python -m sample_corpus

clean: ## remove the virtual environment and everything built
	rm -rf $(VENV) .bench-probing docs/_build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "lmkin needs Python 3.11 or newer; try: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Installing takes a minute or two; pip is quiet about it.
$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e '.[demo,hdf5]'
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e '.[dev,demo]'
	touch $@

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e '.[docs]'
	touch $@
