# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example in the README runs as it stands; only its two folders are other ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from fleet import ROOT, environment


def test_the_example_of_role_drain_runs(tmp_path: Path) -> None:
    text = (ROOT / "roles/drain/README.md").read_text()
    example = re.findall(r"```yaml\n(.*?)```", text, re.S)[-1]
    for folder in ("/run/azure-out", "/var/lib/azure-maintenance"):
        assert folder in example
        example = example.replace(folder, str(tmp_path / folder.rsplit("/", 1)[1]))
    playbook = tmp_path / "example.yml"
    playbook.write_text(example.replace("logger ", "echo "))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", "localhost,", str(playbook), "-e"]
    command.append(f"ansible_python_interpreter={sys.executable}")
    run = subprocess.run(command, env=environment(tmp_path), text=True, capture_output=True, timeout=180, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert list((tmp_path / "azure-maintenance").glob("event-rehearsal-1.*.json")) and not (tmp_path / "azure-out").exists()
