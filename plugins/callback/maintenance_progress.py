# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Output of runs: one line for each new phase. See DOCUMENTATION."""

from __future__ import annotations

DOCUMENTATION = r"""
name: maintenance_progress
type: stdout
short_description: Print the progress of events, without the tasks behind it
version_added: 2.0.0
author: [The maintenance.azure authors (@maintenance-azure)]
description:
  - For runs of this collection's playbooks and roles, by hand and on a schedule. P(ansible.builtin.default#callback) prints a line for each task and
    host. This one prints a line for each new phase of an event on a VM, such as C(web1  C7061BAC  drained).
  - While the fleet is paused (O(maintenance.azure.respond#role:main:respond_paused)), a line says so before all others.
  - It also prints what failed, what could not be reached, warnings, and the messages of M(ansible.builtin.debug), as plain lines. A run that waits
    prints its reason once, and again when the reason changes.
  - Of tasks that are not part of this collection's roles for maintenance, it prints a line for each host on which they changed something.
  - The recap has a line for each host on which something failed, was rescued or could not be reached, and one for all others together. So a run with
    nothing to do has the same few lines for any number of hosts.
  - With C(-v) or more it prints what P(ansible.builtin.default#callback) prints.
  - Whatever it prints comes without control, bidi and invisible characters; they are written as C(\x1b) and C(\u202e), and the line breaks of a
    message as spaces. With C(-v) as well.
  - It has the options of P(ansible.builtin.default#callback). Those about hosts that are ok, skipped or included make no difference.
  - Its name was C(maintenance.azure.brief) before 2.0.0. That name still works until 3.0.0.
extends_documentation_fragment: [default_callback]
requirements:
  - Set as stdout callback, for example with E(ANSIBLE_STDOUT_CALLBACK) or C(stdout_callback) in C(ansible.cfg). ansible-runner, and so AWX, puts its own
    callback in front and passes on to this one, if E(ANSIBLE_STDOUT_CALLBACK) or E(ORIGINAL_STDOUT_CALLBACK) name it. The execution environment of
    this collection does so.
seealso: [{plugin: ansible.builtin.default, plugin_type: callback}]
"""

import json
import pathlib
import typing as t

from ansible import constants as C
from ansible.plugins.callback.default import CallbackModule as Default

from ..module_utils._scheduled_events.core.printable_text import printable, printable_line
from ..plugin_utils._callback.phases import Phases, Repeats
from ..plugin_utils._callback.screen import Coloured, Screen, printable_lines, screened
from ..plugin_utils._core.plain_values import mapping, plain

COLLECTION = pathlib.Path(__file__).parents[2]
# Roles whose changes are records, leases and drains: their phases are printed instead.
MACHINERY = tuple(f"{COLLECTION}/roles/{role}/" for role in ("respond", "observe", "drain", "approve", "recover", "gate", "upgrade"))
# Modules whose results have records of the host that they run on.
WITH_RECORDS = tuple(f"maintenance.azure.{module}" for module in ("maintenance_info", "maintenance_act", "maintenance_record"))
# With status_format=json or report_format=json their standard output is for programs.
DATA_PLAYS = {f"{COLLECTION}/playbooks/{name}.yml": f"{name}_format" for name in ("status", "report")}
# The plays of these playbooks, of the collection or of a project that is a checkout of it. They are one to a person. In respond the first observes all VMs,
# the second has only those that act, three go on after tasks that have ended a host; the last one of each has no hosts, and checks that a report was made.
RESPOND_PLAYS = (
    "Take Azure VMs through maintenance",
    "Act and wait, unless nothing is left to do",
    *["Go on after tasks that have ended a host"] * 3,
    "Report",
    "Check that the pass has reported",
)
PLAYS = {
    "/playbooks/respond.yml": RESPOND_PLAYS,
    "/playbooks/status.yml": ("Show the state of maintenance", "Check that the state was read"),
    "/playbooks/decide.yml": ("Record a manual override", "Check that the state was read"),
    "/playbooks/report.yml": ("Report past maintenance", "Check that the report was made"),
    "/playbooks/watch.yml": ("Notice Scheduled Events within a second", "Check that the watcher was taken care of"),
}
DATA_ROLES = tuple(f"{COLLECTION}/roles/respond/tasks/{name}.yml" for name in ("status", "history"))
# Actions whose failure is one sentence for operators.
VERDICTS = (
    *(f"{place}{name}" for place in ("", "ansible.builtin.") for name in ("assert", "fail")),
    *(f"maintenance.azure.{name}" for name in ("plan", "check_override", "check_settings", "check_upgrade", "report_view", "status_view")),
    *(f"maintenance.azure.watcher_{name}" for name in ("drain", "settings", "rights", "python")),
)
# The action whose result has the plan.
PLAN = "maintenance.azure.plan"
# The tasks that run these modules, each with a rescue.
RESCUED = {f"maintenance.azure.maintenance_{name}": f"{COLLECTION}/roles/respond/tasks/{name}" for name in ("act", "history")}
NOTABLE = ("dark", "failures", "rescued")
COLOURS = {"failed": C.COLOR_ERROR, "held": C.COLOR_WARN, "recovered": C.COLOR_OK}


class CallbackModule(Default):
    """The default callback, with phases of events in the place of tasks."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "maintenance.azure.maintenance_progress"

    def __init__(self) -> None:
        super().__init__()
        self._display: t.Any = Screen(self._display)
        self._phases = Phases()
        self._repeats = Repeats()
        # Whether the current play takes over from the one before.
        self._continues = False
        self._not_reached: set[str] = set()

    def _get_item_label(self, result: t.Any) -> t.Any:
        label = super()._get_item_label(result)
        return printable(label) if isinstance(label, str) else label

    def _dump_results(self, *arguments: t.Any, **named: t.Any) -> t.Any:
        """Make results printable, in the recap too, where colours are allowed. JSON escapes line breaks, but few other control characters."""
        dumped = super()._dump_results(*arguments, **named)
        return printable_lines(dumped) if isinstance(dumped, str) else dumped

    def _get_diff(self, difflist: t.Any) -> str:
        """Return a coloured diff. The colours are core's; the text may come from a VM and is made printable first."""
        return Coloured(super()._get_diff(screened(plain(difflist))))

    def _is_verbose(self) -> bool:
        """Return whether the default callback's output was requested (-v)."""
        return bool(self._display.verbosity)

    def _task_start(self, task: t.Any, prefix: str | None = None) -> None:
        """Print the heading of a task together with the first line under it, if there is one."""
        if self._is_verbose():
            super()._task_start(task, prefix)
            return
        if prefix is not None:
            self._task_type_cache[task._uuid] = prefix
        # With strategy free, tasks of several hosts interleave; each line then gets its own heading.
        self._last_task_name = task.get_name().strip() if self._play.strategy in ("linear", "ansible.builtin.linear") else None

    def v2_playbook_on_play_start(self, play: t.Any) -> None:
        self._continues = _continues(getattr(self, "_play", None), play)
        if self._continues and not self._is_verbose():
            self._play = play
            return
        # Each batch of a play with serial begins here, and has messages of its own.
        self._repeats.clear()
        variables = play.get_variable_manager()
        option = DATA_PLAYS.get(str(play.get_path()).rpartition(":")[0])
        if option and (variables.extra_vars if variables else {}).get(option) == "json":
            self._display.everything_to_stderr()
        super().v2_playbook_on_play_start(play)

    def v2_playbook_on_no_hosts_matched(self) -> None:
        """Print that a play has no host, but not of the play that a pass without actions passes over."""
        if self._is_verbose() or not self._continues:
            super().v2_playbook_on_no_hosts_matched()

    def v2_runner_on_ok(self, result: t.Any) -> None:
        if self._is_verbose():
            super().v2_runner_on_ok(result)
            return
        self._handle_warnings(result._result)
        self._print_pause(result)
        self._print_phases(result)
        if "results" in result._result and result._task.loop:
            return  # each item has had its lines
        self._print_change_or_debug(result)

    def v2_runner_item_on_ok(self, result: t.Any) -> None:
        if self._is_verbose():
            super().v2_runner_item_on_ok(result)
            return
        self._handle_warnings(result._result)
        self._print_change_or_debug(result, f" ({self._get_item_label(result._result)})")

    def v2_runner_on_skipped(self, result: t.Any) -> None:
        if self._is_verbose():
            super().v2_runner_on_skipped(result)
        else:
            self._handle_warnings(result._result)

    def v2_runner_item_on_skipped(self, result: t.Any) -> None:
        if self._is_verbose():
            super().v2_runner_item_on_skipped(result)

    def v2_runner_on_failed(self, result: t.Any, ignore_errors: bool = False) -> None:
        """Print a failure like core; one of the machinery that is tried again and fails in the same way only once."""
        if self._is_verbose():
            super().v2_runner_on_failed(result, ignore_errors)
            return
        if result._result.get("not_reached") is True:
            self._not_reached.add(result._host.get_name())
            self._print_unreachable(result)
            return
        self._print_phases(result)
        if _is_rescued(result._task):
            self._handle_warnings(result._result)
            return
        if _is_verdict(result._task):
            self._print_verdict(result)
            return
        subject = ("failed", result._task.get_path(), result._host.get_name())
        if not _is_machinery(result._task) or self._repeats.is_new(subject, printable(result._result.get("msg"))):
            super().v2_runner_on_failed(result, ignore_errors)
        else:
            self._handle_warnings(result._result)

    def _print_verdict(self, result: t.Any) -> None:
        self._handle_warnings(result._result)
        # A task that runs once speaks for all hosts.
        where = "" if result._task.run_once else f"{result._host.get_name()}: "
        # With no_log core leaves a sentence that says so.
        line = printable_line(f"FAILED: {where}{result._result.get('msg') or result._result.get('censored') or 'no reason given'}")
        self._display.display(line, color=C.COLOR_ERROR, stderr=self.get_option("display_failed_stderr"))

    def v2_runner_on_unreachable(self, result: t.Any) -> None:
        """Print one line if the play continues without the host: fleets have machines that are switched off."""
        if self._is_verbose() or not result._task.ignore_unreachable:
            super().v2_runner_on_unreachable(result)
            return
        self._print_unreachable(result)

    def _print_unreachable(self, result: t.Any) -> None:
        # A task for one host may run on another, which is the one that cannot be reached.
        host = str(mapping(result._result.get("_ansible_delegated_vars")).get("ansible_delegated_host") or result._host.get_name())
        reason = printable(result._result.get("msg") or "") or "no reason given"
        if self._repeats.is_new(("unreachable", host), reason):
            self._display.display(f"{host} cannot be reached: {reason}", color=C.COLOR_UNREACHABLE)

    def v2_playbook_on_include(self, included_file: t.Any) -> None:
        if self._is_verbose():
            super().v2_playbook_on_include(included_file)

    def v2_playbook_on_stats(self, stats: t.Any) -> None:
        if self._is_verbose():
            with self._display.colours():
                super().v2_playbook_on_stats(stats)
            return
        all_hosts = stats.processed
        # A VM that was not reached counts as rescued, and has had its line.
        notable = {
            host: 1 for host in all_hosts if any(getattr(stats, kind).get(host) for kind in NOTABLE if kind != "rescued" or host not in self._not_reached)
        }
        stats.processed = notable
        try:
            with self._display.colours():
                super().v2_playbook_on_stats(stats)
        finally:
            stats.processed = all_hosts
        self._display.display(_others(stats, [host for host in all_hosts if host not in notable], bool(notable), self._not_reached))

    def _print_phases(self, result: t.Any) -> None:
        """Print the phases that are new in the records of the host. Replicas of other VMs' records do not count."""
        action = getattr(result._task, "resolved_action", None) or result._task.action
        if action not in WITH_RECORDS or result._result.get("_ansible_delegated_vars"):
            return
        host = result._host.get_name()
        self._repeats.forget(("unreachable", host))
        for line in self._phases.news(host, result._result):
            self._display.display(printable_line(line.text), color=COLOURS.get(line.phase, C.COLOR_CHANGED))

    def _print_pause(self, result: t.Any) -> None:
        """Print once for a play that the fleet is paused, as soon as the first plan says so."""
        if result._task.action != PLAN:
            return
        line = mapping(mapping(result._result.get("plan")).get("paused")).get("line")
        if isinstance(line, str) and self._repeats.is_new("paused", line):
            self._display.display(printable_line(line), color=C.COLOR_WARN)

    def _print_change_or_debug(self, result: t.Any, item: str = "") -> None:
        if result._task.action in C._ACTION_DEBUG:
            self._print_debug(result)
        elif result._result.get("changed", False) and not _is_machinery(result._task) and result._task.action not in C._ACTION_ALL_INCLUDES:
            line = f"{result._host.get_name()}  changed  {result._task.get_name().strip()}{item}"
            self._display.display(printable_line(line), color=C.COLOR_CHANGED)

    def _print_debug(self, result: t.Any) -> None:
        """Print the output of a debug task: its message as lines, or the variable that it shows."""
        found = result._result
        if found.get("_ansible_no_log"):
            return
        if "msg" not in found:
            self._display.display(self._dump_results({key: value for key, value in found.items() if not key.startswith("_")}, indent=2))
            return
        message = found["msg"]
        if isinstance(message, dict) and str(result._task.get_path() or "").startswith(DATA_ROLES):
            # In ASCII, so that nothing in it is invisible, and it stays JSON.
            self._display.data(json.dumps(plain(message), indent=2))
            return
        subject = ("said", result._task.get_path(), result._host.get_name())
        if _is_machinery(result._task) and not self._repeats.is_new(subject, printable(message)):
            return
        for line in message if isinstance(message, list) else [message]:
            # A line break in a message must not start a line that looks like another message.
            self._display.display(printable_line(line) if isinstance(line, str) else self._dump_results({"msg": line}, indent=2))


def _place_of(play: t.Any) -> int:
    """Return the place of a play among those of its playbook, from 1; 0 for a play of any other playbook."""
    file = str(play.get_path() or "").rpartition(":")[0] if play is not None else ""
    plays = next((names for end, names in PLAYS.items() if file.endswith(end)), ())
    return plays.index(name) + 1 if plays and (name := play.get_name().strip()) in plays else 0


def _continues(before: t.Any, play: t.Any) -> bool:
    """Return whether a play of one of these playbooks takes over from the one before, which a second import of the playbook does not."""
    return 0 < _place_of(before) <= (place := _place_of(play)) and place > 1


def _is_rescued(task: t.Any) -> bool:
    """Return whether the next task reports the failure in one line: that a VM cannot be observed is no error of the run."""
    place = RESCUED.get(getattr(task, "resolved_action", None) or task.action)
    return place is not None and str(task.get_path() or "").startswith(place)


def _is_verdict(task: t.Any) -> bool:
    """Return whether a failure of the task is a sentence of this collection, to which the place of the task and core's chain of causes add nothing."""
    return task.action in VERDICTS and not task.loop and str(task.get_path() or "").startswith(f"{COLLECTION}/")


def _is_machinery(task: t.Any) -> bool:
    """Return whether the task is in a role of this collection that takes VMs through maintenance. A user's own task files are not."""
    return str(task.get_path() or "").startswith(MACHINERY)


def _others(stats: t.Any, others: t.Sequence[str], are_more: bool, not_reached: t.Collection[str]) -> str:
    """Return the line of the recap for all hosts that have none of their own."""
    if not others:
        return ""
    changed = sum(1 for host in others if stats.changed.get(host))
    ignored = sum(1 for host in others if stats.ignored.get(host) or host in not_reached)
    hosts = f"{len(others)} {'more ' if are_more else ''}host{'' if len(others) == 1 else 's'}"
    line = f"{hosts}: no task failed, {f'{changed} changed' if changed else 'nothing changed'}"
    return f"{line}{f', {ignored} not reached, or with a failure that was ignored' if ignored else ''}"
