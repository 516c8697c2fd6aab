# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real Prometheus on loopback: it scrapes the metrics, each alert fires when it should, and each panel of the dashboard shows something."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import typing as t
from collections.abc import Iterator

import pytest
from lab.simulator import Simulator

from .conftest import ROOT, Metrics
from .programs import NodeExporter, Prometheus, get, promtool, until

MONITORING = ROOT / "docs" / "monitoring"
RULES = (MONITORING / "alerts.yml").read_text()
# A test cannot wait ten minutes for an alert, nor ninety seconds for a heartbeat to grow old.
QUICK_RULES = re.sub(r"for: \d+m", "for: 1s", RULES).replace("> 90\n", "> 12\n")
BOARD = json.loads((MONITORING / "dashboard.json").read_text())
TARGETS = [(panel["title"], target["expr"]) for panel in BOARD["panels"] for target in panel["targets"]]


@pytest.fixture
def prometheus(tmp_path: pathlib.Path, served: str) -> Iterator[Prometheus]:
    one = Prometheus(tmp_path, served, RULES)
    yield one
    one.close()


@pytest.fixture
def quick(tmp_path: pathlib.Path, served: str) -> Iterator[Prometheus]:
    one = Prometheus(tmp_path, served, QUICK_RULES)
    yield one
    one.close()


def test_the_alerts_as_they_are_fire_for_a_failed_drain_and_a_late_hold(busy: Metrics, prometheus: Prometheus) -> None:
    until(lambda: prometheus.query('azure_scheduled_events_records{phase="held"} == 1'), "nothing is scraped")
    assert prometheus.query("ALERTS") == [] and prometheus.firing() == {}
    busy.record([("draining", -90), ("failed", -60)], [("noticed", -400), ("held", -300)], not_before=100)
    found = until(lambda: len(prometheus.firing()) == 2 and prometheus.firing(), "two alerts do not fire")
    assert set(found) == {"AzureMaintenanceDrainFailed", "AzureMaintenanceEventHeld"}
    assert found["AzureMaintenanceDrainFailed"]["summary"] == "A drain on web1 has failed"
    busy.record([("draining", -90), ("drained", -60)])
    until(lambda: prometheus.firing() == {}, "the alerts do not end")


def test_a_problem_and_dropped_messages_fire_when_the_waiting_is_short(busy: Metrics, quick: Prometheus) -> None:
    until(lambda: quick.query("azure_scheduled_events_messages_dropped_total"), "nothing is scraped")
    assert quick.firing() == {}
    busy.state.failed("no usable answer")
    busy.state.values["messages_dropped"] = 5
    busy.write()
    until(lambda: {"AzureMaintenanceWatcherProblem", "AzureMaintenanceMessagesDropped"} <= set(quick.firing()), "they do not fire")
    for path in busy.folder.glob("maintenance_records.prom"):
        path.unlink()
    until(lambda: "AzureMaintenanceRecordsUnreadable" in quick.firing(), "records that are withdrawn are not told")


@pytest.mark.parametrize("chosen", [".*", "web1"])
def test_each_panel_of_the_dashboard_shows_something(busy: Metrics, prometheus: Prometheus, chosen: str) -> None:
    until(lambda: prometheus.query("rate(azure_scheduled_events_requests_total[5m])"), "nothing is scraped twice")
    for title, expression in TARGETS:
        assert prometheus.query(expression.replace("$instance", chosen)), title
    names = set(re.findall(r"azure_scheduled_events_\w+", json.dumps(BOARD)))
    for name in names:
        assert prometheus.query(name), name


def test_the_dashboard_fits_together() -> None:
    panels = BOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) == len({panel["title"] for panel in panels})
    boxes = [panel["gridPos"] for panel in panels]
    places = [(box["x"] + x, box["y"] + y) for box in boxes for x in range(box["w"]) for y in range(box["h"])]
    assert len(set(places)) == len(places) and max(x for x, _y in places) < 24
    variables = {variable["name"] for variable in BOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)\}?", json.dumps([panel["targets"] for panel in panels] + [panel["datasource"] for panel in panels])))
    assert used <= variables and all("$instance" in expression for _title, expression in TARGETS)


class Watcher:
    """A real asker, from the archive that the role installs, against the simulator."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, archive = folder, folder / "watch.pyz"
        self.simulator = Simulator(["web1"], 1)
        packer = ROOT / "plugins" / "plugin_utils" / "_controller" / "pack.py"
        package = ROOT / "plugins" / "module_utils" / "_scheduled_events"
        subprocess.run([sys.executable, str(packer), str(package), str(archive), "_scheduled_events.watch.main"], check=True)
        folders = {f"{name}_folder": str(folder / name) for name in ("runtime", "state", "seen", "figures")}
        for path in folders.values():
            pathlib.Path(path).mkdir()
        settings = {"endpoint": self.simulator.endpoints["web1"], "records_path": str(folder / "records"), **folders}
        (folder / "watch.json").write_text(json.dumps(settings))
        self.asker = subprocess.Popen(self.command("ask"))

    def command(self, word: str) -> list[str]:
        return [sys.executable, "-I", str(self.folder / "watch.pyz"), word, str(self.folder / "watch.json")]

    def close(self) -> None:
        self.asker.kill()
        self.asker.wait()
        self.simulator.close()


@pytest.fixture
def watcher(tmp_path: pathlib.Path) -> Iterator[Watcher]:
    one = Watcher(tmp_path)
    yield one
    one.close()


@pytest.fixture
def exporter(watcher: Watcher) -> Iterator[NodeExporter]:
    one = NodeExporter(watcher.folder, str(watcher.folder / "figures"))
    yield one
    one.close()


def first(found: list[dict[str, t.Any]]) -> float:
    return float(found[0]["value"][1])


def test_from_an_event_to_an_alert_through_node_exporter(watcher: Watcher, exporter: NodeExporter, tmp_path: pathlib.Path) -> None:
    subprocess.run(watcher.command("seen"), check=True)
    prometheus = Prometheus(tmp_path, exporter.address.partition("//")[2], QUICK_RULES)
    try:
        until(lambda: prometheus.query("azure_scheduled_events_answers_total > 0"), "no metric of the asker arrives")
        assert prometheus.query('azure_scheduled_events_records{phase="noticed"} == 0')
        watcher.simulator.event("Preempt", ["web1"])
        until(lambda: prometheus.query('azure_scheduled_events_listed{type="Preempt",this_vm="true"} == 1'), "the event does not arrive")
        assert 0 < first(prometheus.query("azure_scheduled_events_not_before_timestamp_seconds - time()")) < 3600
        # Both files are there, neither contradicts the other, and nothing else is read.
        assert first(prometheus.query("node_textfile_scrape_error")) == 0
        read = re.findall(r'^node_textfile_mtime_seconds\{file="(?:.*/)?([^"/]+)"\}', get(f"{exporter.address}/metrics"), re.MULTILINE)
        assert sorted(read) == ["maintenance_records.prom", "maintenance_watch.prom"]
        assert "AzureMaintenanceWatcherStale" not in prometheus.firing()
        watcher.asker.kill()
        until(lambda: "AzureMaintenanceWatcherStale" in prometheus.firing(), "a killed watcher is not told")
        # The question of docs/watcher.md: which node has no watcher?
        (question,) = re.findall(r"^\$ promtool query instant \S+ '(.*)'$", (ROOT / "docs" / "watcher.md").read_text(), re.MULTILINE)
        ask = ("query", "instant", prometheus.address, question)
        assert promtool(*ask).stdout.strip() == b""
        for name in read:
            (watcher.folder / "figures" / name).unlink()
        until(lambda: b'instance="web1"' in promtool(*ask).stdout, "a node without a watcher is not named")
    finally:
        prometheus.close()
