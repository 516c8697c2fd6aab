# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands that the pages of the documentation show, and the registry of what runs each of them (tests/unit/docs/commands.yml)."""

from __future__ import annotations

import pathlib
import re
import shlex
import subprocess
import textwrap
import typing as t

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
REGISTRY = ROOT / "tests" / "unit" / "docs" / "commands.yml"
SHELLS = ("console", "shell", "bash", "sh", "powershell")
PATTERNS = ("*.md", "docs/**/*.md", "docs/docsite/rst/*.rst", "roles/*/README.md", "extensions/**/README.md", "playbooks/*.yml")
MARKDOWN = re.compile(r"^( *)```([a-z]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
RST = re.compile(r"^( *)\.\. code-block:: ([a-z]+)\n((?:\n|\1 +.*\n)+)", re.MULTILINE)
# What a playbook says of itself stands on the site, too.
HEAD = re.compile(r"^#()   ()(.*ansible-playbook .*\n)", re.MULTILINE)
PROMPT = re.compile(r"[$#] ")


def pages() -> list[str]:
    """Return every page that is published, as a path below the repository."""
    return sorted({str(path.relative_to(ROOT)) for pattern in PATTERNS for path in ROOT.glob(pattern) if path.name != "CHANGELOG.md"})


def blocks(page: str, text: str) -> list[str]:
    """Return the blocks of a page that are typed into a shell."""
    form = {".rst": RST, ".yml": HEAD}.get(pathlib.PurePath(page).suffix, MARKDOWN)
    return [textwrap.dedent(found[3]) for found in form.finditer(text) if form is HEAD or found[2] in SHELLS]


def is_whole(command: str) -> bool:
    """Return whether a shell takes these lines as whole commands: no open quote, parenthesis or here-document, no line that goes on."""
    if command.endswith("\\"):
        return False
    checked = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
    return not re.search(r"unexpected EOF|unexpected end of file|delimited by end-of-file", checked.stderr)


def split(block: str) -> list[str]:
    """Return the commands of a block, each with the lines that continue it. Where the first follows a prompt, what does not is output."""
    prompted = bool(PROMPT.match(block.lstrip("\n")))
    commands: list[str] = []
    lines: list[str] = []
    for line in block.splitlines():
        if not lines and (not line.strip() or prompted and not PROMPT.match(line)):
            continue
        lines.append(line if lines or not prompted else line[2:])
        if is_whole("\n".join(lines)):
            commands.append("\n".join(lines))
            lines = []
    return commands + (["\n".join(lines)] if lines else [])


def commands(page: str) -> list[str]:
    """Return the commands of a page, as they are typed."""
    return [command for block in blocks(page, (ROOT / page).read_text()) for command in split(block)]


def key(command: str) -> str:
    """Return a command as the registry has it: on one line, without what its comment says."""
    return " ".join(re.sub(r"\\\n", " ", re.sub(r"\s+# .*$", "", command)).split())


def registry() -> dict[str, list[dict[str, str]]]:
    """Return the entries of each page: the command, and either the test that runs it or why none does."""
    found: dict[str, list[dict[str, str]]] = yaml.safe_load(REGISTRY.read_text())
    return found


def typed(test: str) -> list[str]:
    """Return the commands that one test is registered for, each once, in the order of the pages."""
    found: dict[str, str] = {}
    for page, entries in registry().items():
        wanted = {entry["command"] for entry in entries if entry.get("test") == test}
        found.update({key(command): command for command in commands(page) if wanted and key(command) in wanted})
    return list(found.values())


def words(command: str) -> t.Iterator[list[str]]:
    """Yield the words of each ansible-playbook in a command."""
    for part in re.findall(r"ansible-playbook .*|ansible-navigator run .*", key(command)):
        yield shlex.split(re.split(r" (?:&&|\|\||;|#) ", part)[0])
