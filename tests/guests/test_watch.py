# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role watch on a real systemd: installed twice, an event noticed, told and measured, killed, attacked by a local user, removed without a trace.

A play costs ten seconds and more, so each test goes on with the watcher that the one before has left, and one play shows several things.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hook import Hook
from test_respond import Controller, ask
from test_service import ADDRESS, boot_id, guest, record, until

pytestmark = pytest.mark.skipif(not ADDRESS, reason="needs the guest that run.sh boots")

ENDPOINT = "http://127.0.0.1:8169"
STATE = "/run/azure-maintenance-watch/state.json"
SPOOL = "/var/lib/azure-maintenance-watch"
TRIGGERS = "/run/azure-maintenance-drain"
SECRET = "Wq7-secret-of-this-vm"
UNITS = ("azure-maintenance-ask.service", "azure-maintenance-seen.service", "azure-maintenance-tell.service", "azure-maintenance-tell.path")


def state() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(guest(f"cat {STATE} 2>/dev/null || echo '{{}}'"))
    return content


def found() -> set[str]:
    """Every file that stands where the role could have left one."""
    names = guest("find /etc /usr/local /var/lib /run /srv -xdev -name '*azure-maintenance*' 2>/dev/null; getent passwd; getent group")
    return {line for line in names.splitlines() if "azure-maintenance" in line}


TOLD = {"watch_tell_url": "http://127.0.0.1:5000/endpoint", "watch_tell_credential": "hmac", "watch_tell_secret": SECRET}
# Folders of metrics: two that the role makes, and one that belongs to others.
FIGURES, OTHER_FIGURES, FIGURES_OF_OTHERS = "/srv/figures", "/srv/other-figures", "/srv/figures-of-others"


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Controller]:
    """A simulator that the watcher asks; where test_respond.py has left one, it is changed."""
    controller = Controller(tmp_path_factory.mktemp("watch"))
    guest("rm -rf /var/lib/azure-maintenance; systemctl start web.service")
    enabled_long_ago()
    controller.play("simulator.yml", simulator_speed=1, simulator_boot=True)
    yield controller
    controller.play("simulator.yml", simulator_state="absent")
    assert "could not be found" in guest("systemctl status imds-simulator.service 2>&1", check=False)


def enabled_long_ago() -> None:
    """Scheduled Events have been enabled for an hour. An event that is not listed in the first five minutes might still be there."""
    asked, enabled = ({"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago)), "boot_id": None, "uptime": None} for ago in (0, 3600))
    content = json.dumps({"asked": asked, "enabled": enabled})
    guest(f"install -d -m 0700 /var/lib/azure-maintenance; echo '{content}' > /var/lib/azure-maintenance/asked")


def watch(controller: Controller, *words: str, **variables: Any) -> str:
    return controller.play("maintenance.azure.watch", *words, watch_endpoint=ENDPOINT, **variables)


def waiting() -> list[str]:
    """The states of the messages in the spool."""
    return [name.rpartition(".")[2] for name in guest(f"ls {SPOOL}").split() if re.match("[0-9]{12}-", name)]


def event(event_type: str, **more: Any) -> str:
    given = {"event_type": event_type, "resources": ["web1"], "notice": 36000, **more}
    return str(ask("POST", "/events", {key: value for key, value in given.items() if value is not None})["event_id"])


def test_check_mode_changes_nothing(controller: Controller) -> None:
    before = found()
    assert "failed=0" in watch(controller, "--check", "--diff", watch_figures_folder=FIGURES, **TOLD)
    assert found() == before and guest(f"ls -d {FIGURES} 2>/dev/null || true") == ""


def test_installed_twice(controller: Controller) -> None:
    assert SECRET not in watch(controller, "-vvv", watch_figures_folder=FIGURES, **TOLD)
    assert guest(f"stat -c '%U %G %a' {FIGURES}") == "root azure-maintenance 775"
    settings = "/etc/azure-maintenance-watch/watch.json"
    assert guest(f"stat -c '%U %G %a' {settings}") == "root azure-maintenance 640"
    # As versions before 2.7.0 have left it.
    guest(f"chown root:root {settings}; chmod 0644 {settings}")
    watch(controller, watch_figures_folder=FIGURES, **TOLD)
    assert guest(f"stat -c '%U %G %a' {settings}") == "root azure-maintenance 640"
    assert "changed=0" in watch(controller, watch_figures_folder=FIGURES, **TOLD)
    assert "changed=0" in watch(controller, "--check", "--diff", watch_figures_folder=FIGURES, **TOLD)


def test_a_key_that_the_telling_unit_cannot_read_is_named_before_anything_is_written(controller: Controller, tmp_path: pathlib.Path) -> None:
    made = [tmp_path / "own.pem", tmp_path / "own.key"]
    options = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=web1"]
    subprocess.run(["openssl", "req", *options, "-out", str(made[0]), "-keyout", str(made[1])], check=True, capture_output=True)
    for path in made:
        guest(f"umask 077; cat > /etc/{path.name} <<'E'\n{path.read_text()}E")
    shown = {**TOLD, "watch_tell_url": "https://127.0.0.1:5000/", "watch_figures_folder": FIGURES}
    shown.update(watch_tell_client_certificate="/etc/own.pem", watch_tell_client_key="/etc/own.key")
    guest("chmod 0644 /etc/own.pem")
    before = guest("cat /etc/azure-maintenance-watch/watch.json")
    with pytest.raises(AssertionError, match="User azure-maintenance-tell cannot read /etc/own.key. Next: chown azure-maintenance-tell /etc/own.key"):
        watch(controller, **shown)
    assert guest("cat /etc/azure-maintenance-watch/watch.json") == before
    guest("chown azure-maintenance-tell /etc/own.key; chmod 0644 /etc/own.key")
    with pytest.raises(AssertionError, match="/etc/own.key must be a file that only its owner may read"):
        watch(controller, **shown)
    # The new settings are written, and nothing runs with them. Once the key is mended, a run copies nothing, and restarts all the same.
    process = "systemctl show -p MainPID --value azure-maintenance-ask.service"
    running = guest(process)
    guest("chmod 0600 /etc/own.key")
    assert "failed=0" in watch(controller, **shown)
    assert guest(process) != running
    assert "changed=0" in watch(controller, **shown)
    # Another folder of metrics: the files of the one before are removed, and so is that folder, which the role had made.
    watch(controller, watch_figures_folder=OTHER_FIGURES, **TOLD)
    until(lambda: "maintenance_watch.prom" in guest(f"ls {OTHER_FIGURES}"))
    assert guest(f"ls -d {FIGURES} 2>/dev/null || true") == ""
    guest("rm /etc/own.pem /etc/own.key")


def test_noticed_told_and_repeated_until_a_run_has_seen_it(controller: Controller) -> None:
    hook = Hook()
    listed = event("Reboot")
    until(lambda: hook.kinds(listed) == ["listed"])
    message = hook.got()[0]
    assert [entry["affects_this_vm"] for entry in state()["events"] if entry["event_id"] == listed] == [True]
    assert message["body"]["data"]["vm"]["name"] == "web1"
    signature = {key.lower(): value for key, value in message["headers"].items()}["x-hub-signature-256"]
    assert re.fullmatch(r"sha256=[0-9a-f]{64}", signature)
    measured = 'azure_scheduled_events_listed{type="Reboot",status="Scheduled",this_vm="true"} 1'
    until(lambda: measured in guest(f"cat {OTHER_FIGURES}/maintenance_watch.prom", check=False))
    # A 200 proves nothing: it stays, until a run of the controller has written its record.
    until(lambda: waiting() == ["accepted"])
    controller.play("maintenance.azure.respond")
    until(lambda: waiting() == [], 300)
    # The timer of root's unit reads the records once a minute.
    until(lambda: "azure_scheduled_events_records{" in guest(f"cat {OTHER_FIGURES}/maintenance_records.prom | grep ' 1$'", check=False), 300)
    assert guest(f"stat -c '%U %a' {OTHER_FIGURES}/*.prom").splitlines() == ["root 644", "azure-maintenance-ask 644"]
    assert hook.kinds(listed) == ["listed"]
    for command in ("journalctl --no-pager", f"cat {STATE} /etc/azure-maintenance-watch/watch.json", "ps axww -o args"):
        assert SECRET not in guest(command)
    ask("POST", f"/events/{listed}/cancel")
    until(lambda: hook.kinds(listed) == ["listed", "gone"])
    # The end, too, is repeated until the record knows it.
    assert waiting() == ["accepted"]
    controller.play("maintenance.azure.respond", respond_wait=True, respond_wait_timeout=120)
    until(lambda: waiting() == [], 300)


def test_a_preempt_is_drained_without_a_controller_and_adopted_by_the_next_run(controller: Controller) -> None:
    until(lambda: guest("systemctl is-active web.service", check=False) == "active")
    began = time.monotonic()
    taken = event("Preempt", notice=None)
    until(lambda: guest("systemctl is-active web.service", check=False) != "active")
    print(f"out of service {time.monotonic() - began:.1f} s after the notice, ssh included")
    until(lambda: record(taken).get("phase") == "drained")
    assert record(taken)["rule"]["name"] == "everything else"
    journal = guest("journalctl --no-pager --output=cat -u azure-maintenance-drain.service")
    assert f"event {taken.lower()} (Preempt): drain: rule 'everything else' drains it" in journal
    assert not [entry for entry in ask("GET", "/requests") if entry["method"] == "POST" and taken in str(entry["body"])]
    # It is named again every ten seconds, and drained once.
    revision = record(taken)["revision"]
    until(lambda: f"event {taken.lower()}: left alone: drained" in guest("journalctl --no-pager --output=cat -u azure-maintenance-drain.service"))
    assert record(taken)["revision"] == revision
    ask("POST", f"/events/{taken}/cancel")
    output = controller.play("maintenance.azure.respond", respond_wait=True, respond_wait_timeout=120)
    assert "recovered" in output and record(taken)["phase"] == "recovered"
    until(lambda: guest("systemctl is-active web.service", check=False) == "active")
    until(lambda: waiting() == [], 300)


def test_nobody_but_the_endpoint_makes_it_drain(controller: Controller) -> None:
    other = "11111111-1111-4111-8111-111111111111"
    asker = "setpriv --reuid=azure-maintenance-ask --regid=azure-maintenance --clear-groups"
    # An asker that was taken over can name what it likes, as often as it likes: the draining unit asks Azure itself.
    link, folder = "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
    guest(f"{asker} sh -c 'cd {TRIGGERS}; touch {other} x; ln -s /etc/shadow {link}; mkdir -p {folder}/in'")
    until(lambda: guest(f"ls {TRIGGERS}") == "")
    assert guest("systemctl is-active web.service") == "active" and record(other) == {}
    assert guest("test -s /etc/shadow; echo $?") == "0"
    # Nor can it read what the drain does.
    for command in ("cat /etc/azure-maintenance-watch/drain.json", "systemctl --no-ask-password start azure-maintenance-drain.service"):
        assert guest(f"{asker} {command} > /dev/null 2>&1; echo $?") != "0"


def test_the_units_are_closed(controller: Controller) -> None:
    exposures = {}
    for unit in UNITS[:3]:
        line = guest(f"systemd-analyze security --no-pager {unit} | tail -1")
        exposures[unit] = float(re.findall(r"([0-9]+\.[0-9])", line)[0])
    print(exposures, "draining:", guest("systemd-analyze security --no-pager azure-maintenance-drain.service | tail -1"))
    assert max(exposures.values()) <= 2.0, exposures
    assert "169.254.169.254" in guest("systemctl show -p IPAddressDeny --value azure-maintenance-tell.service")
    print("boot id of the asker and of the guest:", state()["boot_id"], boot_id())
    asker = guest("systemctl show -p MainPID --value azure-maintenance-ask.service")
    assert set(re.findall(r"Cap\w+:\s+(\w+)", guest(f"cat /proc/{asker}/status"))) == {"0000000000000000"}
    # One kept-alive connection, one datagram to systemd: nothing listens.
    inodes = set(re.findall(r"socket:\[([0-9]+)\]", guest(f"ls -l /proc/{asker}/fd")))
    listening = {fields[9] for fields in map(str.split, guest("cat /proc/net/tcp /proc/net/tcp6").splitlines()) if len(fields) > 9 and fields[3] == "0A"}
    assert inodes and not inodes & listening


def test_a_local_user_gets_nowhere(controller: Controller) -> None:
    attacks = [
        "cat /etc/azure-maintenance-watch/credential",
        f"ls {SPOOL}",
        f"touch {SPOOL}/000000000001-{'0' * 32}.waiting",
        f"touch {STATE}",
        "touch /run/azure-maintenance-watch/x",
        "touch /run/azure-maintenance-seen/x",
        f"ls {TRIGGERS}",
        f"touch {TRIGGERS}/11111111-1111-4111-8111-111111111111",
        "cat /etc/azure-maintenance-watch/drain.json",
        "systemctl --no-ask-password start azure-maintenance-drain.service",
        "echo > /etc/azure-maintenance-watch/watch.json",
        "echo > /usr/local/lib/azure-maintenance-watch/watch.pyz",
        "kill -9 $(systemctl show -p MainPID --value azure-maintenance-ask.service)",
        "systemctl --no-ask-password stop azure-maintenance-ask.service",
        "systemctl --no-ask-password start azure-maintenance-tell.service",
    ]
    for attack in attacks:
        code = guest(f"setpriv --reuid=65534 --regid=65534 --clear-groups sh -c '{attack}' > /dev/null 2>&1; echo $?")
        assert code != "0", attack
    assert guest("systemctl is-active azure-maintenance-ask.service") == "active"
    # Nor can the asker read the credential of the teller.
    asker = "setpriv --reuid=azure-maintenance-ask --regid=azure-maintenance --clear-groups"
    assert "denied" in guest(f"{asker} cat /etc/azure-maintenance-watch/credential 2>&1", check=False)


def test_killed_at_any_time_and_rebooted_each_message_arrives_in_order(controller: Controller) -> None:
    # Nobody listens: the spool keeps what comes.
    Hook.stop()
    listed = event("Freeze")
    until(lambda: waiting() == ["waiting"])
    for _kill in range(5):
        guest("systemctl kill -s KILL azure-maintenance-ask.service azure-maintenance-tell.service", check=False)
        time.sleep(1.2)
    ask("POST", f"/events/{listed}/start")
    until(lambda: waiting() == ["waiting"] * 2)
    before = boot_id()
    guest("systemctl --no-block reboot", check=False)
    until(lambda: guest("cat /proc/sys/kernel/random/boot_id", check=False) not in ("", before))
    until(lambda: guest("systemctl is-system-running", check=False) in ("running", "degraded"))
    assert waiting()[:2] == ["waiting"] * 2
    # The folder of triggers is in memory: made anew, for the asker alone.
    assert guest(f"stat -c '%a %U' {TRIGGERS}") == "700 azure-maintenance-ask"
    hook = Hook()
    until(lambda: hook.kinds(listed)[:2] == ["listed", "changed"])
    # The simulator has begun anew, without events: that is told as their end, once.
    until(lambda: hook.kinds(listed) == ["listed", "changed", "gone"])


def test_into_a_folder_for_other_tools(controller: Controller) -> None:
    # One that exists keeps its owner, and the watcher its settings.
    guest("mkdir /srv/own && chown daemon /srv/own")
    before = guest("cat /etc/azure-maintenance-watch/watch.json")
    with pytest.raises(AssertionError, match="User azure-maintenance-tell cannot write to watch_tell_folder /srv/own. Next: chgrp azure-maintenance /srv/own"):
        watch(controller, watch_tell_folder="/srv/own")
    assert (guest("stat -c %U /srv/own"), guest("cat /etc/azure-maintenance-watch/watch.json")) == ("daemon", before)
    guest("rmdir /srv/own")
    watch(controller, watch_tell_folder="/srv/news")
    # No folder of metrics any more: nothing is left of the one before, nor is the timer.
    assert guest(f"ls -d {OTHER_FIGURES} 2>/dev/null || true") == ""
    assert guest("systemctl is-active azure-maintenance-seen.timer", check=False) == "inactive"
    assert "changed=0" in watch(controller, watch_tell_folder="/srv/news")
    listed = event("Freeze")
    until(lambda: listed in guest("cat /srv/news/*.json 2>/dev/null", check=False))
    ask("POST", f"/events/{listed}/cancel")

    def kinds() -> list[str]:
        """The messages about this event; one of an earlier event may still have waited for its record."""
        messages = [json.loads(guest(f"cat /srv/news/{name}")) for name in guest("ls /srv/news").split()]
        return [message["type"].rpartition(".")[2] for message in messages if message["subject"] == listed]

    until(lambda: kinds() == ["listed", "gone"])
    assert guest("test -e /etc/azure-maintenance-watch/credential; echo $?") == "1"


def test_metrics_in_a_folder_of_others(controller: Controller) -> None:
    folder = FIGURES_OF_OTHERS
    guest(f"mkdir -m 0755 {folder}; echo 'other 1' > {folder}/other.prom")
    with pytest.raises(AssertionError) as caught:
        watch(controller, watch_tell_folder="/srv/news", watch_figures_folder=folder)
    words = f"cannot both write to watch_figures_folder {folder}, which belongs to root:root with mode 0755. Next: chgrp azure-maintenance {folder}"
    assert words in " ".join(str(caught.value).split())
    guest(f"chgrp azure-maintenance {folder} && chmod g+rwx {folder}")
    watch(controller, watch_tell_folder="/srv/news", watch_figures_folder=folder)
    until(lambda: len(guest(f"ls {folder}/*.prom").split()) == 3)
    code = guest(f"setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'cat {folder}/*.prom > /dev/null && ! touch {folder}/x'; echo $?", check=False)
    assert code.splitlines()[-1] == "0"
    assert "changed=0" in watch(controller, watch_tell_folder="/srv/news", watch_figures_folder=folder)


def test_removed_without_a_trace(controller: Controller) -> None:
    guest("rm -f /srv/news/*")
    # An empty folder that the role did not make stays, although the watcher's settings name it.
    guest("mkdir /srv/own && chgrp azure-maintenance /srv/own && chmod g+rwx /srv/own")
    watch(controller, watch_tell_folder="/srv/own", watch_figures_folder=FIGURES_OF_OTHERS)
    controller.play("maintenance.azure.watch", watch_state="absent", watch_tell_folder="/srv/own")
    assert found() <= {"/var/lib/azure-maintenance"}
    assert guest("ls -d /srv/own /srv/news 2>/dev/null; true") == "/srv/own"
    # The settings on the VM know the folder of metrics, also where the variable is not given.
    assert guest(f"ls -A {FIGURES_OF_OTHERS}") == "other.prom"
    assert guest(f"stat -c '%U %G %a' {FIGURES_OF_OTHERS}") == "root root 775"
    assert "changed=0" in controller.play("maintenance.azure.watch", watch_state="absent")
