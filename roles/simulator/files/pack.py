# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pack the simulator into one archive that Python runs. Equal files always give equal bytes.

One file is copied to a host in a moment, while sixty would take a minute, and Ansible compares it at once.
The role calls it on the controller: ``pack.py PACKAGE ARCHIVE``.
"""

from __future__ import annotations

import os
import sys
import zipfile

_MAIN = b"import sys\n\nfrom imds_simulator.program.command_line import main\n\nsys.exit(main())\n"
# Fixed, so that the archive depends only on its contents.
_DATE = (2026, 1, 1, 0, 0, 0)


def pack(package: str, archive: str) -> None:
    """Write the archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        _add(packed, "__main__.py", _MAIN)
        for folder, folders, files in os.walk(package):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(files):
                path = os.path.join(folder, name)
                inside = os.path.join("imds_simulator", os.path.relpath(path, package))
                # The package's own __main__ corrects the import path; in an archive it is right.
                if inside != os.path.join("imds_simulator", "__main__.py"):
                    with open(path, "rb") as stream:
                        _add(packed, inside, stream.read())


def _add(packed: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _DATE)
    packed.writestr(entry, content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    pack(sys.argv[1], sys.argv[2])
