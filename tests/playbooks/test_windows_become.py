# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks ask for root on Linux hosts and not on Windows hosts, whose stand-in refuses sudo. No Windows is involved."""

from __future__ import annotations

import typing as t


def test_no_sudo_on_windows(make_lab: t.Callable[..., t.Any]) -> None:
    lab = make_lab(["web1", "web2"], windows=["web1"])
    lab.hosts["web1"].pop("ansible_become")
    said = lab.status()
    assert "become is not played" not in said and "could not be observed" not in said, said
    # A host that wants it says so, and that is heard.
    lab.hosts["web1"]["ansible_become"] = True
    assert "become is not played" in lab.play("maintenance.azure.status", code=None)
