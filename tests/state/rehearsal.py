# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run with --check before the real one, on the real servers."""

from __future__ import annotations

from lab.lab import Lab


def rehearse(lab: Lab, *words: str) -> None:
    """Let respond say what it would do: all of these words, and no record of a drain."""
    said = " ".join(lab.respond("--check").split())
    missing = [one for one in words if one not in said]
    assert not missing, f"not said: {missing}\n{said}"
    begun = [record["phase"] for vm in lab.vms for record in lab.records(vm) if record["phase"] not in ("noticed", "recovered", "gone")]
    assert begun == [], f"a run with --check has begun something: {begun}"
