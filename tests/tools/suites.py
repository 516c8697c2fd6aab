# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there is to run. A suite that should exist and does not shows as a failure, because its command fails."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / ".build" / "tree"
CODE_CACHE = ROOT / "tests" / "tools" / "code_cache"
# Missing ones are failures. Other folders with tests beside them are found and run as well.
EXPECTED_FOLDERS = ("unit", "contract", "model", "scenarios", "playbooks", "crash")
# These make network namespaces of their own, in which Azure's addresses are theirs.
OWN_NAMESPACES = ("fleet", "guests", "discovery", "state")
# Not pytest, or not quick enough for `make test`; each has a suite of its own below, or a command of its own (make bench).
OTHER_FOLDERS = (*OWN_NAMESPACES, "kubernetes", "integration", "eda", "runner", "monitoring", "benchmark", "tools", "sanity", "requirements", "output")
PLAYBOOK_SUITES = 4
# What runs a playbook in these tests, as far as a look at the text says.
A_RUN = re.compile(r"(?:respond|respond_event|play|status|decide|drain|recover|upgrade|killed|run|start|make_scene|whole|passes|kill|cure)\(")
# Processors that these keep busy, as seen in a run of CI: the rest of their time they wait for events, guests and pauses.
LOADS = {
    "crash": 0.6,
    "playbooks": 0.5,
    "contract": 0.4,
    "trust": 0.7,
    "awx": 0.4,
    "scenarios": 0.6,
    "unit": 0.5,
    "fleet": 0.8,
    "runner": 0.6,
    "guests": 0.6,
    "discovery": 0.5,
    "eda": 0.2,
    "monitoring": 0.5,
    "settings": 0.5,
    "state": 1.0,
    "kubernetes": 1.0,
}
# One kind of each way in which ansible-test imports: modules as on a VM, the others as on a controller.
PLUGIN_KINDS = ("filter", "modules", "test")
TARGET_PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    command: tuple[str, ...]
    limit: int  # seconds; an idle machine with two cores needs a third of it or less
    counts: str = "exit code"  # or "pytest", or "closing line"
    environment: str = "test"  # which Python environment comes first on PATH
    needs: tuple[str, ...] = ()
    load: float = 1.0  # processors that it keeps busy; one that mostly waits takes less than one
    after: tuple[str, ...] = ()  # not beside these, but when they have ended, however they did
    may_skip: bool = False  # a last line "skipped: why" is neither passed nor failed, and what needs it is skipped with it


def environment(suite: Suite) -> dict[str, str]:
    """The surroundings of a suite: nothing of the user's Ansible set-up, nothing of a proxy, and no colours."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_") and not key.lower().endswith("_proxy")}
    venv = ROOT / ".build" / "venv" / suite.environment
    kept.update(
        PATH=f"{venv}/bin{os.pathsep}{kept.get('PATH', os.defpath)}",
        VIRTUAL_ENV=str(venv),
        PYTHONPATH=os.pathsep.join((str(TREE), str(CODE_CACHE))),
        CODE_CACHE_FOLDER=str(ROOT / ".build" / "code_cache"),
        ANSIBLE_COLLECTIONS_PATH=str(TREE),
        ANSIBLE_NOCOLOR="1",
        ANSIBLE_LOCALHOST_WARNING="0",
        ANSIBLE_INVENTORY_UNPARSED_WARNING="0",
        ANSIBLE_HOME=str(ROOT / ".build" / "ansible"),
        PYTHONDONTWRITEBYTECODE="1",
        LC_ALL="C.UTF-8",
    )
    if suite.name not in OWN_NAMESPACES:
        kept["REFUSE_METADATA_ADDRESS"] = "1"
    return kept


def pytest_folders() -> list[str]:
    found = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and any(path.rglob("test_*.py"))}
    return sorted((found | set(EXPECTED_FOLDERS)) - set(OTHER_FOLDERS))


def pytest_suite(folder: str, limit: int) -> Suite:
    return Suite(folder, ("python", "-m", "pytest", "-q", "-ra", f"tests/{folder}"), limit, "pytest", load=LOADS.get(folder, 1.0))


def test_suites() -> list[Suite]:
    """The longest first, so that two at a time end together: model and unit are one process each, and nothing can be done beside the last of them."""
    others = [folder for folder in pytest_folders() if folder not in ("crash", "playbooks", "unit", "scenarios", "model")]
    others.sort(key=lambda folder: folder not in ("contract", "trust"))
    slow = [pytest_suite("model", 2400), pytest_suite("unit", 1800), *playbook_suites(), *(pytest_suite(folder, 2400) for folder in (*others, "crash"))]
    return [*slow, pytest_suite("scenarios", 1800), drill("test"), drill_spot()]


def playbook_suites() -> list[Suite]:
    """Whole playbook runs take so long that they are several suites, whatever files there are: each file goes where the fewest runs are."""
    weights = {str(path.relative_to(ROOT)): len(A_RUN.findall(path.read_text())) for path in sorted((ROOT / "tests" / "playbooks").rglob("test_*.py"))}
    parts: list[list[str]] = [[] for _number in range(PLAYBOOK_SUITES)]
    for name in sorted(weights, key=lambda name: -weights[name]) or ["tests/playbooks"]:
        min(parts, key=lambda part: sum(weights[one] for one in part)).append(name)
    # With fewer files some have none.
    return [
        Suite(f"playbooks-{number}", ("python", "-m", "pytest", "-q", "-ra", *part), 2400, "pytest", load=LOADS["playbooks"])
        for number, part in enumerate(filter(None, parts), start=1)
    ]


def drill(environment_name: str) -> Suite:
    name = "drill" if environment_name == "test" else f"drill-{environment_name}"
    # It waits for the rehearsed hours at 60 times their speed: half of its time.
    return Suite(name, ("tests/tools/drill_checked.sh",), 300, environment=environment_name, needs=needs_environment(environment_name), load=0.5)


def drill_spot() -> Suite:
    # It waits for the 30 seconds of notice: more than half of its time.
    return Suite("drill-spot", ("tests/tools/drill_checked.sh", "--spot"), 300, load=0.4)


def needs_environment(name: str) -> tuple[str, ...]:
    return () if name == "test" else (f"environment-{name}",)


def build_environment(name: str, python: str = "") -> Suite:
    # It waits for a package index.
    return Suite(f"environment-{name}", ("tests/tools/environment.sh", name, python), 900, load=0.5)


def lint_suites() -> list[Suite]:
    def lint(name: str, *command: str) -> Suite:
        return Suite(name, command, 600, environment="lint", needs=("environment-lint",))

    return [
        build_environment("lint"),
        lint("ansible-lint", "ansible-lint", "--nocolor", "--offline", "--profile", "production"),
        lint("antsibull-docs", "tests/tools/lint_docs.sh"),
        lint("antsibull-changelog", "antsibull-changelog", "lint"),
        lint("yamllint", "yamllint", "--strict", "."),
        lint("ruff", "ruff", "check", "--no-cache", "."),
        lint("mypy", "tests/tools/types.sh"),
        lint("import-linter", "tests/tools/imports.sh"),
        lint("vulture", "vulture", "--config", "tests/tools/vulture.toml", "plugins", "extensions/eda/plugins", "roles/simulator/files"),
        lint("reuse", "reuse", "lint"),
        lint("shellcheck", "tests/tools/shell_scripts.sh"),
        lint("workflows", "tests/tools/workflows.sh"),
        build_environment("docs"),
        Suite("site", ("python", "tests/tools/build_site.py"), 600, environment="docs", needs=("environment-docs",)),
    ]


def integration(core: str, *pythons: str) -> Suite:
    environment_name = f"core-{core}"
    command = ("python", "tests/integration/run.py", "--core", core.split("-")[0], *pythons)
    return Suite(f"integration-{core}", command, 1200, "closing line", environment_name, needs_environment(environment_name))


def runner() -> Suite:
    """As AWX runs it: with nothing but what the execution environment has."""
    needs = ("environment-execution-environment", "environment-builder")
    return Suite("runner", ("python", "-m", "pytest", "-q", "-ra", "tests/runner"), 1500, "pytest", needs=needs, load=LOADS["runner"])


def eda() -> Suite:
    """With the real ansible-rulebook, which needs Java."""
    return Suite("eda", ("python", "-m", "pytest", "-q", "-ra", "tests/eda"), 1500, "pytest", "eda", needs_environment("eda"), load=LOADS["eda"])


def settings_names(core: str) -> Suite:
    """Whether the matrix of Ansible's settings has the names of an older ansible-core; the suite itself asks the newest."""
    environment_name = f"core-{core}"
    return Suite(f"settings-{core}", ("python", "tests/settings/listed.py"), 300, environment=environment_name, needs=needs_environment(environment_name))


def sanity(core: str, *options: str) -> Suite:
    environment_name = f"core-{core}" if core != "2.21" else "test"
    command = ("tests/tools/ansible_test.sh", "sanity", *options)
    return Suite(f"sanity-{core}", command, 1800, environment=environment_name, needs=needs_environment(environment_name))


SAME_IN_EACH = ("pylint", "shellcheck", "pep8", "yamllint")


def without(*tests: str) -> list[str]:
    return [word for test in tests for word in ("--skip-test", test)]


def kubernetes() -> list[Suite]:
    """A real control plane, built first: minutes of all processors, so not beside what has time limits. Where it is built already that takes a second."""
    timed = ("guests", "fleet", "state", "runner", "eda", "discovery", "monitoring", *(f"drill-core-{core}" for core in ("2.18", "2.19", "2.20")))
    return [
        Suite("environment-kubernetes", ("python", "tests/kubernetes/build.py"), 1800, load=1.5, after=timed, may_skip=True),
        dataclasses.replace(pytest_suite("kubernetes", 1800), needs=("environment-kubernetes",)),
    ]


def heavy_suites() -> list[Suite]:
    """Longest first, so that two at a time end together. Core 2.20 and newer need Python 3.9 on the machine they manage."""
    return [
        Suite("guests", ("bash", "tests/guests/run.sh"), 2500, "closing line", load=LOADS["guests"]),
        Suite("fleet", ("bash", "tests/fleet/run.sh"), 2400, "closing line", load=LOADS["fleet"]),
        Suite("state", ("bash", "tests/state/run.sh"), 1800, "closing line", load=LOADS["state"]),
        sanity("2.21"),
        build_environment("core-2.18", "3.11"),
        build_environment("execution-environment", "3.12"),
        build_environment("builder", "3.12"),
        runner(),
        build_environment("eda", "3.12"),
        eda(),
        Suite("discovery", ("bash", "tests/discovery/run.sh"), 600, "closing line", load=LOADS["discovery"]),
        integration("2.18", *TARGET_PYTHONS),
        drill("core-2.18"),
        settings_names("2.18"),
        build_environment("core-2.19", "3.12"),
        integration("2.19", "3.8", "3.13"),
        drill("core-2.19"),
        settings_names("2.19"),
        build_environment("core-2.20", "3.12"),
        integration("2.20", "3.9", "3.13"),
        settings_names("2.20"),
        build_environment("core-2.21", "3.13"),
        integration("2.21", *TARGET_PYTHONS[1:]),
        # Whether the tests run as ansible-test wants it. Those of what modules and plugins use would find the same as in the suite `unit`.
        Suite("ansible-test-units", ("tests/tools/ansible_test.sh", "units", *(f"tests/unit/plugins/{kind}/" for kind in PLUGIN_KINDS)), 1200),
        # These linters say the same as with 2.21; what differs is the documentation's rules, and the oldest Python, which 2.21 does not know:
        # what 2.18 has for modules to import is there for that one as for the others, with which 2.21 compiles and imports.
        *(sanity(core, *without(*SAME_IN_EACH, "import", "compile")) for core in ("2.18", "2.19", "2.20")),
        dataclasses.replace(
            sanity("2.18", "--test", "import", "--test", "compile", "--python", TARGET_PYTHONS[0]), name=f"sanity-2.18-python-{TARGET_PYTHONS[0]}"
        ),
        *lint_suites(),
        # Not in `make test`: it downloads Debian's package of Prometheus.
        Suite("monitoring", ("python", "-m", "pytest", "-q", "-ra", "tests/monitoring"), 600, "pytest", load=LOADS["monitoring"]),
        *kubernetes(),
        # Its two drills are those of ansible-core 2.20 as well.
        Suite("artifact", ("tests/tools/artifact.sh",), 420, environment="core-2.20", needs=needs_environment("core-2.20")),
        build_environment("importer", "3.12"),
        Suite("importer", ("tests/tools/importer.sh",), 600, environment="importer", needs=needs_environment("importer")),
    ]


def find(group: str) -> list[Suite]:
    if group == "test":
        return test_suites()
    if group == "heavy":
        return heavy_suites()
    if group == "lint":
        return lint_suites()
    every = {suite.name: suite for suite in test_suites() + heavy_suites()}
    missing = [name for name in group.split(",") if name not in every]
    if missing:
        raise SystemExit(f"There is no suite {', '.join(missing)}. There are: {', '.join(sorted(every))}.")
    wanted = [every[name] for name in group.split(",")]
    needed = [every[need] for suite in wanted for need in suite.needs]
    return list(dict.fromkeys(needed + wanted))
