# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Check by its security descriptor that only trusted users control the records' directory on a Windows VM.

User names depend on the language of Windows, and so do all commands that print them; a descriptor (SDDL) has SIDs.
"""

from __future__ import annotations

import re
from collections.abc import Collection

# One line for cmd.exe, in the directory: its descriptor, then the SID of the current user.
ASK = 'powershell.exe -NoProfile -NonInteractive -Command "(Get-Acl -LiteralPath .).Sddl;[Security.Principal.WindowsIdentity]::GetCurrent().User.Value"'
# Administrators, the system, the owner and creator of a file, the built-in administrator, Windows' own installer.
TRUSTED = {
    "BA", "SY", "OW", "CO", "LA",
    "S-1-5-32-544", "S-1-5-18", "S-1-3-4", "S-1-3-0", "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
}  # fmt: skip
OWNER = re.compile(r"O:(S-[0-9-]+|[A-Z]{2})(?=[GDS]:|$)")
# To the end, or to the list for audits: what follows an entry with a condition, which has brackets of its own, must not be overlooked.
ACCESS = re.compile(r"D:([A-Z_]*)((?:\([^()]*\))*)(?=S:|$)")
ENTRY = re.compile(r"\(([^()]*)\)")
# Rights that allow no change, as letters and as bits.
READ_ONLY = {"FR", "FX", "GR", "GX", "RC", "CC", "SW", "LO", "RP"}
MAKES_FOLDERS, MAKES_FOLDERS_BITS = "LC", 0x4
CHANGING = 0x2 | 0x4 | 0x10 | 0x40 | 0x100 | 0x10000 | 0x40000 | 0x80000 | 0x2000000 | 0x10000000 | 0x40000000


def check_rights(where: str, printed: list[str]) -> None:
    """Raise PermissionError if others own or may write the directory. ``printed`` is the output of ASK."""
    owner, writers = strangers(where, printed)
    mend = (
        f'icacls "{where}" /setowner *S-1-5-32-544, then icacls "{where}" /inheritance:r /grant:r *S-1-5-32-544:(OI)(CI)F *S-1-5-18:(OI)(CI)F, and '
        f'take the rights of others away (icacls "{where}" /remove *SID); look at the files in it before you trust them'
    )
    if owner:
        raise PermissionError(f"{where} belongs to {owner}, not to the administrators, the system or the connecting user: {mend}")
    if writers:
        raise PermissionError(f"{where} may be written by {', '.join(writers)[:200]}: {mend}")


def strangers(where: str, printed: list[str], trusted_too: Collection[str] = (), is_parent: bool = False) -> tuple[str | None, list[str]]:
    """Return an owner that is not trusted, or None, and the others who may write. Raise PermissionError where that cannot be queried.

    In a parent, others may make folders, as every user may in C:\\, and what it only hands down to files and folders in it is not its own.
    """
    lines = [line.strip() for line in printed if line.strip()]
    owner, access = (OWNER.match(lines[0]), ACCESS.search(lines[0])) if len(lines) == 2 else (None, None)
    if owner is None or access is None:
        raise PermissionError(f"the owner and the rights of {where} cannot be queried: {' '.join(lines)[:200] or 'no answer'}")
    trusted = TRUSTED | {lines[1]}
    # Without an access list every user has all rights.
    others = _who_may_write(access.group(2), is_parent) - trusted - {*trusted_too} if "NO_ACCESS_CONTROL" not in lines[0] else {"Everyone"}
    return owner.group(1) if owner.group(1) not in trusted else None, sorted(others)


def _who_may_write(entries: str, is_parent: bool) -> set[str]:
    """Return all users with a right that allows changes to files. Denials are ignored."""
    found = set()
    for entry in ENTRY.findall(entries):
        parts = entry.split(";")
        if is_parent and len(parts) >= 6 and "IO" in parts[1]:
            continue
        if len(parts) < 6 or (not parts[0].endswith("D") and _changes(parts[2], is_parent)):
            found.add(parts[5] if len(parts) >= 6 else entry)
    return found


def _changes(rights: str, is_parent: bool) -> bool:
    if re.fullmatch(r"0x[0-9a-fA-F]{1,8}", rights):
        return bool(int(rights, 16) & (CHANGING & ~MAKES_FOLDERS_BITS if is_parent else CHANGING))
    return not {rights[at : at + 2] for at in range(0, len(rights), 2)} <= READ_ONLY | ({MAKES_FOLDERS} if is_parent else set())
