# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ownership of a directory on a Windows VM, by its security descriptor."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.files import _rights
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.rights import check_rights, strangers

WHERE = "C:\\ProgramData\\azure-maintenance"
ME = "S-1-5-21-1-2-3-1001"
OTHER = "S-1-5-21-1-2-3-1002"
OURS = "D:PAI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;FA;;;OW)"
# As a plain "mkdir" below ProgramData leaves it: users may read it and put files into it.
INHERITED = "D:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIIOID;GA;;;CO)(A;OICIID;0x1200a9;;;BU)"


def refusal(*said):
    try:
        check_rights(WHERE, list(said))
    except PermissionError as error:
        return str(error)
    return None


@pytest.mark.parametrize("owner", ["BA", "SY", "S-1-5-32-544", "LA", ME])
def test_trusted_rights_pass(owner):
    assert refusal(f"O:{owner}G:SY{OURS}", ME) is None


@pytest.mark.parametrize("rights", ["0x1200a9", "FR", "FRFX", "GRGX"])
def test_others_may_read(rights):
    assert refusal(f"O:BAG:SY{OURS}(A;OICI;{rights};;;BU)", ME) is None
    assert refusal(f"O:BAG:SY{INHERITED}", ME) is None


@pytest.mark.parametrize("owner", ["BU", OTHER, "S-1-5-32-545"])
def test_another_owner_is_refused_with_the_remedy(owner):
    said = refusal(f"O:{owner}G:SY{OURS}", ME)
    assert f"{WHERE} belongs to {owner}" in said
    assert f'icacls "{WHERE}" /setowner *S-1-5-32-544' in said and "look at the files in it before you trust them" in said


@pytest.mark.parametrize("rights", ["FA", "FW", "GA", "GW", "DCLCRPCR", "WD", "WO", "SD", "0x2", "0x1301bf", "0x1f01ff", "0x10000000", "odd"])
@pytest.mark.parametrize("flags", ["", "OICI", "OICIIOID"])
def test_others_who_may_write_are_refused(rights, flags):
    said = refusal(f"O:BAG:SY{OURS}(A;{flags};{rights};;;WD)", ME)
    assert "may be written by WD" in said


def test_a_conditional_entry_counts_and_a_denial_does_not():
    assert "written by" in refusal(f"O:BAG:SY{OURS}(XA;;FA;;;BU)", ME)
    assert refusal(f"O:BAG:SY{OURS}(D;;FA;;;BU)", ME) is None


@pytest.mark.parametrize(
    "message", [(), ("",), ("O:BAG:SY", ME), ("an error",), ("an error", ME), (f"O:BAG:SY{OURS}",), (f"{OURS}", ME), ("O:BAG:SYD:NO_ACCESS_CONTROL", ME)]
)
def test_unreadable_rights_are_refused(message):
    assert refusal(*message)


def test_no_file_can_answer_for_the_directory():
    assert _rights("=rights\r\nO:BA\r\nme\r\n=list\r\na\r\n=rights\r\nO:BU\r\n") == ["O:BA", "me"]
    assert _rights("=list\r\n=rights\r\nO:BA\r\nme\r\n") == []


# What Windows sets: every user may make folders in C:\\, and files in those.
DRIVE = "O:S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)(A;CI;LC;;;BU)"
DRIVE += "(A;CIIO;DC;;;BU)(A;OICIIO;SDGXGWGR;;;AU)(A;;LC;;;AU)"


def test_in_a_parent_others_may_make_folders_and_no_files() -> None:
    assert strangers("C:\\", [DRIVE, "S-1-5-18"]) == (None, ["AU", "BU"])
    assert strangers("C:\\", [DRIVE, "S-1-5-18"], is_parent=True) == (None, [])
    for entry in ("(A;;DC;;;BU)", "(A;OICI;0x1301bf;;;BU)", "(A;OICI;GA;;;BU)", "(A;;0x40;;;BU)", "(A;BU)"):
        assert strangers("C:\\", [DRIVE + entry, "S-1-5-18"], is_parent=True)[1] == [entry.strip("()").rpartition(";;;")[2]], entry
    assert strangers("C:\\", [DRIVE.replace("(A;;LC;;;AU)", "(A;;0x1200ad;;;AU)"), "S-1-5-18"], is_parent=True) == (None, [])


def test_what_follows_an_entry_with_a_condition_is_not_overlooked() -> None:
    with pytest.raises(PermissionError, match="cannot be queried"):
        strangers("C:\\x", ["O:BAG:SYD:PAI(A;;FA;;;SY)(XA;;FR;;;WD;(@User.level == 1))(A;;FA;;;WD)", "S-1-5-18"])
