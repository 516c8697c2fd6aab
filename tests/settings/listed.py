# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which settings the ansible-core has whose programs come first on PATH. As a program: compare them with the rows, and end with 1 where they differ."""

from __future__ import annotations

import json
import subprocess
import sys
import typing as t

import rows

# What ansible-playbook calls its options, by its own parser: help texts are wrapped.
PARSED = """
import json
from ansible.cli.playbook import PlaybookCLI
cli = PlaybookCLI(["ansible-playbook"])
cli.init_parser()
print(json.dumps([max(action.option_strings, key=len) for action in cli.parser._actions if action.option_strings]))
"""


def program(*command: str) -> t.Any:
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout)


def core() -> tuple[int, ...]:
    first = subprocess.run(["ansible", "--version"], capture_output=True, text=True, check=True, timeout=100).stdout.splitlines()[0]
    return tuple(int(number) for number in first.split("core ")[1].rstrip("]").split(".")[:2])


def configuration() -> dict[str, dict[str, t.Any]]:
    found: dict[str, dict[str, t.Any]] = program("ansible-config", "list", "--format", "json")
    return found


def names() -> dict[str, set[str]]:
    return {
        "keyword": set(program("ansible-doc", "-t", "keyword", "-l", "--json")),
        "configuration": set(configuration()),
        "command line": set(program("python", "-c", PARSED)),
    }


def differences() -> list[str]:
    """Settings of this core without a row, and rows without a setting."""
    version, listed, matrix = core(), names(), rows.load()
    said = ".".join(map(str, version))
    found = []
    for kind in rows.KINDS:
        known = {row.name for row in matrix if row.kind == kind and row.known_to(version)}
        found += [f"{kind} {name} of ansible-core {said} is not in the matrix" for name in sorted(listed[kind] - known)]
        found += [f"{kind} {name} is in the matrix, and ansible-core {said} does not have it" for name in sorted(known - listed[kind])]
    return found


if __name__ == "__main__":
    wrong = differences()
    print("\n".join(wrong) or f"Every setting of ansible-core {'.'.join(map(str, core()))} has its row.")
    sys.exit(bool(wrong))
