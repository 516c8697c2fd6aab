# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rehearsal on one's own computer: the commands of its guide, in a real shell, with the collection installed as the guide says."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import typing as t

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "docsite" / "rst" / "rehearsal_guide.rst").read_text()
INSTALL = "ansible-galaxy collection install maintenance.azure"
RESPOND = "maintenance.azure.respond -e respond_wait=true"
STATUS = "ansible-playbook -i local-rehearsal.yml maintenance.azure.status"


def commands() -> list[str]:
    """Return the commands of the guide: what follows a prompt, with the lines that continue it."""
    blocks = re.findall(r"\.\. code-block:: console\n\n((?:    .*\n)+)", GUIDE)
    return [one.strip() for block in blocks for one in re.split(r"^    \$ ", block, flags=re.MULTILINE) if one.strip()]


@pytest.fixture
def shell(tmp_path: pathlib.Path) -> t.Iterator[t.Callable[..., list[str]]]:
    """A shell in an empty home. It returns what each command printed, and stops at the first that fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PYTHON"))}
    # What is installed is what runs; as elsewhere it is compiled once, and nothing reaches a metadata service.
    environment.update(HOME=str(tmp_path), LC_ALL="C.UTF-8", ANSIBLE_NOCOLOR="1", PYTHONPATH=str(ROOT / "tests" / "tools" / "code_cache"))

    def run(*lines: str, fails: bool = False) -> list[str]:
        script = "set -e\n" + "\n".join(f"{line}\nprintf '\\n=====\\n'" for line in lines)
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False)
        assert bool(done.returncode) == fails, f"{done.stdout}\n{done.stderr}"
        return (done.stdout + done.stderr).split("\n=====\n")

    yield run
    # Whatever failed, the simulator ends.
    if (tmp_path / "rehearsal" / "simulator.pid").exists():
        run(commands()[1], "cd rehearsal", commands()[-1])


@pytest.fixture(scope="module")
def from_archive(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the command that installs this collection in place of a released one."""
    folder = tmp_path_factory.mktemp("archive")
    copy = subprocess.run([ROOT / "tests" / "tools" / "copy_tree.sh", folder / "copy"], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(["ansible-galaxy", "collection", "build", "--output-path", folder], cwd=copy, capture_output=True, check=True)
    (archive,) = folder.glob("maintenance-azure-*.tar.gz")
    return f"ansible-galaxy collection install --offline {archive}"


def test_the_commands_of_the_guide_work_as_they_stand_there(shell: t.Callable[..., list[str]], from_archive: str, tmp_path: pathlib.Path) -> None:
    found = commands()
    assert found[0] == INSTALL
    printed = dict(zip(found[1:], shell(from_archive, *found[1:])[1:]))
    assert "would" in printed["ansible-playbook -i local-rehearsal.yml maintenance.azure.respond --check"].lower()
    assert "web1, web2; no longer listed; recovered (completed)" in printed[f"ansible-playbook -i local-rehearsal.yml {RESPOND}"]
    assert "4 of 4 VMs answered; 1 event." in printed[STATUS]
    assert sorted(path.name for path in (tmp_path / "rehearsal").glob("web*/in-service")) == ["in-service"] * 4
    assert not (tmp_path / "rehearsal" / "simulator.pid").exists()


def test_hosts_that_share_a_folder_are_refused_as_the_guide_says(shell: t.Callable[..., list[str]], from_archive: str, tmp_path: pathlib.Path) -> None:
    found = commands()
    start = next(place for place, one in enumerate(found) if "--background" in one)
    (refusal,) = re.findall(r"web1, web2, web3, web4 share .*", GUIDE)
    shared = tmp_path / "rehearsal" / "shared"
    shell(from_archive, *found[1 : start + 1], f"mkdir {shared}", next(one for one in found if one.startswith("curl")))
    printed = "".join(shell("cd rehearsal", f"{STATUS} -e respond_records_path={shared}", fails=True))
    assert refusal.replace("/var/lib/azure-maintenance", str(shared)) in printed
    # Under other names the folder is found by what the hosts see in it, once they have leases and before anything is drained.
    links = " && ".join(f"ln -s {shared} web{number}/records" for number in range(1, 5))
    printed = "".join(shell(f"cd rehearsal && {links}", f"ansible-playbook -i local-rehearsal.yml {RESPOND}", fails=True))
    assert re.search(r"web1, web2, web3, web4 share one records folder \(.*\): give each host its own respond_records_path", printed)
    assert len(list((tmp_path / "rehearsal").glob("web*/in-service"))) == 4
    assert not list(shared.glob("claim-*"))
