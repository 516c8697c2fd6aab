# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Which version of the time zone data counts. C(zoneinfo) takes the system's files before those of the Python package tzdata, also where they are older."""

from __future__ import annotations

import importlib
import pathlib
import re
from collections.abc import Sequence
from functools import lru_cache

# A zone that all data have, and where Debian, Red Hat and others write the version.
ANY_ZONE, WITH_VERSION = "Etc/UTC", "tzdata.zi"
UNKNOWN = "of a version that they do not say"


def versions(folders: Sequence[str]) -> tuple[str, str]:
    """Return the version of the system's data, such as C(2026f), and that of the package; empty where there are none. C(folders) as in zoneinfo.TZPATH."""
    system = next((found for found in map(pathlib.Path, folders) if (found / ANY_ZONE).is_file()), None)
    try:
        package = str(importlib.import_module("tzdata").IANA_VERSION)
    except (ImportError, AttributeError):
        package = ""
    return "" if system is None else _version(system), package


def _version(folder: pathlib.Path) -> str:
    try:
        with (folder / WITH_VERSION).open(encoding="ascii", errors="replace") as file:
            found = re.fullmatch(r"# version ([0-9]{4}[a-z]+)\s*", file.readline(100))
    except OSError:
        found = None
    return found[1] if found else UNKNOWN


@lru_cache(maxsize=1)
def of_controller() -> tuple[str, str]:
    """Return the version that counts here, and a remark where newer data are there and do not count."""
    from zoneinfo import TZPATH

    system, package = versions(TZPATH)
    return system or package, remark(system, package)


def remark(system: str, package: str) -> str:
    """Return that the system's data are older than those of the package, or an empty text."""
    if system in ("", UNKNOWN) or not system < package:
        return ""
    return f"the time zones of windows are those of the system's data {system}; the newer package tzdata ({package}) does not count before they are updated"
