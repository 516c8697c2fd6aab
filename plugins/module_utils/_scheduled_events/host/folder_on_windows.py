# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The records' directory as the watcher on a Windows VM reads it: it must be a directory, and no link.

Python's standard library cannot read who may write it. Each run from the controller checks that (plugin_utils/_windows/rights.py), and the watcher
undoes nothing: it publishes which EventIds the records show, and a forged record only ends the repetition of a message.
"""

from __future__ import annotations

import os
import stat

# FILE_ATTRIBUTE_REPARSE_POINT of Windows: a symbolic link or a junction.
LINK = 0x400


def check_directory(path: str) -> None:
    """Raise FileNotFoundError if the directory is missing, and OSError if it is something else or a link."""
    present = os.lstat(path)
    if not stat.S_ISDIR(present.st_mode) or getattr(present, "st_file_attributes", 0) & LINK:
        raise NotADirectoryError(f"{path} is not a directory")


def check_file(name: str, present: os.stat_result) -> None:
    """Do nothing: see above."""
