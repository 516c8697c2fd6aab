# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For any text in results, the callback maintenance_progress prints visible text, and no line that imitates one of its own."""

from __future__ import annotations

import json
import pathlib
import types
from typing import Any

import pytest
import yaml
from ansible.executor.stats import AggregateStats
from ansible.utils.display import Display
from hypothesis import given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.callback import maintenance_progress
from ansible_collections.maintenance.azure.plugins.callback.maintenance_progress import CallbackModule
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import INVISIBLE
from ansible_collections.maintenance.azure.plugins.plugin_utils._callback.screen import Coloured, Screen

HOSTILE = "a\x1b[2J\nweb9 : ok\x9b31m\u202e\u2066\u200b\ud800\u2028b\x7f\rc"
SHOWN = "a\\x1b[2J web9 : ok\\x9b31m\\u202e\\u2066\\u200b\\ud800 b\\x7f c"
ANY_TEXT = some.text(some.characters(min_codepoint=0, max_codepoint=0x10FFFF, categories=None), max_size=30) | some.just(HOSTILE)
LIMITS = settings(max_examples=100, derandomize=True, deadline=None)


class Printed(list[str]):
    """What reaches core's display."""

    def lines(self) -> list[str]:
        return [line for text in self for line in text.split("\n")]


@pytest.fixture(name="printed", scope="module")
def _printed() -> Any:
    printed = Printed()
    patch = pytest.MonkeyPatch()
    patch.setattr(Display, "display", lambda self, msg, *arguments, **named: printed.append(str(msg)))
    yield printed
    patch.undo()


def a_result(found: dict[str, Any], action: str = "ansible.builtin.debug", path: str = "/srv/site.yml:7", host: str = "web1") -> Any:
    """A result of a task of a user's own playbook, or of one of this collection's roles."""
    task = types.SimpleNamespace(
        action=action, resolved_action=action, loop=None, no_log=False, check_mode=False, ignore_unreachable=True, _uuid=path,
        get_path=lambda: path, get_name=lambda: "Do it", _parent=None,
    )  # fmt: skip
    return types.SimpleNamespace(_task=task, _host=types.SimpleNamespace(get_name=lambda: host), _result=found, task=task, result=found)


def a_play(path: str = "/srv/site.yml:3", name: str = "Next batch", **extra_vars: Any) -> Any:
    manager = types.SimpleNamespace(extra_vars=extra_vars)
    return types.SimpleNamespace(get_name=lambda: name, check_mode=False, get_path=lambda: path, get_variable_manager=lambda: manager)


def of_role(role: str) -> str:
    return f"{maintenance_progress.COLLECTION}/roles/{role}/tasks/main.yml:7"


def assert_visible(lines: list[str]) -> None:
    for line in lines:
        assert line.isprintable() and not INVISIBLE.search(line), ascii(line)


@LIMITS
@given(ANY_TEXT)
def test_a_message_is_one_line(printed: Printed, text: str) -> None:
    callback = CallbackModule()
    for message in (text, [text, "next"]):
        printed.clear()
        callback._print_debug(a_result({"msg": message}))
        assert len(printed.lines()) == (1 if message is text else 2)
        assert_visible(printed.lines())


def test_columns_of_our_own_lines_stay(printed: Printed) -> None:
    printed.clear()
    CallbackModule()._print_debug(a_result({"msg": ["web1: drained", "  1-service: drained", "2026-11-21  noticed     x"]}))
    assert list(printed) == ["web1: drained", "  1-service: drained", "2026-11-21  noticed     x"]


@LIMITS
@given(ANY_TEXT)
def test_all_output_of_core_is_visible(printed: Printed, text: str) -> None:
    screen = Screen(Display())
    for say in (screen.display, screen.banner, screen.warning, screen.v):
        printed.clear()
        say(text)
        assert_visible(printed.lines())


def test_a_warning_and_a_heading_begin_no_line_but_their_own(printed: Printed) -> None:
    screen = Screen(Display())
    printed.clear()
    screen.warning(f"once: {HOSTILE}")
    screen.banner(f"TASK [{HOSTILE}]")
    text = "\n".join(printed.lines())
    assert "[WARNING]: once: a\\x1b[2J" in text and f"TASK [{SHOWN}]" in text
    assert not [line for line in printed.lines() if line.startswith("web9")]


def test_an_unreachable_host_is_one_line(printed: Printed) -> None:
    printed.clear()
    callback = CallbackModule()
    for msg, words in ((HOSTILE, SHOWN), ("", "no reason given"), (" \n", "no reason given"), ({"a": "\x1b"}, "{'a': '\\x1b'}")):
        callback.v2_runner_on_unreachable(a_result({"msg": msg}))
        assert printed[-1] == f"web1 cannot be reached: {words}"


def test_labels_and_differences(printed: Printed) -> None:
    callback = CallbackModule()
    assert callback._get_item_label({"_ansible_item_label": HOSTILE}) == SHOWN
    assert callback._get_item_label({"item": 5}) == 5
    diff = {"before": {"reason": ""}, "after": {"reason": HOSTILE, HOSTILE: 1}, "after_header": HOSTILE}
    shown = callback._get_diff([diff])
    assert isinstance(shown, Coloured)
    assert_visible(shown.split("\n"))
    assert diff["after"] == {"reason": HOSTILE, HOSTILE: 1}, "others print the result as well"
    printed.clear()
    callback._display.display(shown)
    assert list(printed) == [shown]


def test_the_recap_keeps_its_colours_and_nothing_after_it(printed: Printed) -> None:
    screen = Screen(Display())
    printed.clear()
    with screen.colours():
        screen.display("\x1b[0;32mweb1\x1b[0m")
    screen.display("\x1b[0;32mweb1\x1b[0m")
    assert list(printed) == ["\x1b[0;32mweb1\x1b[0m", "\\x1b[0;32mweb1\\x1b[0m"]


def test_a_paused_fleet_is_one_line_for_a_play(printed: Printed) -> None:
    printed.clear()
    callback = CallbackModule()
    callback.v2_playbook_on_play_start(a_play())
    printed.clear()
    plans: list[Any] = [{}, {"plan": {}}, {"plan": {"paused": None}}, {"plan": {"paused": {"line": 5}}}]
    plans += [{"plan": {"paused": {"line": f"Paused by {HOSTILE}"}}}] * 3
    for found in plans:
        callback.v2_runner_on_ok(a_result(found, "maintenance.azure.plan", of_role("respond")))
    # Another action says nothing about the fleet.
    callback.v2_runner_on_ok(a_result({"plan": {"paused": {"line": "Paused by web1"}}}, "maintenance.azure.maintenance_act", of_role("respond")))
    assert list(printed) == [f"Paused by {SHOWN}"]


def test_the_host_that_cannot_be_reached_is_the_one_where_the_task_runs(printed: Printed) -> None:
    printed.clear()
    callback = CallbackModule()
    for _host in range(2):
        callback.v2_runner_on_unreachable(a_result({"msg": "no route", "_ansible_delegated_vars": {"ansible_delegated_host": "bastion"}}))
    assert printed.lines() == ["bastion cannot be reached: no route"]


def test_an_unreachable_host_is_said_again_only_after_it_answered(printed: Printed) -> None:
    printed.clear()
    callback = CallbackModule()
    for _observation in range(3):
        callback.v2_runner_on_unreachable(a_result({"msg": "no route"}))
    callback.v2_runner_on_ok(a_result({"records": []}, "maintenance.azure.maintenance_info", of_role("observe")))
    callback.v2_runner_on_unreachable(a_result({"msg": "no route"}))
    # As maintenance_act returns it where it was given the VM's settings.
    callback.v2_runner_on_failed(a_result({"msg": "no route", "failed": True, "not_reached": True}, "maintenance.azure.maintenance_act", of_role("respond")))
    assert list(printed) == ["web1 cannot be reached: no route"] * 2


def test_vms_that_are_switched_off_share_a_line_of_the_recap(printed: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    own: list[str] = []
    monkeypatch.setattr(maintenance_progress.Default, "v2_playbook_on_stats", lambda _self, stats: own.extend(stats.processed))
    callback, stats = CallbackModule(), AggregateStats()
    for host, rescued in (("web1", 0), ("web2", 1), ("web3", 1)):
        stats.increment("ok", host)
        stats.rescued.update({host: rescued})
    callback.v2_runner_on_failed(
        a_result({"msg": "no route", "failed": True, "not_reached": True}, "maintenance.azure.maintenance_act", of_role("respond"), host="web2")
    )
    printed.clear()
    callback.v2_playbook_on_stats(stats)
    assert own == ["web3"]
    assert list(printed) == ["2 more hosts: no task failed, nothing changed, 1 not reached, or with a failure that was ignored"]


def test_changes_of_the_machinery_are_no_lines_and_those_of_others_are(printed: Printed) -> None:
    printed.clear()
    callback = CallbackModule()
    for role in ("respond", "drain", "gate", "upgrade"):
        callback.v2_runner_on_ok(a_result({"changed": True}, "ansible.builtin.set_fact", of_role(role)))
    assert list(printed) == []
    callback.v2_runner_on_ok(a_result({"changed": True}, "ansible.builtin.command"))
    callback.v2_runner_on_ok(a_result({"changed": True}, "awx.awx.project", of_role("awx")))
    callback.v2_runner_item_on_ok(a_result({"changed": True, "_ansible_item_label": HOSTILE}, "ansible.builtin.copy"))
    callback.v2_runner_on_ok(a_result({"changed": False}, "ansible.builtin.command"))
    assert list(printed) == ["web1  changed  Do it", "web1  changed  Do it", f"web1  changed  Do it ({SHOWN})"]


@pytest.mark.parametrize("action", ["maintenance_info", "maintenance_act", "maintenance_record"])
def test_a_phase_in_a_result_is_a_line(printed: Printed, action: str) -> None:
    callback = CallbackModule()
    callback.v2_runner_on_ok(a_result({"records": []}, "maintenance.azure.maintenance_info", of_role("observe")))
    printed.clear()
    history = [{"phase": "failed", "at": "2027-01-15T08:00:00Z"}]
    record = {"event": {"event_id": HOSTILE}, "phase": "failed", "reason": HOSTILE, "history": history}
    found = {"changed": True, "record": record}
    delegated = {"_ansible_delegated_vars": {"ansible_delegated_host": "web2"}}
    callback.v2_runner_on_ok(a_result({**found, **delegated}, f"maintenance.azure.{action}", of_role("drain")))
    assert list(printed) == [], "what is kept for another VM"
    callback.v2_runner_on_ok(a_result(found, f"maintenance.azure.{action}", of_role("drain")))
    assert len(printed) == 1
    assert printed[0].startswith("web1  a\\x1b[2J web9") and " failed " in printed[0]
    assert_visible(printed.lines())


def test_a_message_of_the_machinery_is_said_once_in_a_batch(printed: Printed) -> None:
    printed.clear()
    callback = CallbackModule()
    for seconds in (5, 30, 60):
        callback.v2_runner_on_ok(a_result({"msg": f"Waited {seconds} s so far: web1 drains. Next observation within 5 s."}, path=of_role("respond")))
        callback.v2_runner_on_ok(a_result({"msg": "mine"}))
    callback.v2_playbook_on_play_start(a_play())
    callback.v2_runner_on_ok(a_result({"msg": "Waited 90 s so far: web1 drains. Next observation within 5 s."}, path=of_role("respond")))
    said = [line for line in printed.lines() if line and not line.startswith("PLAY")]
    assert [line.split(":")[0] for line in said] == ["Waited 5 s so far", "mine", "mine", "mine", "Waited 90 s so far"]


def test_the_plays_of_playbook_respond_are_one(printed: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    for file, names in maintenance_progress.PLAYS.items():
        plays = yaml.safe_load(pathlib.Path(f"{maintenance_progress.COLLECTION}{file}").read_text())
        assert tuple(play["name"] for play in plays) == names
    plays = yaml.safe_load((maintenance_progress.COLLECTION / "playbooks" / "respond.yml").read_text())
    first, second, *again, third, last = (a_play(f"/srv/project/playbooks/respond.yml:{line}", play["name"]) for line, play in enumerate(plays, 7))
    callback = CallbackModule()

    def headings(play: Any, has_hosts: bool = True) -> list[str]:
        printed.clear()
        callback.v2_playbook_on_play_start(play)
        if not has_hosts:
            callback.v2_playbook_on_no_hosts_matched()
        callback.v2_runner_on_ok(a_result({"plan": {"paused": {"line": "Paused by alice"}}}, "maintenance.azure.plan", of_role("respond")))
        return [line for line in printed.lines() if line]

    for _import in range(2):
        assert [line[:15] for line in headings(first)] == ["PLAY [Take Azur", "Paused by alice"]
        assert [line for play in (second, *again) for line in headings(play, has_hosts=False)] == headings(third) == headings(last, has_hosts=False) == []
    assert headings(first, has_hosts=False)[1:2] == ["skipping: no hosts matched"], "an empty fleet"
    others = [a_play(), a_play(), a_play("/srv/playbooks/respond.yml:1"), a_play("/srv/playbooks/respond.yml:9"), a_play("/srv/site.yml:9", "Report")]
    assert [len(headings(play)) for play in others] == [2] * 5, "each batch of another play has a heading of its own"
    assert headings(a_play(), has_hosts=False)[1] == "skipping: no hosts matched"
    monkeypatch.setattr(CallbackModule, "_is_verbose", lambda _callback: True)
    callback.v2_playbook_on_play_start(first)
    printed.clear()
    callback.v2_playbook_on_play_start(second)
    callback.v2_playbook_on_no_hosts_matched()
    assert len([line for line in printed.lines() if line]) == 2, "-v shows each play"


def test_a_failure_of_the_machinery_that_repeats_is_printed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[str] = []
    monkeypatch.setattr(maintenance_progress.Default, "v2_runner_on_failed", lambda self, result, ignored: failures.append(result._result["msg"]))
    callback = CallbackModule()
    for _observation in range(3):
        callback.v2_runner_on_failed(a_result({"msg": "no answer"}, path=of_role("observe")))
        callback.v2_runner_on_failed(a_result({"msg": "no answer"}, path=of_role("observe"), host="web2"))
        callback.v2_runner_on_failed(a_result({"msg": "mine"}))
    assert failures == ["no answer", "no answer", "mine", "mine", "mine"]


@pytest.mark.parametrize("name", ["act", "history"])
def test_a_vm_that_could_not_be_observed_is_no_error_of_the_run(printed: Printed, name: str) -> None:
    """The next task reports it in one line."""
    callback = CallbackModule()
    printed.clear()
    path = f"{maintenance_progress.COLLECTION}/roles/respond/tasks/{name}.yml:8"
    callback.v2_runner_on_failed(a_result({"msg": HOSTILE, "failed": True}, f"maintenance.azure.maintenance_{name}", path))
    assert printed == []


@pytest.mark.parametrize(("once", "line"), [(True, f"FAILED: {SHOWN}"), (False, f"FAILED: web1: {SHOWN}")])
@pytest.mark.parametrize(
    "action",
    [
        "ansible.builtin.fail",
        *(f"maintenance.azure.{name}" for name in ("plan", "check_settings", "report_view", "status_view", "watcher_drain", "watcher_python")),
    ],
)
def test_a_failure_in_our_words_is_one_line(printed: Printed, monkeypatch: pytest.MonkeyPatch, action: str, once: bool, line: str) -> None:
    callback = CallbackModule()
    monkeypatch.setattr(callback, "get_option", lambda _name: False)
    said = a_result({"msg": HOSTILE, "failed": True}, action, of_role("respond"))
    said._task.run_once = once
    printed.clear()
    callback.v2_runner_on_failed(said)
    assert printed.lines() == [line]


def test_a_failure_without_words_says_why(printed: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no_log at a play of the user core leaves nothing else of a result."""
    callback = CallbackModule()
    monkeypatch.setattr(callback, "get_option", lambda _name: False)
    printed.clear()
    for left in ({"censored": "the output has been hidden"}, {}):
        said = a_result(left, "ansible.builtin.fail", of_role("respond"))
        said._task.run_once = True
        callback.v2_runner_on_failed(said)
    assert [line.rpartition(": ")[2] for line in printed.lines()] == ["the output has been hidden", "no reason given"]


@pytest.mark.parametrize(("name", "tasks"), [("status", "status"), ("report", "history")])
def test_data_is_alone_on_standard_output(monkeypatch: pytest.MonkeyPatch, name: str, tasks: str) -> None:
    shown: list[tuple[str, bool]] = []
    monkeypatch.setattr(Display, "display", lambda _self, msg, *_arguments, **named: shown.append((str(msg), bool(named.get("stderr")))))
    callback = CallbackModule()
    callback.v2_playbook_on_play_start(a_play(f"{maintenance_progress.COLLECTION}/playbooks/{name}.yml:8", **{f"{name}_format": "json"}))
    callback.v2_runner_on_ok(a_result({"msg": {"events": [HOSTILE]}}, path=f"{maintenance_progress.COLLECTION}/roles/respond/tasks/{tasks}.yml:30"))
    callback._display.display("PLAY RECAP")
    on_stdout = [text for text, is_stderr in shown if not is_stderr]
    assert len(on_stdout) == 1 and list(json.loads(on_stdout[0])) == ["events"]
    assert_visible(on_stdout[0].split("\n"))
    assert ("PLAY RECAP", True) in shown


@pytest.mark.parametrize("play", [a_play(status_format="json"), a_play(f"{maintenance_progress.COLLECTION}/playbooks/status.yml:8")])
def test_all_else_stays_on_standard_output(monkeypatch: pytest.MonkeyPatch, play: Any) -> None:
    shown: list[bool] = []
    monkeypatch.setattr(Display, "display", lambda _self, _msg, *_arguments, **named: shown.append(bool(named.get("stderr"))))
    CallbackModule().v2_playbook_on_play_start(play)
    assert shown and not any(shown)


def test_the_former_name_leads_here() -> None:
    routing = yaml.safe_load((maintenance_progress.COLLECTION / "meta" / "runtime.yml").read_text())["plugin_routing"]["callback"]
    assert routing["brief"]["redirect"] == CallbackModule.CALLBACK_NAME
    assert pathlib.Path(maintenance_progress.__file__).stem == CallbackModule.CALLBACK_NAME.rpartition(".")[2]
