# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Methods probe_file, command, tasks and none on "Windows" VMs (stand-ins), all hosts in the same runs."""

from __future__ import annotations

from pathlib import Path

from windows import WindowsFleet, WindowsHost

FLAG = b"ready \xff\xfe {{ 7 * 7 }}\r\n"
HOSTILE = "{{ lookup('pipe', 'touch pwned') }} $(touch pwned) `touch pwned`; touch pwned\n'\"$HOME & del *"


def flagged(fleet: WindowsFleet, name: str, **options: object) -> WindowsHost:
    host = fleet.add(name, [{"method": "probe_file", "path": "C:\\srv\\www\\ready", "interval": 0, **options}])
    host.windows.path("srv/www").mkdir(parents=True)
    return host


def test_probe_file(windows_fleet: WindowsFleet) -> None:
    inside = flagged(windows_fleet, "inside", ports=[443])
    inside.windows.path("srv/www/ready").write_bytes(FLAG)
    inside.windows.path("srv/www/ready").chmod(0o640)
    inside.windows.set("world.json", {"connections": [[443, "Established"], [443, "TimeWait"], [443, "Listen"], [80, "Established"]]})
    outside = flagged(windows_fleet, "outside", present_means="out", interval=90, threshold=1)
    already = flagged(windows_fleet, "already", present_means="out")
    already.windows.path("srv/www/ready").write_text("by a person")
    folder = flagged(windows_fleet, "folder")
    folder.windows.path("srv/www/ready").mkdir()
    wiped = flagged(windows_fleet, "wiped")
    wiped.windows.path("srv/www/ready").write_bytes(FLAG)

    windows_fleet.drain()
    assert inside.state == "draining" and inside.result["error"] == "1 connection(s) open on port(s) 443", inside.result
    assert not inside.windows.path("srv/www/ready").exists()
    assert outside.state == "draining" and "s to wait" in outside.result["error"], outside.result
    assert outside.windows.path("srv/www/ready").read_bytes() == b""
    assert already.state == "drained" and wiped.state == "drained", (already.result, wiped.result)
    assert folder.state == "failed" and "is not a file" in folder.result["error"], folder.result
    assert folder.method(0)["before"] is None

    # The connection ends; a boot takes the one flag away; somebody puts the other back; a temporary disk is gone.
    inside.windows.set("world.json", {"connections": []})
    outside.windows.path("srv/www/ready").unlink()
    outside.boot()
    wiped.windows.path("srv/www/ready.maintenance").unlink()
    windows_fleet.drain("inside", "outside", verify=True)
    assert inside.state == "drained" and inside.record["verified_at"], inside.result
    assert outside.state == "draining" and outside.windows.path("srv/www/ready").exists(), outside.result
    assert outside.method(0)["before"] == {"kind": "absent"}

    windows_fleet.recover("inside", "outside", "already", "wiped")
    assert [host.state for host in (inside, outside, already)] == ["undone"] * 3, (inside.result, outside.result, already.result)
    flag = inside.windows.path("srv/www/ready")
    assert flag.read_bytes() == FLAG and flag.stat().st_mode & 0o777 == 0o640
    assert not inside.windows.path("srv/www/ready.maintenance").exists() and not outside.windows.path("srv/www/ready").exists()
    assert already.windows.path("srv/www/ready").read_text() == "by a person"
    assert wiped.state == "failed" and "Create C:\\srv\\www\\ready when the VM may serve again" in wiped.result["error"], wiped.result
    wiped.windows.path("srv/www/ready").write_text("made anew")
    windows_fleet.recover("wiped")
    assert wiped.state == "undone" and wiped.windows.path("srv/www/ready").read_text() == "made anew"


def program(host: WindowsHost, name: str, text: str) -> list[str]:
    """A program of the played machine, as a list of words: those go by argv, which quotes them."""
    path = host.windows.home / "programs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return [f"C:\\Program Files\\Shop\\{name}.exe", "two words", "100%"]


def test_command_tasks_and_none(windows_fleet: WindowsFleet, tmp_path: Path) -> None:
    nothing = windows_fleet.add("nothing", [{"method": "none"}])
    words = windows_fleet.add("words", [])
    words.event.update(description=HOSTILE, resources=["web1", "{{ 1 }}"])
    home = words.windows.home
    words.variables["drain_methods"] = [
        {
            "method": "command",
            "begin": program(words, "leave", f'printf "%s|" "$@" > {home}/began; printf %s "$MAINTENANCE_EVENT_DESCRIPTION" > {home}/said\n'),
            "check": program(words, "look", f"test -e {home}/gone || {{ echo two busy; exit 75; }}\n"),
            "undo": f"rm -f {home}/began",
        }
    ]
    broken = windows_fleet.add("broken", [{"method": "command", "begin": "exit 7", "check": "true", "undo": "true"}])
    absent = windows_fleet.add("absent", [{"method": "command", "begin": ["C:\\missing.exe"], "check": "true", "undo": "true"}])
    slow = windows_fleet.add("slow", [{"method": "command", "begin": "sleep 60", "check": "true", "undo": "true", "timeout": 1}])

    files = {act: tmp_path / f"{act}.yml" for act in ("begin", "check", "undo")}
    touch = "- ansible.windows.win_file: {path: 'C:\\busy', state: %s}\n"
    files["begin"].write_text(touch % "touch")
    files["check"].write_text(
        "- ansible.windows.win_stat: {path: 'C:\\busy'}\n  register: __busy\n"
        "- ansible.builtin.set_fact: {drain_tasks_state: \"{{ 'drained' if __busy.stat.exists else 'failed' }}\"}\n"
    )
    files["undo"].write_text(touch % "absent" + "- ansible.builtin.set_fact: {drain_tasks_state: undone}\n")
    tasks = windows_fleet.add("tasks", [{"method": "tasks", **{act: str(file) for act, file in files.items()}}])

    windows_fleet.drain()
    assert nothing.state == "drained" and tasks.state == "drained" and tasks.windows.path("busy").exists(), tasks.result
    assert words.state == "draining" and words.result["error"] == "two busy", words.result
    assert (home / "began").read_text() == "two words|100%|" and (home / "said").read_text() == HOSTILE
    assert not list(tmp_path.rglob("pwned"))
    assert broken.state == "failed" and "exit code 7" in broken.result["error"], broken.result
    assert absent.state == "failed" and "missing.exe" in absent.result["error"], absent.result
    late = "1-command: begin reached a timeout (exit code 124; option timeout is 1 s): it has not ended within 1 s"
    assert slow.state == "failed" and late in slow.result["error"], slow.result

    (home / "gone").touch()
    windows_fleet.drain("words")
    assert words.state == "drained", words.result
    # Not drained any more after a boot: it begins again.
    (home / "gone").unlink()
    (home / "began").unlink()
    words.boot()
    windows_fleet.drain("words", verify=True)
    assert words.state == "draining" and (home / "began").exists(), words.result
    windows_fleet.recover("words", "tasks", "nothing")
    assert [host.state for host in (words, tasks, nothing)] == ["undone"] * 3
    assert not (home / "began").exists() and not tasks.windows.path("busy").exists()
    assert all("_raw_params" not in call or "cmd.exe" in call["_raw_params"] for call in words.windows.calls("win_command"))


WRONG = {
    "linux": ({"method": "pacemaker"}, "method pacemaker is not supported on Windows hosts."),
    "quoted": ({"method": "probe_file", "path": 'C:\\a" & del "C:\\b'}, "holds a double quote"),
    "no-sites": ({"method": "iis", "sites": []}, "sites is wrong: []"),
    "no-mapping": ({"method": "wsfc", "replicas": ["sql2"]}, "replicas is wrong: ['sql2']"),
    "no-choice": ({"method": "wsfc", "failback": "later"}, "failback is wrong: later"),
    "no-option": ({"method": "wsfc", "nodes": ["a"]}, "there is no option nodes (did you mean node?). Options: node, failback"),
}


def test_settings_that_cannot_be_right(windows_fleet: WindowsFleet) -> None:
    hosts = {name: windows_fleet.add(name, [method]) for name, (method, _words) in WRONG.items()}
    windows_fleet.drain()
    assert {name: host.state for name, host in hosts.items()} == dict.fromkeys(WRONG, "failed")
    assert [name for name, (_method, words) in WRONG.items() if words not in hosts[name].result["error"]] == [], [host.result for host in hosts.values()]
    # The event log is told why, as one argument; no line of cmd.exe holds it.
    lines = [call.get("_raw_params") or call.get("cmd") or "" for call in hosts["quoted"].windows.calls("win_command")]
    assert [line for line in lines if "& del" in line] == []
    assert not any(host.windows.calls("win_powershell") for host in hosts.values())
