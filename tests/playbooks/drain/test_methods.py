# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every method through drain, verification and recovery, all hosts in the same runs."""

from __future__ import annotations

import os
import socket
from datetime import datetime, timedelta, timezone
from pathlib import Path

from fleet import Fleet, Host

FLAG = b"ready \xff\xfe {{ 7 * 7 }}\n\n"
HOSTILE = "{{ lookup('pipe', 'touch pwned') }} {% raw %} $(touch pwned) `touch pwned`; touch pwned\n'\"$HOME"
LITERAL = "{'a': 1}"


def script(path: Path, text: str) -> str:
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def command(host_folder: Path, name: str, check: str = "exit 0") -> dict[str, object]:
    """A command method that logs what was called; its check is a piece of shell."""
    log = host_folder / "log"
    calls = {act: f"echo {name}-{act} >> {log}\n" for act in ("begin", "check", "undo")}
    return {
        "method": "command",
        "begin": script(host_folder / f"{name}-begin", calls["begin"]),
        "check": [script(host_folder / f"{name}-check", calls["check"] + check)],
        "undo": script(host_folder / f"{name}-undo", calls["undo"]),
    }


def log_of(host: Host) -> list[str]:
    return host.path("log").read_text().split()


def test_probe_file(fleet: Fleet) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _address = server.accept()
        port = server.getsockname()[1]
        flag = {"method": "probe_file", "interval": 0, "threshold": 1}
        inside = fleet.add("inside", [])
        inside.variables["drain_methods"] = [{**flag, "path": str(inside.path("ready $HOME")), "present_means": "in", "ports": [port]}]
        inside.path("ready $HOME").write_bytes(FLAG)
        inside.path("ready $HOME").chmod(0o640)
        outside = fleet.add("outside", [])
        outside.variables["drain_methods"] = [{**flag, "path": str(outside.path("out")), "present_means": "out", "interval": 90, "mode": "0604"}]
        # Three flags on one VM: one that says out already, a symbolic link, and one that is not there.
        several = fleet.add("several", [])
        several.variables["drain_methods"] = [
            {**flag, "path": str(several.path("already")), "present_means": "out"},
            {**flag, "path": str(several.path("link"))},
            {**flag, "path": str(several.path("missing"))},
        ]
        several.path("already").write_text("by a person")
        several.path("link").symlink_to("nowhere")
        folder = fleet.add("folder", [{**flag, "path": "/"}])
        large = fleet.add("large", [])
        large.variables["drain_methods"] = [{**flag, "path": str(large.path("ready"))}]
        large.path("ready").write_bytes(b"x" * 70000)

        fleet.drain()
        assert inside.state == "draining" and "1 connection(s)" in inside.result["error"], inside.result
        assert not inside.path("ready $HOME").exists()
        assert outside.state == "draining" and "s to wait" in outside.result["error"], outside.result
        assert outside.path("out").stat().st_mode & 0o777 == 0o604
        assert several.state == "drained" and not os.path.lexists(several.path("link")), several.result
        assert folder.state == "failed" and "is not a file" in folder.result["error"], folder.result
        assert large.state == "failed" and "65536" in large.result["error"] and large.path("ready").exists(), large.result
        accepted.close()
        client.close()

    # Somebody puts the flag back; and a reboot, which empties /run, takes one away.
    several.path("link").write_text("back again")
    outside.path("out").unlink()
    outside.variables["test_boot_id"] = "boot-2"
    fleet.drain("inside", "outside", "several", verify=True)
    assert inside.state == "drained" and inside.record["phase"] == "drained" and inside.record["verified_at"], inside.result
    assert several.state == "drained" and not os.path.lexists(several.path("link"))
    assert outside.state == "draining" and outside.path("out").exists()
    assert outside.method(0)["before"]["kind"] == "absent"

    fleet.recover("inside", "outside", "several")
    assert [host.state for host in (inside, outside, several)] == ["undone"] * 3
    assert inside.path("ready $HOME").read_bytes() == FLAG and inside.path("ready $HOME").stat().st_mode & 0o777 == 0o640
    assert not outside.path("out").exists()
    assert several.path("already").read_text() == "by a person"
    assert os.readlink(several.path("link")) == "nowhere"
    assert not several.path("missing").exists()
    assert inside.record["phase"] == "recovering" and inside.record["undone"] is True
    assert not list(inside.folder.glob("*.maintenance.*"))


def test_command_tasks_none_and_a_method_of_ones_own(fleet: Fleet, tmp_path: Path) -> None:
    nothing = fleet.add("nothing", [{"method": "none"}])

    ordered = fleet.add("ordered", [])
    gate = f"test -e {ordered.path('gate')} || {{ echo two busy; exit 75; }}"
    ordered.variables["drain_methods"] = [command(ordered.folder, "one"), command(ordered.folder, "two", gate), command(ordered.folder, "three")]

    hostile = fleet.add("hostile", [])
    hostile.event.update(description=HOSTILE, resources=["web1", "{{ 1 }}"], event_type="$(touch pwned)")
    hostile.variables["drain_methods"] = [
        {
            "method": "command",
            # No $NAME in a word may be replaced before the shell sees it: its text would become part of the command.
            "begin": ["sh", "-c", f'printf %s "$MAINTENANCE_EVENT_DESCRIPTION" > {hostile.path("said")}; env > {hostile.path("env")}'],
            "check": "true",
            "undo": "true",
        }
    ]
    literal = fleet.add("literal", [])
    literal.event.update(description=LITERAL, event_type="True", event_status="[1]", resources=["007"])
    literal.variables["drain_methods"] = [{"method": "command", "begin": f"sh -c 'env > {literal.path('env')}'", "check": "true", "undo": "true"}]

    files = {act: tmp_path / f"{act}.yml" for act in ("begin", "check", "undo")}
    files["begin"].write_text("- ansible.builtin.file: {path: '{{ test_folder }}/busy', state: touch, mode: '0600'}\n")
    files["check"].write_text(
        "- ansible.builtin.stat: {path: '{{ test_folder }}/idle'}\n  register: __idle\n"
        "- ansible.builtin.set_fact: {drain_tasks_state: \"{{ 'drained' if __idle.stat.exists else 'draining' }}\"}\n"
    )
    files["undo"].write_text(
        "- ansible.builtin.file: {path: '{{ test_folder }}/busy', state: absent}\n- ansible.builtin.set_fact: {drain_tasks_state: undone}\n"
    )
    # One path as it is, one relative to the inventory.
    tasks = fleet.add("tasks", [{"method": "tasks", **{act: str(file) for act, file in files.items()}, "check": "check.yml"}])
    silent = fleet.add("silent", [{"method": "tasks", **{act: str(files["begin"]) for act in files}}])

    own = tmp_path / "methods" / "flagged"
    own.mkdir(parents=True)
    (own / "options.yml").write_text("size: {type: whole, default: 3, description: a whole number}\n")
    (own / "find.yml").write_text("- ansible.builtin.set_fact: {method_answer: {finding: {was: '{{ method_state }}'}}}\n")
    (own / "begin.yml").write_text(
        "- ansible.builtin.copy: {dest: '{{ test_folder }}/own', content: '{{ method_options.size }}', mode: '0600'}\n  register: method_result\n"
    )
    (own / "check.yml").write_text("- ansible.builtin.set_fact: {method_answer: {state: drained, error: null}}\n")
    (own / "undo.yml").write_text(
        "- ansible.builtin.file: {path: '{{ test_folder }}/own', state: absent}\n  register: method_result\n"
        "- ansible.builtin.set_fact: {method_answer: {state: undone, error: null}}\n"
    )
    flagged = fleet.add("flagged", [{"method": "flagged"}], drain_methods_path=str(own.parent))
    # Its check says nothing, and the answer of the one before it is no answer of its own.
    (own.parent / "mute").mkdir()
    for name in ("begin", "check", "undo"):
        (own.parent / "mute" / f"{name}.yml").write_text("- ansible.builtin.debug: {msg: '{{ method_finding }}'}\n")
    mute = fleet.add("mute", [{"method": "flagged"}, {"method": "mute"}], drain_methods_path=str(own.parent))

    # One that may not begin yet, and says why; and one that is drained and should be back.
    (own.parent / "later").mkdir()
    for name in ("begin", "check", "undo"):
        (own.parent / "later" / f"{name}.yml").write_text((own / f"{name}.yml").read_text())
    waits = "{{ {'finding': {}} if method_must or (test_folder ~ '/gate') is exists else {'state': 'not_yet', 'error': 'no gate'} }}"
    (own.parent / "later" / "find.yml").write_text(f'- ansible.builtin.set_fact: {{method_answer: "{waits}"}}\n')
    (own.parent / "later" / "options.yml").write_text("size: {type: whole, default: 3, description: a whole number}\n")
    (own.parent / "later" / "check.yml").write_text("- ansible.builtin.set_fact: {method_answer: {state: drained, hold: alone}}\n")
    later = fleet.add("later", [{"method": "later"}], drain_methods_path=str(own.parent))
    must = fleet.add("must", [{"method": "later"}], drain_methods_path=str(own.parent), drain_must=True)

    fleet.drain()
    assert later.state == "draining" and later.result["error"] == "1-later: not yet: no gate" and not later.path("own").exists(), later.result
    assert (later.record["phase"], later.record["blocker"], later.record["methods"]) == ("draining", {"kind": "not_yet", "subjects": []}, [])
    assert must.state == "drained" and must.path("own").read_text() == "3" and must.record["reason"] == "1-later: alone", must.result
    assert nothing.state == "drained" and nothing.record["phase"] == "drained"
    assert ordered.state == "draining" and ordered.result["error"] == "two busy", ordered.result
    assert log_of(ordered) == ["one-begin", "one-check", "two-begin", "two-check"]
    assert ordered.record["phase"] == "draining" and ordered.record["attempts"] == 1
    assert hostile.state == "drained" and hostile.path("said").read_text() == HOSTILE
    assert "MAINTENANCE_EVENT_RESOURCES=web1,{{ 1 }}\n" in hostile.path("env").read_text()
    assert not list(tmp_path.rglob("pwned")) and not Path("pwned").exists()
    told = literal.path("env").read_text().splitlines()
    assert {f"MAINTENANCE_EVENT_{name}" for name in (f"DESCRIPTION={LITERAL}", "TYPE=True", "STATUS=[1]", "RESOURCES=007")} <= set(told), told
    assert tasks.state == "draining" and tasks.path("busy").exists()
    assert silent.state == "failed" and "must end by setting the fact drain_tasks_state" in silent.result["error"], silent.result
    assert flagged.state == "drained" and flagged.path("own").read_text() == "3"
    assert mute.state == "failed" and "mute: check.yml must end by setting the fact method_answer" in mute.result["error"], mute.result
    assert [method["state"] for method in mute.record["methods"]] == ["drained", "failed"] and mute.method(1)["before"] == {}

    ordered.path("gate").touch()
    tasks.path("idle").touch()
    fleet.drain("ordered", "tasks")
    assert log_of(ordered)[4:] == ["one-check", "two-check", "three-begin", "three-check"]
    assert ordered.state == "drained" and ordered.record["attempts"] == 1 and ordered.record["verified_at"]
    assert tasks.state == "drained"

    # After a boot the second is not drained any more. It alone begins again.
    ordered.path("gate").unlink()
    ordered.variables["test_boot_id"] = "boot-2"
    # Today's settings do not matter to what was drained with yesterday's.
    flagged.variables["drain_methods"] = [{"method": "flagged", "size": 9}, {"method": "misspelt"}]
    fleet.drain("ordered", "flagged", verify=True)
    assert log_of(ordered)[8:] == ["one-check", "two-check", "two-begin", "two-check"]
    assert ordered.state == "draining" and ordered.record["phase"] == "draining"
    assert flagged.state == "drained" and len(flagged.record["methods"]) == 1, flagged.result
    assert flagged.method(0)["options"] == {"size": 3} and flagged.method(0)["before"] == {"was": "new"}

    fleet.recover("nothing", "ordered", "tasks", "flagged")
    assert [host.result["error"] for host in (nothing, ordered, tasks, flagged)] == [None] * 4
    assert log_of(ordered)[12:] == ["three-undo", "two-undo", "one-undo"]
    assert not tasks.path("busy").exists() and not flagged.path("own").exists()


def test_what_fails(fleet: Fleet, tmp_path: Path) -> None:
    past = (datetime.now(timezone.utc) - timedelta(seconds=5)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    second = fleet.add("second", [])
    second.variables["drain_methods"] = [command(second.folder, "one"), command(second.folder, "two", "echo broken >&2; exit 7")]
    late = fleet.add("late", [], drain_deadline=past)
    late.variables["drain_methods"] = [command(late.folder, "one", "echo three sessions left; exit 75")]
    slow = fleet.add("slow", [{"method": "command", "begin": "sleep 60", "check": "true", "undo": "true", "timeout": 1}])
    stubborn = fleet.add("stubborn", [])
    stubborn.variables["drain_methods"] = [{**command(stubborn.folder, "one"), "undo": "false"}, {"method": "none"}]
    unwritable = fleet.add("unwritable", [])
    unwritable.variables["drain_methods"] = [command(unwritable.folder, "one")]
    unwritable.path("records").write_text("no folder")
    # What is right comes first and must not begin.
    unknown = fleet.add("unknown", [])
    unknown.variables["drain_methods"] = [command(unknown.folder, "right"), {"method": "services"}]
    unreachable = fleet.add("unreachable", [{"method": "none"}], ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9)

    fleet.drain()
    assert second.state == "failed" and "exit code 7" in second.result["error"] and "broken" in second.result["error"], second.result
    assert second.record["phase"] == "failed" and "broken" in second.record["reason"]
    assert [method["state"] for method in second.record["methods"]] == ["drained", "failed"]
    assert late.state == "failed" and "deadline" in late.result["error"] and "three sessions left" in late.result["error"], late.result
    assert slow.state == "failed" and "exit code 124" in slow.result["error"], slow.result
    assert unwritable.state == "failed" and not unwritable.path("log").exists(), unwritable.result
    assert unknown.state == "failed" and "entry 2 (services): method must be" in unknown.result["error"], unknown.result
    assert not unknown.path("log").exists() and unknown.record["phase"] == "failed" and unknown.record["methods"] == []
    assert unreachable.state == "unreachable" and unreachable.record == {}

    for host in (second, late):
        host.variables["test_undo_failed"] = True
    fleet.recover("second", "late", "stubborn")
    assert second.state == "undone" and log_of(second)[-2:] == ["two-undo", "one-undo"]
    assert second.record["phase"] == "failed" and "broken" in second.record["reason"] and second.record["undone"] is True
    assert late.state == "undone" and late.record["undone"] is True
    assert stubborn.state == "failed" and "undo ended with exit code 1" in stubborn.result["error"], stubborn.result
    assert stubborn.record["phase"] == "failed" and stubborn.record["undone"] is False
    assert [method["state"] for method in stubborn.record["methods"]] == ["failed", "undone"]

    # The next attempt is one more, and the VM that answers nothing is not recovered either.
    stubborn.variables["test_undo_failed"] = False
    unreachable.variables["ansible_connection"] = "local"
    second.path("two-check").write_text("#!/bin/sh\nexit 0\n")
    fleet.drain("second", "unreachable")
    assert second.state == "drained" and second.record["attempts"] == 2 and second.record["undone"] is False
    assert unreachable.state == "drained"
    unreachable.variables["ansible_connection"] = "ssh"
    fleet.recover("unreachable")
    assert unreachable.state == "unreachable" and unreachable.record["phase"] == "drained"


def test_the_record_of_another_vm_is_not_undone(fleet: Fleet, tmp_path: Path) -> None:
    engine = fleet.add("engine", [])
    engine.variables["drain_methods"] = [command(engine.folder, "one")]
    files = {"begin": "touch", "check": "drained", "undo": "absent"}
    for act, word in files.items():
        state = "drained" if word == "drained" else "undone"
        (tmp_path / f"{act}.yml").write_text(
            (f"- ansible.builtin.file: {{path: '{{{{ test_folder }}}}/busy', state: {word}, mode: '0600'}}\n" if word != "drained" else "")
            + f"- ansible.builtin.set_fact: {{drain_tasks_state: {state}}}\n"
        )
    tasks = fleet.add("tasks", [{"method": "tasks", **{act: str(tmp_path / f"{act}.yml") for act in files}}])
    fleet.drain()
    assert (engine.state, tasks.state) == ("drained", "drained")

    # The disk is a copy: the record on it says who was drained, and metadata say who this VM is.
    for host in (engine, tasks):
        host.variables["test_vm_id"] = "5f2a0b1e-0000-4000-8000-00000000000b"
    fleet.recover()
    assert (engine.state, tasks.state) == ("failed", "failed")
    assert "there is no record of event" in engine.result["error"] and "5f2a0b1e-0000-4000-8000-000000000001" in tasks.result["error"]
    assert log_of(engine) == ["one-begin", "one-check"] and tasks.path("busy").exists()

    for host in (engine, tasks):
        host.variables["test_vm_id"] = "5F2A0B1E-0000-4000-8000-000000000001"
    fleet.recover()
    assert (engine.state, tasks.state) == ("undone", "undone")
    assert log_of(engine)[-1] == "one-undo" and not tasks.path("busy").exists()
