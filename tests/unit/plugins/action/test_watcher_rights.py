# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action watcher_rights: who may write a folder of the watcher on a Windows VM."""

from __future__ import annotations

from typing import Any

import pytest
from controller_actions import run_action

from ansible_collections.maintenance.azure.plugins.action import watcher_rights

ME = "S-1-5-21-1-2-3-1001"
# As icacls makes them, and as folders below C:\Program Files have them.
OURS = "O:BAG:SYD:PAI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;0x1200a9;;;LS)"
STATE = "O:BAG:SYD:PAI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;0x1301bf;;;LS)"
PROGRAM_FILES = (
    "O:SYG:SYD:AI(A;ID;FA;;;S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464)(A;OICIIOID;GA;;;SY)(A;ID;FA;;;SY)(A;OICIID;FA;;;BA)"
    "(A;ID;0x1200a9;;;BU)(A;OICIIOID;GXGR;;;BU)(A;OICIIOID;GA;;;CO)(A;ID;0x1200a9;;;AC)"
)
ROOT_OF_DRIVE = "O:BAG:SYD:AI(A;OICIID;FA;;;BA)(A;OICIID;FA;;;SY)(A;ID;0x1301bf;;;AU)"


def run(printed: list[str], writers: list[str] | None = None) -> dict[str, Any]:
    return run_action(watcher_rights, {"folder": "C:\\folder", "printed": printed, "writers": writers or [], "next": "Next: this."})


@pytest.mark.parametrize(("descriptor", "writers"), [(OURS, []), (PROGRAM_FILES, []), (STATE, ["LS", "S-1-5-19"]), (OURS.replace("BAG", f"{ME}G"), [])])
def test_what_only_trusted_users_may_write_passes(descriptor: str, writers: list[str]) -> None:
    assert not run([descriptor, ME], writers).get("failed")


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ([STATE, ME], "C:\\folder may be written by LS, who"),
        ([ROOT_OF_DRIVE, ME], "C:\\folder may be written by AU, who"),
        ([OURS.replace("O:BA", "O:S-1-5-21-1-2-3-1002"), ME], "C:\\folder belongs to S-1-5-21-1-2-3-1002, not"),
        (["O:BAG:SYD:NO_ACCESS_CONTROL", ME], "C:\\folder may be written by Everyone, who"),
        ([], "the owner and the rights of C:\\folder cannot be queried: no answer"),
        (["Get-Acl : Access is denied"], "the owner and the rights of C:\\folder cannot be queried: Get-Acl"),
    ],
)
def test_everything_else_is_refused_with_what_to_do(printed: list[str], words: str) -> None:
    found = run(printed)
    assert found["failed"] and found["msg"].startswith(words) and found["msg"].endswith("Next: this.")
