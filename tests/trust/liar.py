# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Python of a VM that was taken over: runs Ansible's modules as they are, and gives what it likes as their answer.

The first argument is an honest Python, the second a JSON file with lies by module name (``*`` is any), the others are Ansible's own. A lie has
``merge`` (keys over the honest answer), or in its place ``answer``, ``raw`` (text), ``raw_hex`` (bytes) or ``megabytes`` (a text of so many), and may
have ``hang`` (seconds).
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import time


def module_of(arguments: list[str]) -> str:
    """The module's name in the path of the file that Ansible sent."""
    found = re.search(r"AnsiballZ_([A-Za-z0-9_]+)\.py", " ".join(arguments))
    return found.group(1) if found else ""


def honest(arguments: list[str]) -> subprocess.CompletedProcess[bytes]:
    """What the module itself says."""
    return subprocess.run([sys.argv[1], *arguments], stdout=subprocess.PIPE, check=False)


def main() -> int:
    lies = json.loads(pathlib.Path(sys.argv[2]).read_text())
    arguments = sys.argv[3:]
    lie = lies.get(module_of(arguments)) or lies.get("*")
    if lie is None:
        done = honest(arguments)
        sys.stdout.buffer.write(done.stdout)
        return done.returncode
    time.sleep(lie.get("hang", 0))
    if "raw_hex" in lie:
        sys.stdout.buffer.write(bytes.fromhex(lie["raw_hex"]))
    elif "megabytes" in lie:
        if not module_of(arguments):
            sys.stdin.buffer.read()  # the module comes that way
        sys.stdout.write('{"vm_name": "')
        for _one in range(lie["megabytes"]):
            sys.stdout.write("x" * 1024 * 1024)
    elif "raw" in lie:
        sys.stdout.write(lie["raw"])
    elif "answer" in lie:
        sys.stdout.write(json.dumps(lie["answer"]))
    else:
        sys.stdout.write(json.dumps({**json.loads(honest(arguments).stdout), **lie.get("merge", {})}))
    return int(lie.get("code", 0))


if __name__ == "__main__":
    sys.exit(main())
