# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Pack one Python package into one archive that Python runs. Equal files always give equal bytes.

One file is copied to a host in a moment, while sixty would take a minute, and Ansible compares it at once.
Roles have it from lookup packed; as a program it is ``pack.py PACKAGE ARCHIVE MODULE``, where MODULE has the function ``main``.
"""

from __future__ import annotations

import os
import sys
import zipfile

_MAIN = "import sys\n\nfrom {module} import main\n\nsys.exit(main(sys.argv[1:]))\n"
# Fixed, so that the archive depends only on its contents.
_DATE = (2026, 1, 1, 0, 0, 0)
# The folder in the collection of each program, and the module that starts it.
PROGRAMS = {
    "watcher": ("plugins/module_utils/_scheduled_events", "_scheduled_events.watch.main"),
    "simulator": ("roles/simulator/files/imds_simulator", "imds_simulator.program.command_line"),
}


def pack(package: str, archive: str, module: str) -> None:
    """Write the archive: the package's folder under its own name, and a start that calls ``main`` of the module."""
    name = os.path.basename(os.path.normpath(package))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        _add(packed, "__main__.py", _MAIN.format(module=module).encode("ascii"))
        for folder, folders, files in os.walk(package):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            inside = os.path.normpath(os.path.join(name, os.path.relpath(folder, package)))
            if "__init__.py" not in files:
                # In an archive, a folder of code without this file is not found.
                _add(packed, os.path.join(inside, "__init__.py"), b"")
            for file in sorted(files):
                # A package's own __main__ corrects the import path; in an archive it is right.
                if not (folder == package and file == "__main__.py"):
                    with open(os.path.join(folder, file), "rb") as stream:
                        _add(packed, os.path.join(inside, file), stream.read())


def _add(packed: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _DATE)
    packed.writestr(entry, content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    pack(*sys.argv[1:])
