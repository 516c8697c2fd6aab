# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-ins for Windows hosts themselves: through ansible, over their connection. See tests/lab/windows."""

from __future__ import annotations

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import typing as t

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab import warm
from lab.windows_machine import WindowsMachine, stand_in_paths


class Room:
    """A "Windows" machine, and plays of one task against it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.machine = WindowsMachine(folder / "machine")
        (folder / "inventory.json").write_text(json.dumps({"all": {"hosts": {"vm": self.machine.connection()}}}))

    def play(self, tasks: list[dict[str, t.Any]]) -> list[dict[str, t.Any]]:
        """The registered result of each task. All in one run: most of the time is Ansible's start."""
        listed: list[dict[str, t.Any]] = []
        for number, task in enumerate(tasks):
            listed.append({**task, "register": f"answer{number}", "ignore_errors": True, "ignore_unreachable": True})
        names = ", ".join(f"answer{number}" for number in range(len(tasks)))
        keep = {"content": f"{{{{ [{names}] | to_json }}}}", "dest": str(self.folder / "results.json")}
        listed.append({"ansible.builtin.copy": keep, "delegate_to": "localhost", "vars": {"ansible_connection": "local"}})
        (self.folder / "play.yml").write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": listed}]))
        command = ["ansible-playbook", "-i", str(self.folder / "inventory.json"), str(self.folder / "play.yml")]
        environment = {**os.environ, **stand_in_paths(os.environ), "ANSIBLE_HOME": str(self.folder / "ansible"), "ANSIBLE_NOCOLOR": "1"}
        done = subprocess.run(command, env=warm.playbooks(environment), capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return t.cast("list[dict[str, t.Any]]", json.loads((self.folder / "results.json").read_text()))


@pytest.fixture
def room(tmp_path: pathlib.Path) -> Room:
    return Room(tmp_path)


def windows(module: str, **arguments: t.Any) -> dict[str, t.Any]:
    return {f"ansible.windows.{module}": arguments}


def cmd(line: str) -> dict[str, t.Any]:
    return windows("win_command", cmd=f'cmd.exe /d /s /c "{line}"')


def test_files_and_lines(room: Room) -> None:
    folder = "C:\\ProgramData\\it's here"
    ping, made, again, sent, same, stat, typed, gone, missing = room.play(
        [
            windows("win_ping"),
            cmd('mkdir "%ProgramData%\\it\'s here"'),
            cmd('mkdir "%ProgramData%\\it\'s here" 2>nul'),
            windows("win_copy", content="some {{ 'te' ~ 'xt' }}\n", dest=folder + "\\a.txt"),
            windows("win_copy", content="some text\n", dest=folder.upper() + "\\A.TXT"),
            windows("win_stat", path=folder + "/a.txt", get_checksum=False),
            cmd('cd /d "%PROGRAMDATA%\\IT\'S HERE"&&type a.txt'),
            windows("win_file", path=folder, state="absent"),
            windows("win_stat", path=folder),
        ]
    )
    assert ping["ping"] == "pong"
    assert (made["rc"], made["changed"]) == (0, True)
    assert (again["rc"], again["failed"], again["msg"]) == (1, True, "non-zero return code")
    assert sent["changed"] and not same["changed"]
    assert stat["stat"]["exists"] and stat["stat"]["path"] == folder + "\\a.txt" and "checksum" not in stat["stat"]
    assert typed["stdout"] == "some text\n"
    assert gone["changed"]
    assert missing["stat"] == {"exists": False}
    # Nothing is left of what was sent.
    assert list(room.machine.path("Temp").iterdir()) == []


def test_services(room: Room) -> None:
    room.machine.service("W3SVC", display_name="World Wide Web", dependencies=["WAS"])
    room.machine.service("WAS")
    room.machine.service("Broken", state="stopped", cannot=["start"])
    before, refused, forced, web, none, start, broken, absent = room.play(
        [
            windows("win_service_info", name="w3svc"),
            windows("win_service", name="WAS", state="stopped"),
            windows("win_service", name="WAS", state="stopped", force_dependent_services=True),
            windows("win_service_info", name="World Wide Web"),
            windows("win_service_info", name="nothing"),
            windows("win_service", name="W3SVC", state="started"),
            windows("win_service", name="Broken", state="started"),
            windows("win_service", name="nothing", state="started"),
        ]
    )
    assert before["exists"] and before["services"][0]["state"] == "started"
    assert refused["failed"] and "dependent services" in refused["msg"]
    assert forced["changed"] and forced["state"] == "stopped"
    assert web["services"][0]["state"] == "stopped"
    assert (none["exists"], none["services"]) == (False, [])
    assert start["state"] == "running" and room.machine.service_state("WAS") == "started"
    assert broken["failed"]
    assert absent["failed"] and "is not installed" in absent["msg"]


class Web(http.server.BaseHTTPRequestHandler):
    """Answers by the path; says what it was asked."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        seen = {"method": self.command, "metadata": self.headers.get("Metadata"), "body": self.rfile.read(length).decode()}
        content = json.dumps(seen).encode()
        if self.path == "/half":
            self.close_connection = True
        self.send_response(int(self.path.strip("/")) if self.path.strip("/").isdigit() else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content) + (9 if self.path == "/half" else 0)))
        self.send_header("Retry-After", "70")
        self.send_header("Location", "/200")
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, *_arguments: t.Any) -> None:
        pass


@pytest.fixture
def web() -> t.Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_requests(room: Room, web: str) -> None:
    room.machine.set("proxy", "127.0.0.1:9")
    port = int(web.rsplit(":", 1)[1])
    common = {"return_content": True, "use_proxy": False, "follow_redirects": "none", "headers": {"Metadata": "true"}}
    got, posted, not_found, moved, followed, half, nobody, by_proxy, there, closed = room.play(
        [
            windows("win_uri", url=web + "/200", **common),
            windows("win_uri", url=web + "/200", method="POST", body='{"a": 1}', content_type="application/json", **common),
            windows("win_uri", url=web + "/410", **common),
            windows("win_uri", url=web + "/302", **common),
            windows("win_uri", url=web + "/302", **{**common, "follow_redirects": "safe"}),
            windows("win_uri", url=web + "/half", **common),
            windows("win_uri", url="http://127.0.0.1:9/", timeout=2, **common),
            windows("win_uri", url=web + "/200", **{**common, "use_proxy": True}),
            windows("win_wait_for", host="127.0.0.1", port=port, timeout=2),
            windows("win_wait_for", host="127.0.0.1", port=9, timeout=1),
        ]
    )
    assert got["status_code"] == 200 and got["json"] == {"method": "GET", "metadata": "true", "body": ""}
    assert json.loads(posted["content"]) == {"method": "POST", "metadata": "true", "body": '{"a": 1}'}
    assert (not_found["failed"], not_found["status_code"], not_found["retry_after"]) == (True, 410, "70")
    assert json.loads(not_found["content"])["method"] == "GET"
    assert (moved["failed"], moved["status_code"], moved["location"]) == (True, 302, "/200")
    assert followed["status_code"] == 200
    # The status was there, the body was not: a failure with a status and without content.
    assert half["failed"] and half["status_code"] == 200 and "content" not in half
    for fault in (nobody, by_proxy):
        assert fault["failed"] and fault["status_code"] is None
    assert not there.get("failed")
    assert closed["failed"] and closed["elapsed"] >= 1


def test_facts_registry_commands_and_scripts(room: Room) -> None:
    room.machine.set("registry.json", {"HKLM:\\Software\\Azure": {"Endpoint": {"type": "REG_SZ", "value": "http://10.0.0.1"}}})
    room.machine.set("powershell.json", [{"contains": "Get-Nothing", "answer": {"result": {"found": 1}, "changed": False}}])
    room.machine.set("boot.json", {"booted": 1_700_000_000})
    event = ["eventcreate.exe", "/l", "APPLICATION", "/t", "INFORMATION", "/so", "x", "/id", "1", "/d", "two words"]
    facts, value, no_value, no_key, wrote, unknown, script, no_script, shell = room.play(
        [
            windows("setup", gather_subset=["!all", "!min", "date_time", "uptime"]),
            windows("win_reg_stat", path="HKLM:\\SOFTWARE\\Azure", name="endpoint"),
            windows("win_reg_stat", path="HKLM:\\SOFTWARE\\Azure", name="other"),
            windows("win_reg_stat", path="HKLM:\\SOFTWARE\\Other", name="other"),
            windows("win_command", argv=event),
            windows("win_command", argv=["nothing.exe"]),
            windows("win_powershell", script="Get-Nothing -Name $Name", parameters={"Name": "x"}),
            windows("win_powershell", script="Get-Something"),
            {"ansible.windows.win_command": 'cat "$WINDOWS_STAND_IN/boot.json"'},
        ]
    )
    assert set(facts["ansible_facts"]) == {"ansible_date_time", "ansible_lastboot", "ansible_uptime_seconds", "gather_subset", "module_setup"}
    assert isinstance(facts["ansible_facts"]["ansible_date_time"]["epoch"], str)
    assert facts["ansible_facts"]["ansible_lastboot"].startswith("2023-11-")
    assert (value["exists"], value["value"], value["type"]) == (True, "http://10.0.0.1", "REG_SZ")
    assert not no_value["exists"] and not no_key["exists"]
    assert wrote["rc"] == 0 and room.machine.lines("eventlog.jsonl")[0]["d"] == "two words"
    assert unknown["failed"] and unknown["rc"] == 2
    assert script["result"] == {"found": 1} and script["output"] == []
    assert room.machine.calls("win_powershell")[0]["parameters"] == {"Name": "x"}
    assert no_script["failed"] and no_script["msg"].startswith("stand-in")
    assert "booted" in shell["stdout"] and shell["stand_in"] == "run by /bin/sh"


DEFINITION = """<?xml version="1.0"?>
<Task version="1.3" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers><TimeTrigger><StartBoundary>2026-01-01T00:00:00</StartBoundary><Repetition><Interval>PT1M</Interval></Repetition></TimeTrigger></Triggers>
  <Principals><Principal id="P"><UserId>S-1-5-19</UserId></Principal></Principals>
  <Settings><MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy></Settings>
  <Actions Context="P"><Exec><Command>C:\\Windows\\sleeper.exe</Command><Arguments>"60"</Arguments></Exec></Actions>
</Task>
"""
WRONG = {
    "UTF-16": DEFINITION.replace('"1.0"?', '"1.0" encoding="UTF-16"?'),
    "no ASCII": DEFINITION.replace("sleeper", "schl\u00e4fer"),
    "order": DEFINITION.replace("<Triggers>", "<Settings/><Triggers>"),
    "unknown": DEFINITION.replace("MultipleInstancesPolicy", "MultipleInstances"),
    "duration": DEFINITION.replace("PT1M", "60"),
    "privileges of 1.3": DEFINITION.replace('"1.3"', '"1.2"').replace(
        "</UserId>", "</UserId><RequiredPrivileges><Privilege>SeChangeNotifyPrivilege</Privilege></RequiredPrivileges>"
    ),
    "principal": DEFINITION.replace('Context="P"', 'Context="Q"'),
    "nothing to do": DEFINITION.replace("<Command>C:\\Windows\\sleeper.exe</Command>", ""),
    "no XML": DEFINITION.replace("</Task>", ""),
}


def schtasks(*words: str) -> dict[str, t.Any]:
    return windows("win_command", argv=["schtasks.exe", *words])


def test_scheduled_tasks(room: Room) -> None:
    (room.machine.home / "programs").mkdir()
    (room.machine.home / "programs" / "sleeper").write_text('exec sleep "$1"\n')
    for number, content in enumerate([DEFINITION, *WRONG.values()]):
        room.machine.path(f"{number}.xml").write_text(content, encoding="utf-8")
    room.machine.path("Windows").mkdir()
    create = ("/Create", "/TN", "one", "/XML", "C:\\0.xml")
    wrong = [schtasks("/Create", "/TN", "two", "/XML", f"C:\\{number}.xml", "/F") for number in range(1, len(WRONG) + 1)]
    none, made, asks, refused, not_there, _program, ran, again, shown, ended, ended_again, deleted, gone, *others = room.play(
        [
            schtasks("/Query", "/TN", "one", "/XML"),
            schtasks(*create),
            schtasks(*create),
            schtasks("/Create", "/TN", "one", "/SC", "MINUTE"),
            schtasks("/run", "/tn", "one"),
            windows("win_copy", content="", dest="C:\\Windows\\sleeper.exe"),
            schtasks("/Run", "/TN", "one"),
            schtasks("/Run", "/TN", "one"),
            schtasks("/Query", "/TN", "one", "/XML", "ONE"),
            schtasks("/End", "/TN", "one"),
            schtasks("/End", "/TN", "one"),
            schtasks("/Delete", "/TN", "one", "/F"),
            schtasks("/Run", "/TN", "one"),
            *wrong,
        ]
    )
    assert [answer.get("rc") for answer in (none, made, not_there, ran, again, shown, ended, ended_again, deleted, gone)] == [1, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert "asks a person" in asks["msg"] and "stand-in" in refused["msg"]
    assert shown["stdout"].startswith('<?xml version="1.0" encoding="UTF-16"?>') and "<Command>C:\\Windows\\sleeper.exe</Command>" in shown["stdout"]
    assert {name: answer["rc"] for name, answer in zip(WRONG, others)} == dict.fromkeys(WRONG, 1)
    assert all("malformed" in answer["stderr"] for answer in others) and len(others) == len(WRONG)


def test_loops_over_a_pattern_and_folders_that_are_not_empty(room: Room) -> None:
    for name in ("a.json", "a.jsonx", "b.json", "c.txt"):
        room.machine.path("ProgramData").mkdir(exist_ok=True)
        (room.machine.path("ProgramData") / name).write_text("x")
    found, none, plain, full = room.play(
        [
            cmd('cd /d "C:\\ProgramData"&(for %f in (a.jso?) do @echo %f)'),
            cmd('cd /d "C:\\ProgramData"&(for %f in (d.*) do @echo %f)'),
            cmd("for %f in (a.json) do @echo %f"),
            cmd('rmdir "C:\\ProgramData"'),
        ]
    )
    assert (found["stdout"], none["stdout"]) == ("a.json\r\n", "")
    assert "stand-in" in plain["msg"] and full["rc"] == 145


def test_what_is_not_played_says_so(room: Room) -> None:
    posix, pipe, option = room.play(
        [windows("win_stat", path="/etc/passwd"), cmd("dir|more"), windows("win_service", name="x", failure_command="y")],
    )
    assert "stand-in" in posix["msg"] and "stand-in" in pipe["msg"]
    assert "Unsupported parameters" in option["msg"]


def test_broken_sessions(room: Room) -> None:
    machine = room.machine
    machine.fault("win_ping", skip=1)
    machine.fault("win_file", when="after")
    machine.fault("put_file", error="requests")
    path = "C:\\Temp\\made"
    first, second, third, lost, made, sent = room.play(
        [
            windows("win_ping"),
            windows("win_ping"),
            windows("win_ping"),
            windows("win_file", path=path, state="directory"),
            windows("win_stat", path=path),
            windows("win_copy", content="x", dest="C:\\Temp\\x"),
        ]
    )
    assert first["ping"] == third["ping"] == "pong"
    assert second["unreachable"] and "ping" not in second
    # It was carried out, and its answer was lost.
    assert lost["unreachable"] and made["stat"]["isdir"]
    assert sent["failed"] and not sent.get("unreachable")
    assert not (machine.home / "C" / "Temp" / "x").exists()
    assert machine.get("faults.json") == []


def test_a_boot_ends_what_runs_there(room: Room) -> None:
    machine = room.machine
    machine.service("Manual", start_mode="manual")
    machine.service("Auto", state="stopped")
    started = threading.Event()

    def boot() -> None:
        while not machine.calls("win_wait_for"):
            started.wait(0.05)
        machine.reboot()

    thread = threading.Thread(target=boot)
    thread.start()
    waiting, after, facts = room.play(
        [windows("win_wait_for", timeout=36000, host="127.0.0.1", port=9), windows("win_ping"), windows("setup", gather_subset=["!all", "!min", "uptime"])]
    )
    thread.join()
    assert waiting["unreachable"] and "went down" in waiting["msg"]
    assert after["ping"] == "pong"
    assert facts["ansible_facts"]["ansible_uptime_seconds"] < 60
    assert (machine.service_state("Manual"), machine.service_state("Auto")) == ("stopped", "started")


def test_a_machine_that_is_off(room: Room) -> None:
    room.machine.go_down()
    (off,) = room.play([windows("win_ping")])
    assert off["unreachable"]
    room.machine.come_up()
    (on,) = room.play([windows("win_ping")])
    assert on["ping"] == "pong"


ACTION = '''
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """One connection for several modules, as an action that waits has it."""

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        result["seen"] = [self.ask(task_vars) for _time in range(2)]
        result["boot"] = open(self._task.args["reboot"], "w").write('{"booted": 5}')
        result["seen"].append(self.ask(task_vars))
        result["seen"].append(self.ask(task_vars))
        self._connection.reset()
        result["seen"].append(self.ask(task_vars))
        return result

    def ask(self, task_vars):
        try:
            return self._execute_module(module_name="ansible.windows.win_ping", module_args={}, task_vars=task_vars)["ping"]
        except AnsibleConnectionFailure as error:
            return str(error)
'''


def test_a_session_does_not_outlive_a_boot(room: Room) -> None:
    """It is gone until somebody resets the connection."""
    for folder in ("action_plugins", "library"):
        (room.folder / folder).mkdir()
    (room.folder / "action_plugins" / "ask.py").write_text(ACTION)
    (room.folder / "library" / "ask.py").write_text("")
    (answer,) = room.play([{"ask": {"reboot": str(room.machine.home / "boot.json")}}])
    first, second, third, fourth, fifth = answer["seen"]
    assert (first, second, fifth) == ("pong", "pong", "pong")
    assert "has booted" in third and "has booted" in fourth
