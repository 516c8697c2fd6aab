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


def run_example(tmp_path: Path, *options: str, **changed: str) -> subprocess.CompletedProcess[str]:
    text = (ROOT / "roles/drain/README.md").read_text()
    example = re.findall(r"```yaml\n(.*?)```", text, re.S)[-1]
    for folder in ("/run/azure-out", "/var/lib/azure-maintenance"):
        assert folder in example
        example = example.replace(folder, str(tmp_path / folder.rsplit("/", 1)[1]))
    for old, new in changed.items():
        assert old in example
        example = example.replace(old, new)
    playbook = tmp_path / "example.yml"
    playbook.write_text(example.replace("logger ", "echo "))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", "localhost,", str(playbook), "-e"]
    command += [f"ansible_python_interpreter={sys.executable}", *options]
    return subprocess.run(command, env=environment(tmp_path), text=True, capture_output=True, timeout=180, check=False)


def test_the_example_of_role_drain_runs(tmp_path: Path) -> None:
    run = run_example(tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert list((tmp_path / "azure-maintenance").glob("event-rehearsal-1.*.json")) and not (tmp_path / "azure-out").exists()


def test_in_check_mode_it_says_before_any_event_what_would_take_nothing_out(tmp_path: Path) -> None:
    asked = ["--check", "-e", "drain_serves=yes"]
    run = run_example(tmp_path, *asked)
    assert run.returncode == 0, run.stdout + run.stderr
    run = run_example(tmp_path, *asked, **{"present_means: out": "present_means: in"})
    assert run.returncode == 2 and "azure-out is not there: is path right?" in run.stdout, run.stdout + run.stderr
    assert not (tmp_path / "azure-maintenance").exists()
