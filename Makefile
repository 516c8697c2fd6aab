# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Each target needs nothing but make and Python 3.12 or newer (drill, test, unit: 3.11), and sets up the rest below .build. No root, and no network but the
# package index that pip uses; fleet-test alone needs root, and Debian's packages, and pictures alone graphviz.
.DEFAULT_GOAL := help
.PHONY: help drill test unit bench lint fleet-test kubernetes-test pictures mutation docs environment clean
SHELL := /bin/bash
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/.build/tree
export PYTHONPATH := $(CURDIR)/.build/tree
export PATH := $(CURDIR)/.build/venv/test/bin:$(PATH)

help: ## Say what there is
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(firstword $(MAKEFILE_LIST))

environment:
	@tests/tools/environment.sh test > /dev/null

drill: environment ## Rehearse: three machines played on loopback, a maintenance at 60 times the speed; DRILL_ARGS=--spot: an eviction
	@tests/tools/drill.sh $(DRILL_ARGS)

test: environment ## Every test that needs neither root nor a second ansible-core
	@python tests/tools/run_suites.py test

unit: environment ## The developer's inner loop: the unit tests, some minutes
	@python -m pytest -q tests/unit

bench: environment ## Speed against ansible.builtin.uri, and the simulator under 1000 machines
	@python tests/tools/bench.py

fleet-test: environment ## Six real guests behind HAProxy through maintenance. As root, on Debian or Ubuntu; installs what it needs with apt
	@tests/fleet/run.sh $(FLEET_ARGS)

kubernetes-test: environment ## Method kubernetes against a real control plane, on loopback; builds it the first time (minutes). Needs Go 1.26
	@KUBERNETES_FULL=1 python tests/tools/run_suites.py kubernetes

mutation: ## Which changes of decide, budget, drain and journal no unit test notices. Takes hours; MUTATION_ARGS="--sample 100" less
	@tests/tools/environment.sh mutation > /dev/null
	@nice -n 19 .build/venv/mutation/bin/python -u tests/mutation/run.py $(MUTATION_ARGS)

lint: environment ## Every linter
	@python tests/tools/run_suites.py lint

docs: environment ## The site, below .build/site/html: every page, playbook, role and plugin; fails for a dead link
	@tests/tools/environment.sh docs > /dev/null
	@PATH="$(CURDIR)/.build/venv/docs/bin:$$PATH" python tests/tools/build_site.py

pictures: ## Draw the pictures of docs/ anew from their sources. Needs graphviz
	@tests/tools/pictures.sh

clean: ## Remove what make made
	rm -rf .build
