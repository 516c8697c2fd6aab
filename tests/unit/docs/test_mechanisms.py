# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/architecture.md and docs/mechanisms say what the code does: layers, files, phases, states, keys and figures."""

from __future__ import annotations

import configparser
import pathlib
import re

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal import transitions
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import METHOD_STATES, RECORD_KINDS
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.tombstones import KEPT_SECONDS
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease import lease_time, progress_marks
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import TASKS
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import leases

ROOT = pathlib.Path(__file__).resolve().parents[3]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
MECHANISMS = sorted((ROOT / "docs" / "mechanisms").glob("*.md"))
PLUGINS = ROOT / "plugins"
FOLDERS = {"vm": PLUGINS / "module_utils" / "_scheduled_events", "planner": PLUGINS / "plugin_utils" / "_maintenance"}
FILE_NAMED = re.compile(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|yml))`")
SAID_IN_TEXT = re.compile(r"`([a-z_]+)`")
# Two printed pages: with the picture on one of them, this much fits.
MOST_LINES, LONGEST_LINE = 130, 120
each_page = pytest.mark.parametrize("page", [ARCHITECTURE, *MECHANISMS], ids=lambda page: page.stem)


def mechanism(name: str) -> str:
    """Return a page with each white space as one blank, line ends but those of tables included."""
    text = (ROOT / "docs" / "mechanisms" / f"{name}.md").read_text()
    return re.sub(r"\n(?!\||\n|#)", " ", text)


def table(text: str, *titles: str) -> list[list[str]]:
    """Return the rows of the one table whose first titles are these."""
    heading = rf"^\| {re.escape(' | '.join(titles))} \|.*\n\|[ |:-]+\|\n((?:\|.*\n?)+)"
    (found,) = re.findall(heading, text, re.MULTILINE)
    return [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in found.strip().splitlines()]


def layers(contract: str) -> list[list[str]]:
    """Return the layers of one contract of import-linter, from the top down."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    given = parser[f"importlinter:contract:{contract}"]["layers"].strip().splitlines()
    return [[name.strip() for name in line.split("|")] for line in given]


def test_the_page_fits_two_printed_pages() -> None:
    lines = ARCHITECTURE.read_text().splitlines()
    assert 60 < len(lines) <= MOST_LINES
    assert [line for line in lines if len(line) > LONGEST_LINE] == []


def test_each_mechanism_has_a_page_and_a_link() -> None:
    text = ARCHITECTURE.read_text()
    assert {"records", "leases", "budget", "upgrades"} <= {page.stem for page in MECHANISMS}
    for page in MECHANISMS:
        assert f"](mechanisms/{page.name})" in text, page.name
        assert "\n## The rules\n" in page.read_text(), page.name


@pytest.mark.parametrize(("contract", "column"), [("vm", 0), ("planner", 2)])
def test_the_layers_are_those_of_import_linter(contract: str, column: int) -> None:
    rows = table(ARCHITECTURE.read_text(), "`_scheduled_events/`", "read first", "`_maintenance/`", "read first")
    shown = [re.findall(r"`([a-z_]+)/`", row[column]) for row in rows]
    # planner.py is a layer and no folder: it stands in the next column.
    wanted = [sorted(name for name in layer if (FOLDERS[contract] / name).is_dir()) for layer in layers(contract)]
    wanted = [names for names in wanted if names]
    assert len(wanted) >= 8
    assert [sorted(names) for names in shown if names] == wanted
    for row in rows:
        folders = re.findall(r"`([a-z_]+)/`", row[column]) or ["."]
        for name in re.findall(r"`([a-z_/]+\.py)`", row[column + 1]):
            assert any((FOLDERS[contract] / folder / name).is_file() for folder in folders), name


def test_the_controller_s_rooms_import_what_the_page_says() -> None:
    rooms = {path.name for path in (PLUGINS / "plugin_utils").iterdir() if any(path.glob("*.py"))} | {"_maintenance", "_eda"}
    shown: set[str] = set()
    for folders, _words, imports in table(ARCHITECTURE.read_text(), "folder", "what is in it", "imports, beside `module_utils`"):
        if not folders.startswith("`plugins/plugin_utils/"):
            continue
        here = set(re.findall(r"(_[a-z]+)/`", folders))
        code = "".join(path.read_text() for name in here for path in (PLUGINS / "plugin_utils" / name).rglob("*.py"))
        found = set(re.findall(r"(?:\.plugins\.plugin_utils\.|from \.{2,})(_[a-z]+)", code)) - here
        assert found == set(SAID_IN_TEXT.findall(imports)), folders
        shown |= here
    assert shown == rooms


@each_page
def test_each_file_named_is_there(page: pathlib.Path) -> None:
    """By its path from the collection's folder, from plugins, or from one of the two large rooms, or by its name alone."""
    known = [str(path.relative_to(ROOT)) for top in ("plugins", "roles", "playbooks", "tests") for path in (ROOT / top).rglob("*.*")]
    known = [f"/{path}" for path in known if "__pycache__" not in path]
    for name in FILE_NAMED.findall(page.read_text()):
        assert any(path.endswith(f"/{name}") for path in known), f"{page.name} names {name}"


def test_the_phases_are_those_of_the_code() -> None:
    text = mechanism("records")
    (sentence,) = re.findall(r"These may follow any phase[^:]+: ([^.]+)\.", text)
    always = SAID_IN_TEXT.findall(sentence)
    assert tuple(always) == transitions.ALWAYS
    rows = table(text, "phase", "meaning", "beside those, may be followed by")
    assert tuple(row[0].strip("`") for row in rows) == transitions.PHASES
    for phase, _meaning, following in rows:
        assert [*always, *SAID_IN_TEXT.findall(following)] == list(transitions.FOLLOWING[phase.strip("`")]), phase
    assert transitions.LISTED_AGAIN == ("noticed",)
    assert "is listed again, `noticed` may follow any phase" in text


def test_the_keys_of_a_record_are_those_of_the_code() -> None:
    rows = table(mechanism("records"), "keys", "meaning")
    assert sorted(name for row in rows for name in SAID_IN_TEXT.findall(row[0])) == sorted(RECORD_KINDS)


def test_the_states_of_methods_and_marks_are_those_of_the_code() -> None:
    states = [row[0].strip("`") for row in table(mechanism("drains"), "state", "means", "next")]
    assert tuple(states) == METHOD_STATES
    marks = [row[0].strip("`") for row in table(mechanism("upgrades"), "mark", "written")]
    assert tuple(marks) == progress_marks.STATES


def test_the_methods_that_are_tasks_are_those_of_the_code() -> None:
    rows = table(mechanism("drains"), "what", "by `maintenance_act`, on the VM or, for a Windows VM, from the controller", "by tasks that the controller runs")
    # Those of the engine are not listed: a new one must not need a change of the page.
    ((_title, by_engine, by_tasks),) = [row for row in rows if row[0] == "methods"]
    assert "`drain/registry.py`" in by_engine and not SAID_IN_TEXT.findall(by_engine)
    assert "`_drain/kinds/registry.py`" in by_tasks and SAID_IN_TEXT.findall(by_tasks) == list(TASKS)


def test_the_blockers_of_a_batch_are_those_of_the_code() -> None:
    kinds = {row[0].strip("`") for row in table(mechanism("upgrades"), "kind", "the batch is blocked because")}
    code = (FOLDERS["planner"] / "upgrade" / "gate_blockers.py").read_text()
    assert kinds == set(re.findall(r"Blocker\(\s*\"([a-z]+)\"", code))


def test_who_counts_as_unavailable_is_what_the_code_says() -> None:
    text = mechanism("budget")
    (sentence,) = re.findall(r"The phases that count are ([^(]+)\(`OUT_PHASES`\)", text)
    assert tuple(SAID_IN_TEXT.findall(sentence)) == allocation.OUT_PHASES
    for name in re.findall(r"\| `([a-z_]+)` \|$", text, re.MULTILINE):
        assert callable(getattr(allocation, name)), name


def test_the_figures_are_those_of_the_code() -> None:
    settings = Settings()
    assert f"`lease_seconds`, {settings.lease_seconds:.0f} seconds" in mechanism("leases")
    assert f"random part of {leases.PAUSE:.0f} seconds" in mechanism("leases")
    assert lease_time.LONGEST_LEASE == 6 * 3600 and "more than six hours ahead" in mechanism("leases")
    assert f"observed again every {allocation.ROOM_CHECK:.0f} seconds" in mechanism("budget")
    assert f"more than {settings.gone_seconds:.0f} seconds apart" in mechanism("observations")
    assert f"not listed it for {settings.witness_seconds / 60:.0f} minutes" in mechanism("observations")
    assert settings.enabling_seconds == 300 and "in the first five minutes" in mechanism("observations")
    assert f"remembers for {KEPT_SECONDS / 86400:.0f} days" in mechanism("replicas")
