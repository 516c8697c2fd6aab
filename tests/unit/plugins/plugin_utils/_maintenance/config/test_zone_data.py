# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which time zone data count, and when newer ones do not."""

from __future__ import annotations

import pathlib
import sys
import types

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import policy, zone_data

REMARK = "the time zones of windows are those of the system's data 2025b; the newer package tzdata (2026f) does not count before they are updated"


@pytest.mark.parametrize(
    ("line", "system"), [("# version 2025b\n", "2025b"), *((odd, zone_data.UNKNOWN) for odd in ("# tzdb 2025b", "", None, "# version \xe4"))]
)
def test_the_systems_version_is_read_where_its_zones_are(tmp_path: pathlib.Path, line: str | None, system: str) -> None:
    (tmp_path / "zones" / "Etc").mkdir(parents=True)
    (tmp_path / "zones" / "Etc" / "UTC").touch()
    if line is not None:
        (tmp_path / "zones" / "tzdata.zi").write_text(line, encoding="latin-1")
    assert zone_data.versions([str(tmp_path), str(tmp_path / "zones")])[0] == system
    assert zone_data.versions([str(tmp_path)])[0] == ""


@pytest.mark.parametrize(
    ("system", "package", "said"),
    [("2025b", "2026f", REMARK), ("2026f", "2026f", ""), ("2026f", "2026b", ""), ("", "2026f", ""), ("2025b", "", ""), (zone_data.UNKNOWN, "2026f", "")],
)
def test_newer_data_that_do_not_count_are_named(system: str, package: str, said: str) -> None:
    assert zone_data.remark(system, package) == said


def test_a_policy_with_a_zone_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tzdata", types.SimpleNamespace(IANA_VERSION="9999a"))  # type: ignore[arg-type]
    assert zone_data.versions([])[1] == "9999a"
    monkeypatch.setattr(zone_data, "of_controller", lambda: ("2025b", REMARK))
    rule = {"drain": True, "approve": "after_drain", "window": {"from": "22:00", "to": "04:00"}}
    assert policy.load([rule]).remarks == []
    zone = {**rule["window"], "time_zone": "Europe/Berlin"}  # type: ignore[dict-item]
    assert policy.load([{**rule, "window": zone}]).remarks == [f"respond_policy: {REMARK}"]
