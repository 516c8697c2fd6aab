# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role watch on a real systemd: installed twice, an event noticed and told, killed, attacked by a local user, removed without a trace."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "playbooks" / "drain"))

from test_respond import Controller, ask  # noqa: E402  the folder of tests is no package
from test_service import ADDRESS, boot_id, guest, until  # noqa: E402

pytestmark = pytest.mark.skipif(not ADDRESS, reason="needs the guest that run.sh boots")

ENDPOINT = "http://127.0.0.1:8169"
STATE = "/run/azure-maintenance-watch/state.json"
SPOOL = "/var/lib/azure-maintenance-watch"
SECRET = "Wq7-secret-of-this-vm"
UNITS = ("azure-maintenance-ask.service", "azure-maintenance-seen.service", "azure-maintenance-tell.service", "azure-maintenance-tell.path")
FIGURES = "/srv/figures"
# A receiver on the guest that keeps each message and its headers in a file of its own.
HOOK = """
import http.server, itertools, json, os
numbers = itertools.count()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        content = {"headers": dict(self.headers), "body": json.loads(body)}
        with open("/srv/hook/%06d" % next(numbers), "w") as stream:
            json.dump(content, stream)
        self.send_response(200); self.end_headers()
    def log_message(self, *unused): pass
os.makedirs("/srv/hook", exist_ok=True)
http.server.HTTPServer(("127.0.0.1", 5000), Handler).serve_forever()
"""


def state() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(guest(f"cat {STATE} 2>/dev/null || echo '{{}}'"))
    return content


def found() -> set[str]:
    """Every file that stands where the role could have left one."""
    names = guest("find /etc /usr/local /var/lib /run /srv -xdev -name '*azure-maintenance*' 2>/dev/null; getent passwd; getent group")
    return {line for line in names.splitlines() if "azure-maintenance" in line}


class Hook:
    """Messages that the guest's receiver got."""

    def __init__(self) -> None:
        guest("rm -rf /srv/hook; mkdir -p /srv/hook")
        self.start()

    @staticmethod
    def start() -> None:
        guest(f"cat > /srv/hook.py <<'E'\n{HOOK}\nE")
        guest("systemd-run --quiet --unit=hook python3 /srv/hook.py")

    @staticmethod
    def stop() -> None:
        guest("systemctl stop hook.service")

    @staticmethod
    def got() -> list[dict[str, Any]]:
        text = guest("for f in $(ls /srv/hook 2>/dev/null | sort); do cat /srv/hook/$f; echo; done")
        return [json.loads(line) for line in text.splitlines() if line]

    def kinds(self, event: str) -> list[str]:
        return [item["body"]["type"].rpartition(".")[2] for item in self.got() if item["body"]["subject"] == event]


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    controller = Controller(tmp_path)
    guest("rm -rf /var/lib/azure-maintenance; systemctl start web.service")
    controller.play("simulator.yml", simulator_speed=1)
    yield controller
    controller.play("maintenance.azure.watch", watch_state="absent")
    controller.play("simulator.yml", simulator_state="absent")
    guest("systemctl stop hook.service; rm -rf /srv/hook /srv/hook.py /srv/news /srv/figures /srv/other", check=False)


def install(controller: Controller, **variables: Any) -> str:
    return controller.play("maintenance.azure.watch", watch_endpoint=ENDPOINT, **variables)


TOLD = {"watch_tell_url": "http://127.0.0.1:5000/endpoint", "watch_tell_credential": "hmac", "watch_tell_secret": SECRET}


def test_installed_twice_noticed_told_confirmed_and_removed(controller: Controller) -> None:
    before = found()
    first = controller.play("maintenance.azure.watch", "--check", "--diff", watch_endpoint=ENDPOINT, **TOLD)
    assert "failed=0" in first and found() == before
    assert SECRET not in install(controller, **TOLD)
    for words in ((), ("--check", "--diff")):
        assert "changed=0" in controller.play("maintenance.azure.watch", *words, watch_endpoint=ENDPOINT, **TOLD)
    hook = Hook()

    event = ask("POST", "/events", {"event_type": "Preempt", "resources": ["web1"], "notice": 3600})["event_id"]
    until(lambda: hook.kinds(event) == ["listed"], 15)
    message = hook.got()[0]
    noticed = [entry for entry in state()["events"] if entry["event_id"] == event]
    assert noticed[0]["affects_this_vm"] is True and message["body"]["data"]["vm"]["name"] == "web1"
    signature = {key.lower(): value for key, value in message["headers"].items()}["x-hub-signature-256"]
    assert re.fullmatch(r"sha256=[0-9a-f]{64}", signature)
    # A 200 proves nothing: it stays, until a run of the controller has written its record.
    assert [name.rpartition(".")[2] for name in guest(f"ls {SPOOL}").split() if name.startswith("0000")] == ["accepted"]
    controller.play("maintenance.azure.respond")
    until(lambda: not [name for name in guest(f"ls {SPOOL}").split() if name.startswith("0000")], 90)
    assert hook.kinds(event) == ["listed"]

    for text in (guest("journalctl --no-pager"), guest(f"cat {STATE}"), guest("cat /etc/azure-maintenance-watch/watch.json"), guest("ps axww -o args")):
        assert SECRET not in text
    controller.play("maintenance.azure.watch", watch_state="absent")
    assert found() - before == {line for line in found() if line == "/var/lib/azure-maintenance"}
    assert "changed=0" in controller.play("maintenance.azure.watch", watch_state="absent")


def test_the_units_are_closed(controller: Controller) -> None:
    install(controller, **TOLD)
    Hook()
    event = ask("POST", "/events", {"event_type": "Reboot", "resources": ["web1"], "notice": 3600})["event_id"]
    until(lambda: event in guest("cat /srv/hook/* 2>/dev/null", check=False), 20)
    exposures = {}
    for unit in ("azure-maintenance-ask.service", "azure-maintenance-tell.service", "azure-maintenance-seen.service"):
        line = guest(f"systemd-analyze security --no-pager {unit} | tail -1")
        exposures[unit] = float(re.findall(r"([0-9]+\.[0-9])", line)[0])
    print(exposures)
    assert exposures["azure-maintenance-ask.service"] <= 2.0, exposures
    asker = guest("systemctl show -p MainPID --value azure-maintenance-ask.service")
    assert set(re.findall(r"Cap\w+:\s+(\w+)", guest(f"cat /proc/{asker}/status"))) == {"0000000000000000"}
    # Nothing listens but sshd, the simulator and the test's own receiver.
    assert guest("ss -Hltnup 2>/dev/null | grep -c maintenance || true") == "0"
    assert guest("ls -l /proc/{}/fd | grep -c socket".format(asker)) != ""


def test_a_local_user_gets_nowhere(controller: Controller) -> None:
    install(controller, **TOLD)
    guest("id nobody")
    attacks = [
        "cat /etc/azure-maintenance-watch/credential",
        f"ls {SPOOL}",
        f"touch {SPOOL}/000000000001-{'0' * 32}.waiting",
        f"touch {STATE}",
        "touch /run/azure-maintenance-watch/x",
        "touch /run/azure-maintenance-seen/seen.json",
        "echo {} > /etc/azure-maintenance-watch/watch.json",
        "echo > /usr/local/lib/azure-maintenance-watch/watch.pyz",
        "kill -9 $(pgrep -f watch.pyz | head -1)",
        "systemctl stop azure-maintenance-ask.service --no-ask-password",
    ]
    for attack in attacks:
        code = guest(f"setpriv --reuid=65534 --regid=65534 --clear-groups sh -c '{attack}' > /dev/null 2>&1; echo $?", check=False)
        assert code not in ("0", ""), attack
    assert guest("systemctl is-active azure-maintenance-ask.service") == "active"
    # Nor can the asker read the credential of the teller.
    code = guest(
        "setpriv --reuid=azure-maintenance-ask --regid=azure-maintenance --clear-groups cat /etc/azure-maintenance-watch/credential; echo $?", check=False
    )
    assert code.splitlines()[-1] != "0" and SECRET not in code


def test_killed_at_any_time_and_rebooted_each_message_arrives_in_order(controller: Controller) -> None:
    install(controller, **TOLD)
    # Nobody listens: the spool keeps what comes.
    event = ask("POST", "/events", {"event_type": "Reboot", "resources": ["web1"], "notice": 36000})["event_id"]
    until(lambda: state().get("messages_waiting") == 1)
    for _kill in range(5):
        guest("systemctl kill -s KILL azure-maintenance-ask.service azure-maintenance-tell.service", check=False)
        time.sleep(1.2)
    ask("POST", f"/events/{event}/start")
    until(lambda: state().get("messages_waiting") == 2)
    before = boot_id()
    guest("systemctl --no-block reboot", check=False)
    until(lambda: guest("cat /proc/sys/kernel/random/boot_id", check=False) not in ("", before))
    until(lambda: guest("systemctl is-system-running", check=False) in ("running", "degraded"))
    # The simulator is not enabled: the endpoint is away, and nothing is concluded from that.
    until(lambda: "no usable answer" in str(state().get("problem")))
    hook = Hook()
    until(lambda: hook.kinds(event)[:2] == ["listed", "changed"], 60)
    assert len({item["body"]["id"] for item in hook.got()}) == 2
    assert [kind for number, kind in enumerate(hook.kinds(event)) if kind == "gone"] == []


def test_into_a_folder_for_other_tools(controller: Controller) -> None:
    install(controller, watch_tell_folder="/srv/news")
    event = ask("POST", "/events", {"event_type": "Freeze", "resources": ["web1"], "notice": 3600})["event_id"]
    until(lambda: event in guest("cat /srv/news/*.json 2>/dev/null", check=False), 20)
    ask("POST", f"/events/{event}/cancel")
    until(lambda: len(guest("ls /srv/news").split()) == 2, 30)
    kinds = [json.loads(guest(f"cat /srv/news/{name}"))["type"].rpartition(".")[2] for name in guest("ls /srv/news").split()]
    assert kinds == ["listed", "gone"]


def test_figures_in_a_folder_that_the_role_makes(controller: Controller) -> None:
    first = controller.play("maintenance.azure.watch", "--check", "--diff", watch_endpoint=ENDPOINT, watch_figures_folder=FIGURES)
    assert "failed=0" in first and guest(f"ls -d {FIGURES} 2>/dev/null || true") == ""
    install(controller, watch_figures_folder=FIGURES)
    assert guest(f"stat -c '%U %G %a' {FIGURES}") == "root azure-maintenance 775"
    for words in ((), ("--check", "--diff")):
        assert "changed=0" in controller.play("maintenance.azure.watch", *words, watch_endpoint=ENDPOINT, watch_figures_folder=FIGURES)
    ask("POST", "/events", {"event_type": "Preempt", "resources": ["web1"], "notice": 3600})
    listed = 'azure_scheduled_events_listed{type="Preempt",status="Scheduled",this_vm="true"} 1'
    until(lambda: listed in guest(f"cat {FIGURES}/maintenance_watch.prom", check=False), 15)
    controller.play("maintenance.azure.respond")
    # The timer of root's unit reads the records once a minute.
    until(lambda: "azure_scheduled_events_records{" in guest(f"cat {FIGURES}/maintenance_records.prom | grep ' 1$'", check=False), 90)
    assert guest(f"stat -c '%U %a' {FIGURES}/*.prom").splitlines() == ["root 644", "azure-maintenance-ask 644"]
    # Another folder: the files of the one before are removed, and so is that folder, which the role had made.
    install(controller, watch_figures_folder="/srv/other")
    until(lambda: "maintenance_watch.prom" in guest("ls /srv/other"), 15)
    assert guest(f"ls -d {FIGURES} 2>/dev/null || true") == ""
    # None: nothing is left, nor is the timer.
    install(controller)
    assert guest("ls -d /srv/other 2>/dev/null || true") == ""
    assert guest("systemctl is-active azure-maintenance-seen.timer", check=False) == "inactive"
    assert "changed=0" in install(controller)


def test_figures_in_a_folder_of_others(controller: Controller) -> None:
    guest(f"mkdir -m 0755 {FIGURES}; echo 'other 1' > {FIGURES}/other.prom")
    with pytest.raises(AssertionError) as caught:
        install(controller, watch_figures_folder=FIGURES)
    words = f"cannot both write to watch_figures_folder {FIGURES}, which belongs to root:root with mode 0755. Next: chgrp azure-maintenance {FIGURES}"
    assert words in " ".join(str(caught.value).split())
    guest(f"chgrp azure-maintenance {FIGURES} && chmod g+rwx {FIGURES}")
    install(controller, watch_figures_folder=FIGURES)
    until(lambda: len(guest(f"ls {FIGURES}/*.prom").split()) == 3, 30)
    code = guest(f"setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'cat {FIGURES}/*.prom > /dev/null && ! touch {FIGURES}/x'; echo $?", check=False)
    assert code.splitlines()[-1] == "0"
    assert "changed=0" in install(controller, watch_figures_folder=FIGURES)
    # The settings on the VM know the folder, also where the variable is not given.
    controller.play("maintenance.azure.watch", watch_state="absent")
    assert guest(f"ls -A {FIGURES}") == "other.prom"
    assert guest(f"stat -c '%U %G %a' {FIGURES}") == "root root 775"


def test_wrong_settings_are_named_before_anything_runs(controller: Controller) -> None:
    for wrong, words in (
        ({"watch_tell_url": "http://eda.example.com:5000"}, "tell_url is 'http://eda.example.com:5000'; it must be https://HOST"),
        ({"watch_interval": 0.01}, "interval is 0.01; it must be a number of seconds from 0.25"),
        ({"watch_tell_credential": "bearer"}, "needs watch_tell_secret"),
        ({"watch_endpoint": "discover"}, "must be an address"),
        ({"watch_figures_folder": "srv/figures"}, "must be a whole path"),
    ):
        with pytest.raises(AssertionError) as caught:
            controller.play("maintenance.azure.watch", **{"watch_endpoint": ENDPOINT, **wrong})
        assert words in str(caught.value), wrong
