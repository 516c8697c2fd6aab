# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs the simulator into one archive that Python runs. The same files always give the same bytes.

One file travels to a host in a moment, where sixty would take a minute, and Ansible sees at once whether it is the same.
Called on the controller by the role: ``pack.py PACKAGE ARCHIVE``.
"""

from __future__ import annotations

import os
import sys
import zipfile

_MAIN = b"import sys\n\nfrom imds_simulator.command_line import main\n\nsys.exit(main())\n"
# Fixed, so that the archive depends on nothing but the contents.
_DATE = (2026, 1, 1, 0, 0, 0)


def pack(package: str, archive: str) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        _add(packed, "__main__.py", _MAIN)
        for folder, folders, files in os.walk(package):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(files):
                path = os.path.join(folder, name)
                inside = os.path.join("imds_simulator", os.path.relpath(path, package))
                # The package's own __main__ mends the import path, which an archive has right.
                if inside != os.path.join("imds_simulator", "__main__.py"):
                    with open(path, "rb") as stream:
                        _add(packed, inside, stream.read())


def _add(packed: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    packed.writestr(entry, content)


if __name__ == "__main__":
    pack(sys.argv[1], sys.argv[2])
