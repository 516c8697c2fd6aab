# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of docs/event-driven.md, typed into a shell as they stand there."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import subprocess

from eda.rulebook import Rulebook

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "event-driven.md"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RULEBOOK = "ansible-rulebook "


def configuration(containing: str) -> str:
    """The one configuration in the guide that contains a text."""
    (found,) = [block for block in re.findall(r"^```text\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE) if containing in block]
    return str(found)


def commands(containing: str) -> str:
    """The one block of commands in the guide that contains a text."""
    (found,) = [block for block in CONSOLE.findall(GUIDE.read_text()) if containing in block]
    return str(found)


class Shell:
    """A folder in which an operator types, with this collection installed below HOME. The name ``controller`` leads to the rulebook of the test."""

    def __init__(self, rulebook: Rulebook) -> None:
        self.rulebook = rulebook
        self.folder = rulebook.folder
        installed = self.folder / ".ansible" / "collections" / "ansible_collections" / "maintenance"
        installed.mkdir(parents=True)
        (installed / "azure").symlink_to(ROOT)
        options = (f'connect-to = "controller:5000:127.0.0.1:{rulebook.port}"', "silent", 'write-out = "%{http_code}"', "output = /dev/null")
        (self.folder / ".curlrc").write_text("\n".join(options))
        rulebook.lab.inventory().rename(self.folder / "inventory")

    def type(self, text: str) -> str:
        """What the commands print. They must not fail."""
        environment = {**os.environ, "HOME": str(self.folder)}
        done = subprocess.run(["bash", "-ec", text], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def start(self, containing: str) -> None:
        """Type a block of the guide. Its last line starts the rulebook, which gets a free port of this machine instead of 5000."""
        *before, last = commands(containing).strip().splitlines()
        assert last.startswith(RULEBOOK), last
        self.type("\n".join(before))
        self.rulebook.typed = shlex.split(last)
        with (self.folder / "variables.yml").open("a") as variables:
            variables.write(f"maintenance_host: 127.0.0.1\nmaintenance_port: {self.rulebook.port}\n")
        self.rulebook.start()

    def install(self) -> None:
        """Type the guide's certificate and variables, and its message. The certificate is good for the watchers' address as well."""
        block = commands("DNS:controller").replace("DNS:controller", "DNS:controller,IP:127.0.0.1")
        self.type("\n".join(line for line in block.splitlines() if not line.startswith(RULEBOOK)))
        self.type(commands("message.json <<").partition("token=")[0])

    def certify(self, vm: str) -> None:
        """Type the guide's authority once, and its certificate for a VM. The variable that names the authority is left out."""
        lines = [line for line in commands("maintenance_client_authorities: $PWD").splitlines() if not line.startswith((RULEBOOK, "echo "))]
        if (self.folder / "authority.pem").exists():
            lines = ["(umask 077", *lines[2:]]
        self.type("\n".join(lines).replace("web1", vm))

    def variable(self, name: str) -> str:
        (found,) = re.findall(rf"^{name}: (.*)$", (self.folder / "variables.yml").read_text(), re.MULTILINE)
        return str(found)

    def event_id(self) -> str:
        """The event of the guide's message."""
        return str(json.loads((self.folder / "message.json").read_text())["data"]["event"]["event_id"]).lower()
