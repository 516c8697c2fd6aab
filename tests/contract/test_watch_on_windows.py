# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Role watch on a Windows VM, over the stand-ins of tests/lab/windows: true plays, scheduled tasks that are processes, a simulated endpoint."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import typing as t
from xml.etree import ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from lab import warm  # noqa: E402  the folder of tests is no package
from lab.simulator import Simulator  # noqa: E402  the folder of tests is no package
from lab.windows_machine import STAND_INS, WindowsMachine, stand_in_paths  # noqa: E402

from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.rights import ASK
from ansible_collections.maintenance.azure.tests.contract.refusals import changed_and_failed, refusals

PYTHON = "C:\\Program Files\\Python313\\python.exe"
SECRET = "one-secret-of-this-vm"
ASKER, SEEN = "azure-maintenance-ask", "azure-maintenance-seen"
TASK = re.compile(r"^TASK \[maintenance\.azure\.watch : (.*?)\] \*|^(changed): \[vm\]", re.MULTILINE)
USERS = "O:BAG:SYD:AI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;0x1301bf;;;AU)"


class Vm:
    """A "Windows" VM, and plays against it."""

    def __init__(self, folder: pathlib.Path, endpoint: str) -> None:
        self.folder, self.machine = folder, WindowsMachine(folder / "machine")
        (folder / "inventory.json").write_text(json.dumps({"all": {"hosts": {"vm": self.machine.connection()}}}))
        python = self.machine.path("Program Files/Python313")
        python.mkdir(parents=True)
        stand_in = STAND_INS / "programs" / "python.py"
        (python / "python.exe").write_text(f"#!/bin/sh\nexec '{sys.executable}' '{stand_in}' '{PYTHON}' \"$@\"\n")
        (python / "python.exe").chmod(0o700)
        programs = self.machine.home / "programs"
        programs.mkdir()
        (programs / "python").symlink_to(python / "python.exe")
        self.settings: dict[str, t.Any] = {"watch_python": PYTHON, "watch_endpoint": endpoint, "watch_wait": 20}

    @property
    def data(self) -> pathlib.Path:
        return self.machine.path("ProgramData/azure-maintenance-watch")

    @property
    def program(self) -> pathlib.Path:
        return self.machine.path("Program Files/azure-maintenance-watch")

    def tasks(self) -> dict[str, t.Any]:
        path = self.machine.home / "tasks.json"
        return t.cast("dict[str, t.Any]", json.loads(path.read_text())) if path.exists() else {}

    def grants(self) -> dict[str, str]:
        """What LOCAL SERVICE may do in each folder that was made. Administrators and the system may do everything, and no other user anything."""
        found = {}
        for call in self.machine.calls("win_command"):
            if "icacls" in (call.get("cmd") or ""):
                made = re.search(r'mkdir "(.*?)"&&\(icacls "(.*?)" /inheritance:r /grant:r (.*?) >nul', call["cmd"])
                assert made is not None and made[1] == made[2], call["cmd"]
                *all_rights, its_own = made[3].split('" "')
                assert all_rights == ['"*S-1-5-32-544:(OI)(CI)F', "*S-1-5-18:(OI)(CI)F"] and its_own.startswith("*S-1-5-19:(OI)(CI)")
                name = "program" if "Program Files" in made[1] else made[1].rpartition("\\")[2]
                found[name] = its_own.rpartition(")")[2].rstrip('"')
        return found

    def orders(self) -> list[str]:
        """What schtasks was asked to change or to start."""
        calls = [call["argv"] for call in self.machine.calls("win_command") if (call.get("argv") or [""])[0] == "schtasks.exe"]
        return [" ".join(words[1:4:2]) for words in calls if words[1] != "/Query"]

    def everything(self) -> dict[str, t.Any]:
        """Every file on drive C: but what the watcher itself and Ansible write, and the tasks."""
        drive = self.machine.home / "C"
        kept = [path for path in drive.rglob("*") if path.is_file() and not {"runtime", "state", "seen", "Temp"} & set(path.parts)]
        return {str(path.relative_to(drive)): path.read_bytes() for path in kept} | {name: task["xml"] for name, task in self.tasks().items()}

    def play(self, *arguments: str, **settings: t.Any) -> subprocess.CompletedProcess[str]:
        (self.folder / "settings.json").write_text(json.dumps({**self.settings, **settings}))
        command = ["ansible-playbook", "-i", str(self.folder / "inventory.json"), "-vvv", "--diff", "-e", f"@{self.folder}/settings.json"]
        self.done = subprocess.run(
            [*command, *arguments, "maintenance.azure.watch"], env=warm.playbooks(self.environment), capture_output=True, text=True, timeout=280, check=False
        )
        # All of it, at the highest verbosity that is usual.
        assert SECRET not in self.done.stdout + self.done.stderr
        return self.done

    def ask(self, module: str, **arguments: t.Any) -> str:
        """One task, and what Ansible prints of it."""
        command = ["ansible", "vm", "-i", str(self.folder / "inventory.json"), "-m", module, "-a", json.dumps(arguments)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=True).stdout

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **stand_in_paths(os.environ), "ANSIBLE_HOME": str(self.folder / "ansible"), "ANSIBLE_NOCOLOR": "1"}

    def changed(self, *arguments: str, **settings: t.Any) -> list[str]:
        """Play, and return the tasks that changed something."""
        done = self.play(*arguments, **settings)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        found, task = [], ""
        for name, changed in TASK.findall(done.stdout):
            task = name or task
            if changed and task not in found:
                found.append(task)
        return found

    def end(self) -> None:
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(self.machine.home).encode() in (path.parent / "environ").read_bytes() and b"python.py" in path.read_bytes():
                    os.kill(int(path.parent.name), signal.SIGKILL)
            except OSError:
                continue  # it has ended


@pytest.fixture(scope="module")
def simulator() -> t.Iterator[Simulator]:
    simulator = Simulator(["vm"], 1)
    yield simulator
    simulator.close()


@pytest.fixture
def vm(tmp_path: pathlib.Path, simulator: Simulator) -> t.Iterator[Vm]:
    vm = Vm(tmp_path, simulator.endpoints["vm"])
    yield vm
    vm.end()


def definition(xml: str) -> dict[str, str]:
    """The last text of each element, by its name."""
    return {element.tag.rpartition("}")[2]: element.text or "" for element in ElementTree.fromstring(xml).iter()}


def until(condition: t.Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


WEBHOOK = {"watch_tell_url": "http://127.0.0.1:9/", "watch_tell_credential": "bearer", "watch_tell_secret": SECRET}
CERTIFICATE = {
    "watch_tell_url": "https://127.0.0.1:9/",
    "watch_tell_client_certificate": "C:\\vm.pem",
    "watch_tell_client_key": "C:\\vm.key",
}
FOLDER = {"watch_tell_folder": "C:\\ProgramData\\news"}
FILES = ["Copy the archive to the VM", "Write the settings", "Write the credential", "Write the definitions of the tasks"]
MAKE_TASKS = "Make the tasks that are missing, different or disabled"
START = ["End the one that runs", "Start it"]


def test_it_comes_and_stays(vm: Vm, simulator: Simulator) -> None:
    # Nothing is there yet: check mode says what would be made, and makes nothing.
    before = vm.everything()
    assert vm.changed("--check", **WEBHOOK) == ["Say in check mode which would be made", *FILES]
    assert vm.everything() == before and vm.tasks() == {} and vm.orders() == []
    assert vm.changed(**WEBHOOK) == ["Make those that are missing, with their rights", *FILES, MAKE_TASKS, *START]
    assert set(vm.tasks()) == {ASKER, SEEN} and sorted(path.name for path in vm.program.iterdir()) == ["ask.xml", "seen.xml", "watch.pyz"]
    assert json.loads((vm.data / "runtime" / "state.json").read_text())["answers"] >= 1
    settings = json.loads((vm.data / "watch.json").read_text())
    assert (settings["system"], settings["records_path"], settings["drain_types"]) == ("windows", "C:\\ProgramData\\azure-maintenance", [])
    assert vm.grants() == {"program": "RX", "azure-maintenance-watch": "RX", "seen": "RX", "runtime": "M", "state": "M"}
    asker, seen = (definition(vm.tasks()[name]["xml"]) for name in (ASKER, SEEN))
    assert (asker["UserId"], asker["ExecutionTimeLimit"], seen["UserId"], seen["ExecutionTimeLimit"]) == ("S-1-5-19", "PT0S", "S-1-5-18", "PT5M")
    assert "<BootTrigger>" in vm.tasks()[ASKER]["xml"] and "<BootTrigger>" not in vm.tasks()[SEEN]["xml"]
    for task, word in ((asker, "ask"), (seen, "seen")):
        # Each minute where it does not run, with the one privilege that every process has, and not ended for a battery's sake.
        assert (task["MultipleInstancesPolicy"], task["Privilege"], task["RunLevel"]) == ("IgnoreNew", "SeChangeNotifyPrivilege", "LeastPrivilege")
        assert (task["StopIfGoingOnBatteries"], task["DisallowStartIfOnBatteries"], task["Command"]) == ("false", "false", PYTHON)
        archive, path = "C:\\Program Files\\azure-maintenance-watch\\watch.pyz", "C:\\ProgramData\\azure-maintenance-watch\\watch.json"
        assert task["Arguments"] == f'-I "{archive}" {word} "{path}"'
    # Again, in check mode and without: nothing.
    after, process, orders = vm.everything(), vm.tasks()[ASKER]["process"], vm.orders()
    assert (vm.changed("--check", **WEBHOOK), vm.changed(**WEBHOOK)) == ([], [])
    assert (vm.everything(), vm.tasks()[ASKER]["process"], vm.orders()) == (after, process, orders)
    # It tells, and the credential is in its file and nowhere else.
    assert (vm.data / "credential").read_text() == SECRET + "\n"
    simulator.event("Reboot", ["vm"])
    until(lambda: (vm.data / "runtime" / "tell.log").exists() and "was not delivered" in (vm.data / "runtime" / "tell.log").read_text())
    holders = [path for path in vm.machine.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert holders == [vm.data / "credential"]
    assert {path.name for path in vm.folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()} == {"credential", "settings.json"}
    # An observation shows its heartbeat as soon as there are records, and the other task publishes them for the teller.
    observed = [vm.ask("maintenance.azure.maintenance_info", endpoint=vm.settings["watch_endpoint"]) for _time in range(2)]
    age = re.search(r'"age_seconds": ([0-9.]+),', observed[1].split('"watcher": {')[1])
    assert age is not None and float(age[1]) < 35 and '"messages_waiting": 1' in observed[1]
    vm.ask("ansible.windows.win_command", argv=["schtasks.exe", "/Run", "/TN", SEEN])
    until((vm.data / "seen" / "seen.json").exists)
    assert json.loads((vm.data / "seen" / "seen.json").read_text()) == {} and not (vm.data / "seen" / "seen.log").exists()
    disabled_ones_are_enabled_again(vm)


def disabled_ones_are_enabled_again(vm: Vm) -> None:
    """One task as a whole, and a trigger of the other."""
    as_made = {name: about["xml"] for name, about in vm.tasks().items()}
    tasks = vm.tasks()
    for name, before in ((ASKER, "</AllowStartOnDemand>\n    "), (SEEN, "<TimeTrigger>\n      ")):
        assert tasks[name]["xml"].count(f"{before}<Enabled>true<") == 1
        tasks[name]["xml"] = tasks[name]["xml"].replace(f"{before}<Enabled>true<", f"{before}<Enabled>false<")
    vm.machine.set("tasks.json", tasks)
    assert vm.changed("--check", **WEBHOOK) == ["Say in check mode which would be made"]
    assert vm.changed(**WEBHOOK) == [MAKE_TASKS, *START]
    assert {name: about["xml"] for name, about in vm.tasks().items()} == as_made


def test_it_changes_and_goes(vm: Vm, simulator: Simulator) -> None:
    before = vm.everything()
    vm.changed(**{**WEBHOOK, "watch_tell_credential": "hmac"})
    process = vm.tasks()[ASKER]["process"]
    # A folder instead of the webhook: the asker starts anew, and what is not needed any more goes.
    made = ["Write the settings", "Remove a credential that is not used"]
    removed = ["End what it runs", "Delete it", "Remove its definition"]
    say = "Say in check mode which would be made"
    assert vm.changed("--check", **FOLDER) == [say, *made, "Say in check mode that it would be deleted", "Remove its definition"]
    assert set(vm.tasks()) == {ASKER, SEEN} and vm.tasks()[ASKER]["process"] == process
    assert vm.changed(**FOLDER) == [
        "Make those that are missing, with their rights",
        "Note that the role made the folder for other tools",
        *made,
        *removed,
        *START,
    ]
    assert set(vm.tasks()) == {ASKER} and vm.tasks()[ASKER]["process"] != process and not (vm.data / "credential").exists()
    simulator.event("Reboot", ["vm"])
    until(lambda: list(vm.machine.path("ProgramData/news").iterdir()))
    # Killed, and its task as another version of the role made it: the next run mends both.
    os.kill(vm.tasks()[ASKER]["process"], signal.SIGKILL)
    tasks = vm.tasks()
    tasks[ASKER]["xml"] = re.sub("<Version>.*</Version>", "<Version>1</Version>", tasks[ASKER]["xml"]).replace("S-1-5-19", "S-1-5-18")
    vm.machine.set("tasks.json", tasks)
    assert vm.changed("--check", **FOLDER) == [say]
    assert vm.changed(**FOLDER) == [MAKE_TASKS, *START]
    assert "S-1-5-19" in vm.tasks()[ASKER]["xml"]
    # Without a trace; the messages that another tool has not fetched stay.
    gone = ["Remove its definition", "Remove the program, the settings and the messages"]
    assert vm.changed("--check", watch_state="absent", **FOLDER) == ["Say in check mode that it would be deleted", *gone] and set(vm.tasks()) == {ASKER}
    assert vm.changed(watch_state="absent", **FOLDER) == ["End what it runs", "Delete it", *gone]
    assert vm.tasks() == {} and not vm.data.exists() and not vm.program.exists() and list(vm.machine.path("ProgramData/news").iterdir())
    shutil.rmtree(vm.machine.path("ProgramData/news"))
    vm.machine.path("ProgramData/news").mkdir()
    assert vm.changed(watch_state="absent", **FOLDER) == []
    assert vm.everything() == before


def test_an_empty_folder_for_other_tools_goes_if_the_role_made_it(vm: Vm) -> None:
    news, gone = vm.machine.path("ProgramData/news"), ["End what it runs", "Delete it", "Remove its definition"]
    # No event of another test names this VM, so that no message comes.
    quiet = {**FOLDER, "watch_vm_name": "another"}
    news.mkdir(parents=True)
    vm.changed(**quiet)
    rest = "Remove the program, the settings and the messages"
    assert vm.changed(watch_state="absent", **quiet) == [*gone, rest] and news.is_dir()
    news.rmdir()
    vm.changed(**quiet)
    say = ["Say in check mode that it would be deleted", "Remove its definition", "Say in check mode that it would be removed", rest]
    assert vm.changed("--check", watch_state="absent", **quiet) == say and news.is_dir()
    assert vm.changed(watch_state="absent", **quiet) == [*gone, "Remove it then", rest] and not news.exists()
    assert vm.changed(watch_state="absent", **quiet) == []


# --- What is refused before anything is written: all in one run, each on a VM of its own --------------------------------------------


class Case(t.NamedTuple):
    words: str
    settings: dict[str, t.Any] = {}
    prepare: t.Callable[[Vm], object] = lambda _vm: None


def old_python(vm: Vm) -> None:
    (vm.machine.home / "programs" / "python").unlink()
    (vm.machine.home / "programs" / "python").write_text("echo 'Python 3.8 or newer is needed' >&2; exit 1\n")


def python_that_others_may_write(vm: Vm) -> None:
    (vm.machine.home / "programs" / "python").unlink()
    (vm.machine.home / "programs" / "python").write_text('touch "$WINDOWS_STAND_IN/was-run"; exit 1\n')
    (vm.machine.home / "rights.txt").write_text(USERS)


def folder_of_another(vm: Vm) -> None:
    vm.data.mkdir(parents=True)
    owned = {"C:\\ProgramData\\azure-maintenance-watch": "O:S-1-5-21-1-2-3-1002G:SYD:PAI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)"}
    vm.machine.set("rights.json", owned)


def python_below_an_open_folder(vm: Vm) -> None:
    vm.machine.set("rights.json", {"C:\\Program Files": USERS})


def virtual_environment(vm: Vm) -> None:
    """Python takes its library from where a file pyvenv.cfg one folder above says."""
    vm.machine.path("Program Files/pyvenv.cfg").write_text("home = C:\\Users\\one\\Python\n")


WRONG: list[tuple[dict[str, t.Any], str]] = [
    ({"watch_python": "python3"}, "it must be the whole path of a Python 3.8 or newer"),
    ({"watch_python": "C:\\Python\\none.exe"}, "HOST has no C:\\\\Python\\\\none.exe. Next: install Python 3.8"),
    ({"watch_tell_folder": "/var/news"}, "watch_tell_folder is /var/news. On a Windows VM it must be a whole path"),
    ({"watch_tell_credential": "bearer", "watch_tell_secret": "x"}, "needs watch_tell_secret and watch_tell_url"),
    ({"watch_figures_folder": "/figures"}, "watch_figures_folder is '/figures'; it must be empty"),
    ({"watch_interval": 0.1}, "watch_interval is 0.1"),
    ({"watch_tell_secret": "x"}, "watch_tell_secret is given, and watch_tell_credential is none"),
    ({**CERTIFICATE, "watch_tell_client_key": "/etc/vm.key"}, "watch_tell_client_key is /etc/vm.key. On a Windows VM it must be a whole path"),
    (CERTIFICATE, "watch_tell_client_key is C:\\\\vm.key, and HOST has no such file. Next: put it there"),
    ({"watch_tell_folder": "C:\\vm.pem"}, "watch_tell_folder is C:\\\\vm.pem, and that is no folder on HOST"),
    ({"watch_stat": "absent"}, "The variable watch_stat is no option of maintenance.azure. Did you mean watch_state?"),
    ({"watch_pyhton": PYTHON, "watch_python": "python3"}, "it must be the whole path of a Python 3.8 or newer"),
]
CASES = [
    *(Case(words, settings) for settings, words in WRONG),
    Case("may be written by AU, who could change what the watcher runs. Next: install Python for all users", prepare=python_that_others_may_write),
    Case("Python 3.8 or newer is needed", prepare=old_python),
    Case("belongs to S-1-5-21-1-2-3-1002", prepare=folder_of_another),
    Case("C:\\\\Program Files may be written by AU", prepare=python_below_an_open_folder),
    Case("is in a virtual environment", prepare=virtual_environment),
]


class Refused(t.NamedTuple):
    printed: str
    vms: list[Vm]
    before: list[dict[str, t.Any]]


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory, simulator: Simulator) -> Refused:
    vms = [Vm(tmp_path_factory.mktemp("vm"), simulator.endpoints["vm"]) for _case in CASES]
    first, hosts = vms[0], {}
    for number, (case, vm) in enumerate(zip(CASES, vms)):
        vm.machine.path("vm.pem").write_text("a certificate")
        case.prepare(vm)
        hosts[f"vm{number}"] = {**vm.machine.connection(), **vm.settings, **case.settings}
    (first.folder / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    first.settings = {}
    before = [vm.everything() for vm in vms]
    done = first.play()
    assert done.returncode == 2, done.stdout[-4000:]
    return Refused(done.stdout + done.stderr, vms, before)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case.settings}-{case.words}" for case in CASES])
def test_what_cannot_be_is_refused_before_anything_is_written(refused: Refused, number: int) -> None:
    host, vm = f"vm{number}", refused.vms[number]
    assert CASES[number].words.replace("HOST", host) in refusals(refused.printed)[host]
    # An empty folder may have been made.
    assert changed_and_failed(refused.printed)[host][1] == 1
    assert vm.everything() == refused.before[number] and vm.orders() == []
    assert not (vm.machine.home / "was-run").exists(), "a Python that others may write was run"


def test_a_misspelt_option_is_named(refused: Refused) -> None:
    assert "Did you mean watch_python?" in " ".join(refused.printed.split())


def test_a_new_folder_into_which_another_user_was_quick_to_put_a_file_is_refused(vm: Vm) -> None:
    vm.machine.set("intruders.json", {"C:\\ProgramData\\azure-maintenance-watch": ["credential"]})
    done = vm.play(**WEBHOOK)
    assert done.returncode == 2 and SECRET.encode() not in (vm.data / "credential").read_bytes(), done.stdout[-4000:]
    assert "could change what the watcher runs or read its credential. Next: look" in " ".join(done.stdout.split())
    # Its rights are again those of its parent, so that the next run refuses it, too.
    assert vm.data.stat().st_mode & 0o777 == 0o777


def test_the_lines_are_those_that_the_rights_are_read_by() -> None:
    assert " ".join(ASK.split()) in " ".join((ROOT / "roles/watch/vars/windows.yml").read_text().split())
