# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Debian's promtool: the metrics have its form and follow its rules, and so do the alert rules, whose tests notice each change of them."""

from __future__ import annotations

import pathlib
import re
import shutil

import pytest
import yaml

from .conftest import ROOT, Metrics
from .programs import promtool

MONITORING = ROOT / "docs" / "monitoring"
ALERTS = [rule["alert"] for group in yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"] for rule in group["rules"]]


def changed(text: str, alert: str, pattern: str, by: str) -> str:
    """The rules with one change in one alert."""
    head, begin, rest = text.partition(f"- alert: {alert}\n")
    after, count = re.subn(pattern, by, rest, count=1)
    assert count == 1
    return head + begin + after


def passes(folder: pathlib.Path, rules: str) -> bool:
    (folder / "alerts.yml").write_text(rules)
    shutil.copy(MONITORING / "alerts_test.yml", folder)
    return promtool("test", "rules", str(folder / "alerts_test.yml")).returncode == 0


def test_a_wrong_file_is_refused() -> None:
    """So that an exit code of 0 below says something."""
    assert promtool("check", "metrics", given=b"# TYPE a_total counter\na_total{ 1\n").returncode != 0


def test_the_metrics_have_the_form_and_follow_the_rules(busy: Metrics) -> None:
    done = promtool("check", "metrics", given=busy.text())
    assert (done.returncode, done.stdout) == (0, b"")


def test_so_have_those_of_a_new_watcher(metrics: Metrics) -> None:
    metrics.write()
    metrics.record()
    done = promtool("check", "metrics", given=metrics.text())
    assert (done.returncode, done.stdout) == (0, b"")


def test_the_alert_rules_are_rules() -> None:
    done = promtool("check", "rules", str(MONITORING / "alerts.yml"))
    assert done.returncode == 0 and f"{len(ALERTS)} rules found".encode() in done.stdout, done.stdout.decode()


def test_the_alert_rules_pass_their_tests() -> None:
    done = promtool("test", "rules", str(MONITORING / "alerts_test.yml"))
    assert done.returncode == 0, done.stdout.decode()


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_that_never_fires_or_always_does_fails_its_tests(alert: str, tmp_path: pathlib.Path) -> None:
    rules = (MONITORING / "alerts.yml").read_text()
    assert passes(tmp_path, rules)
    whole = r"expr: (>-\n.*\n.*|.*)\n"
    assert not passes(tmp_path, changed(rules, alert, whole, "expr: azure_scheduled_events_problem > 1\n"))
    assert not passes(tmp_path, changed(rules, alert, whole, 'expr: up or {__name__=~"azure_.*"}\n'))


@pytest.mark.parametrize(
    ("alert", "pattern", "by"),
    [
        ("AzureMaintenanceWatcherStale", "> 90", "> 900"),
        ("AzureMaintenanceWatcherStale", "for: 2m", "for: 5m"),
        ("AzureMaintenanceWatcherProblem", "for: 10m", "for: 1m"),
        ("AzureMaintenanceMessagesDropped", r"\[1h\]", "[3h]"),
        ("AzureMaintenanceMessagesDropped", r"increase\(", "resets("),
        ("AzureMaintenanceDrainFailed", 'phase="failed"', 'phase=~"failed|held"'),
        ("AzureMaintenanceEventHeld", r"time\(\) >", "time() - 300 >"),
        ("AzureMaintenanceRecordsUnreadable", "> 300", "> 3000"),
        ("AzureMaintenanceRecordsUnreadable", r"unless on \(instance, job\)", "unless on (job)"),
    ],
)
def test_a_wrong_figure_in_a_rule_fails_its_tests(alert: str, pattern: str, by: str, tmp_path: pathlib.Path) -> None:
    assert not passes(tmp_path, changed((MONITORING / "alerts.yml").read_text(), alert, pattern, by))
