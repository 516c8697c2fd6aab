# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A test of drain files of your own: run them before an event does. See README.md beside it."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys
import typing as t

import pytest

# From here to the next line of dashes it is about your files. These three are those of docs/start.md.
FILES = pathlib.Path(__file__).resolve().parent.parent / "start"


def variables(folder: pathlib.Path) -> dict[str, t.Any]:
    """What the inventory says of the VM. The folder is an empty one of this test, with a copy of FILES in it."""
    return {
        "database_switch": str(folder / "database-switch"),
        "drain_methods": [
            {
                "method": "tasks",
                "begin": str(folder / "database_leave.yml"),
                "check": str(folder / "database_left.yml"),
                "undo": str(folder / "database_rejoin.yml"),
            }
        ],
    }


def is_in_service(folder: pathlib.Path) -> bool:
    """Whether users would reach the service. Ask the service itself, or the balancer, not what your drain files ask."""
    return not (folder / "vm1.idle").exists()


def start_by_hand(folder: pathlib.Path) -> None:
    """What a person, or a boot, does behind the back of the drain."""
    (folder / "vm1.idle").unlink()


# How the VM is reached: this computer. With your own connection variables it is a VM; never one that users need.
CONNECTION: dict[str, t.Any] = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, "ansible_become": False}
LONGEST_DRAIN = 30  # times that a drain is asked for
# --------------------------------------------------------------------------------------------------------------------

EVENT = {"event_id": "REHEARSAL-1", "event_type": "Reboot", "event_status": "Scheduled", "resources": ["vm1"], "description": "A rehearsal"}


class Vm:
    """One VM with its drain files, and the roles drain and recover for it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.record: t.Any = {}
        shutil.copytree(FILES, folder, dirs_exist_ok=True)
        hosts = {"vm1": {**CONNECTION, **variables(folder)}}
        (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}))

    def play(self, tasks: list[dict[str, t.Any]]) -> None:
        (self.folder / "play.json").write_text(json.dumps([{"name": "Rehearse", "hosts": "vm1", "gather_facts": False, "tasks": tasks}]))
        command = ["ansible-playbook", "-i", "hosts.json", "play.json"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def _role(self, name: str, **given: t.Any) -> dict[str, t.Any]:
        result = self.folder / f"{name}.json"
        role = {"name": f"The role {name}", "ansible.builtin.include_role": {"name": f"maintenance.azure.{name}"}, "vars": given}
        content = {"content": f"{{{{ {name}_result | to_json }}}}", "dest": str(result), "mode": "0600"}
        self.play([role, {"name": "Keep its result", "ansible.builtin.copy": content, "delegate_to": "localhost", "vars": CONNECTION}])
        return dict(json.loads(result.read_text()))

    def drain(self, verify: bool = False, most: int = LONGEST_DRAIN) -> str:
        """Drain until it is drained, as respond does; return the last state."""
        for _number in range(most):
            found = self._role("drain", drain_event=EVENT, drain_record=self.record, drain_records_path=str(self.folder / "records"), drain_verify=verify)
            self.record = found["record"]
            if found["state"] != "draining":
                break
        assert found["state"] != "failed" or verify, found["error"]
        return str(found["state"])

    def recover(self) -> None:
        found = self._role("recover", recover_record=self.record, recover_records_path=str(self.folder / "records"))
        assert found["state"] == "undone", found["error"]


@pytest.fixture(name="vm")
def _vm(tmp_path: pathlib.Path) -> Vm:
    return Vm(tmp_path)


def test_out_of_service_and_back(vm: Vm) -> None:
    assert is_in_service(vm.folder), "it must be in service when the test begins"
    assert vm.drain() == "drained"
    assert not is_in_service(vm.folder), "drained, your files say, and it is in service"
    vm.recover()
    assert is_in_service(vm.folder), "undone, your files say, and it is out of service"


def test_the_check_notices_a_service_that_was_started_again(vm: Vm) -> None:
    """Right before the approval each method is asked again, so that nothing is approved that serves."""
    assert vm.drain() == "drained"
    start_by_hand(vm.folder)
    assert vm.drain(verify=True, most=1) != "drained" or not is_in_service(vm.folder), "in service, and your check says drained"


def test_each_file_may_run_again(vm: Vm) -> None:
    """A run may be killed after a task and before its record is written. The next one then runs the file again."""
    methods = [method for method in variables(vm.folder)["drain_methods"] if method["method"] == "tasks"]
    files = [method[stage] for method in methods for stage in ("begin", "check", "undo") if stage in method]
    vm.play([{"name": "Run it again", "ansible.builtin.include_tasks": file} for file in files for _again in range(2)])
    assert is_in_service(vm.folder)
