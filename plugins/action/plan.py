# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import secrets
import string
import time
import typing as t

from ansible.errors import AnsibleError
from ansible.utils.display import Display
from ansible.utils.vars import load_extra_vars

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._controller import start_gate
from ..plugin_utils._core.plain_values import items, mapping, number, plain, text, texts
from ..plugin_utils._drain.settings.validation import find_task_file
from ..plugin_utils._loop import drain_loop, gate_loop, pass_loop, vm_settings
from ..plugin_utils._loop.observations import HostResults
from ..plugin_utils._maintenance.config import policy as policies
from ..plugin_utils._maintenance.config import settings as settings_module
from ..plugin_utils._maintenance.config import start_when, timing
from ..plugin_utils._maintenance.config.policy import PolicyError
from ..plugin_utils._maintenance.config.settings import SettingsError
from ..plugin_utils._maintenance.config.start_when import StartWhenError
from ..plugin_utils._maintenance.observe import expected_identity
from ..plugin_utils._maintenance.observe.reading import ObservationError
from ..plugin_utils._maintenance.planner import PlanError
from ..plugin_utils._maintenance.upgrade.gate_request import GateError
from ..plugin_utils._settings import fleet_settings, near_misses, play_keywords, vm_variables
from ..plugin_utils._settings.facts import refused_hosts, why_refused, why_refused_extra
from ..plugin_utils._settings.option_types import wrong_options
from ..plugin_utils._settings.renamed import refused_variables
from ..plugin_utils._settings.tasks_files import TasksFileError

# Letters and digits, because run ids become part of file names on the VMs.
RUN_ID_LETTERS, RUN_ID_LENGTH = string.ascii_lowercase + string.digits, 12
BEGIN = {
    "policy": {"type": "raw", "default": "default"},
    "settings": {"type": "dict", "default": {}},
    "who": {"type": "str", "default": ""},
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 7200},
    "confirm_end": {"type": "bool", "default": True},
    "observation_seconds": {"type": "int", "default": 30},
    "notify_tasks": {"type": "str", "default": ""},
    "places": {"type": "list", "elements": "str", "default": []},
    "start_when": {"type": "raw"},
    "only_shows": {"type": "bool", "default": False},
}
BEGIN_GATE = {
    "ask": {"type": "dict", "required": True},
    "policy": {"type": "raw", "default": "default"},
    "settings": {"type": "dict", "default": {}},
    "run": {"type": "str", "required": True},
    "who": {"type": "str", "default": ""},
    "wait_timeout": {"type": "int", "default": 3600},
    "keepers": {"type": "list", "elements": "str", "default": []},
    "places": {"type": "list", "elements": "str", "default": []},
}
BEGIN_METHODS = {
    "action": {"type": "str", "choices": [drain_loop.DRAIN, drain_loop.RECOVER], "required": True},
    "upgrade": {"type": "str", "required": True},
    "since": {"type": "str", "required": True},
    "places": {"type": "list", "elements": "str", "default": []},
}
SPEC = {
    "begin": {"type": "dict", "options": BEGIN},
    "begin_gate": {"type": "dict", "options": BEGIN_GATE},
    "begin_methods": {"type": "dict", "options": BEGIN_METHODS},
    "check_settings": {"type": "list", "elements": "str"},
    "go_on": {"type": "str"},
    "check_only": {"type": "bool", "default": False},
}
ONE_OF = (("begin", "begin_gate", "begin_methods", "check_settings", "go_on"),)
EXCLUSIVE = (("begin", "begin_gate", "begin_methods", "check_settings"), ("begin_gate", "go_on"), ("begin_methods", "go_on"), ("check_settings", "go_on"))
# With these each host goes on by itself, and a plan would be made of observations that are not there yet.
FREE = frozenset(f"{place}{name}" for place in ("", "ansible.builtin.", "ansible.legacy.") for name in ("free", "host_pinned"))
NEEDS_LINEAR = (
    "it needs the strategy linear, with which the hosts of a play do each task together. This play has the strategy {} (in the play, or in the "
    "configuration of Ansible). Nothing was done"
)
SKIPPED = "a condition (when) around role respond leaves out {}: choose its VMs with the hosts of the play. Nothing was done"
WRONG_INPUT = (
    GateError,
    vm_settings.WrongSettings,
    ObservationError,
    PlanError,
    PolicyError,
    SettingsError,
    StartWhenError,
    TasksFileError,
    pass_loop.LoopError,
)


class ActionModule(OnController):
    """Plan, on the controller. What lasts from one iteration to the next is in the registered result."""

    spec = SPEC
    rules: t.ClassVar = {"mutually_exclusive": EXCLUSIVE, "required_one_of": ONE_OF}
    wrong_input = WRONG_INPUT

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        # By the names that operators set, before the values are checked under those of begin.
        if self._task.args.get("check_only"):
            if wrong := wrong_options("respond", task_vars or {}, self._templar.template):
                return {"failed": True, "msg": printable(wrong, LONGEST_LINE)}
            # Not as the value of an argument: core would report a setting that cannot be evaluated without its name.
            if name := self._task.args.pop("begin_variable", None):
                self._task.args["begin"] = self._templar.template((task_vars or {}).get(name))
        return super().run(tmp, task_vars)

    def answer(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
        state = self._state(arguments, variables)
        Display().v(_progress(state))
        return {**state, **_statistics(state)}

    def _state(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
        results = _Results(variables["hostvars"])
        if arguments["begin"] is not None:
            return self._begin(arguments, results, variables)
        if arguments["begin_gate"] is not None:
            return self._begin_gate(arguments["begin_gate"], results, variables)
        if arguments["begin_methods"] is not None:
            return _begin_methods(arguments["begin_methods"], results, variables)
        if arguments["check_settings"] is not None:
            return _check_settings(_names(arguments["check_settings"]), results, variables)
        return _go_on(arguments["go_on"], results, variables)

    def _begin(self, arguments: dict[str, t.Any], results: _Results, variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
        """Freeze the request of the pass before any VM is observed; or begin with the frozen request after the first observation."""
        if arguments["check_only"]:
            # Facts with settings override the inventory. So settings are read after the observation, from a host without such facts.
            if why_refused(variables.get("ansible_facts")):
                return {}
            if wrong := refused_variables(variables) or self._wrong_surroundings(variables):
                raise pass_loop.LoopError(wrong)
            return {"request": self._request(arguments["begin"])}
        frozen = mapping(variables.get(arguments["go_on"] or "")).get("request")
        request = t.cast("pass_loop.Request", frozen) if frozen is not None else self._request(arguments["begin"])
        # Not hosts of other batches, nor failed hosts: their registered results are old.
        hosts, present = (_names(variables.get(name)) for name in ("ansible_play_hosts_all", "ansible_play_batch"))
        here = set(present)

        def of(host: str) -> HostResults:
            return results.of(host) if host in here else results.absent(host)

        if skipped := [host for host in present if mapping(results.of(host).observed).get("skipped") is True]:
            raise pass_loop.LoopError(SKIPPED.format(", ".join(skipped)))
        given = {host: results.vm_settings(host) for host in hosts}
        misspelt = _warn(variables, results, hosts) + self._without_effect(variables, [host for host in present if not why_refused(results.facts(host))])
        return pass_loop.begin({**request, "misspelt": misspelt}, hosts, present, given, of, time.time(), _ask, results.inventory)

    def _without_effect(self, variables: dict[str, t.Any], hosts: list[str]) -> list[str]:
        """Warn of settings that have no effect where they are, and return the warnings."""
        found = settings_module.without_effect(self._templar.template(variables.get("respond_timing")))
        first = str(variables["inventory_hostname"])
        # Not templated: evaluating each setting of each host would take longer than the plan.
        raw = {host: variables["hostvars"].raw_get(host) for host in (first, *hosts)}
        return _display(found + fleet_settings.differing(first, raw))

    def _wrong_surroundings(self, variables: dict[str, t.Any]) -> str | None:
        """Return what is wrong with the play, role or block around the role, or with the command line."""
        # A task stands in a block, which knows its play.
        strategy = str(getattr(getattr(getattr(self._task, "_parent", None), "_play", None), "strategy", None) or "linear")
        if strategy in FREE:
            return NEEDS_LINEAR.format(strategy)
        hosts = len(_names(variables.get("ansible_play_hosts_all")))
        return why_refused_extra(load_extra_vars(self._loader)) or play_keywords.refused(self._task, hosts)

    def _request(self, given: dict[str, t.Any]) -> pass_loop.Request:
        request: pass_loop.Request = {
            "policy": _rules(given["policy"]),
            "settings": {**plain(given["settings"]), "run": self._run(_new_run_id(), given["who"], "events")},
            "wait": given["wait"],
            "wait_timeout": float(given["wait_timeout"]),
            "confirm_end": given["confirm_end"],
            "misspelt": [],
            "observation_seconds": float(given["observation_seconds"]),
            "notify_tasks": self._notify_tasks(given),
            "places": _names(given["places"]),
            "check_mode": bool(self._task.check_mode),
            "start_when": start_when.load(given["start_when"]),
            "runs_commands": not (self._task.check_mode or given["only_shows"]),
            "secret": secrets.token_hex(16),
        }
        timing.refuse_out_of_bounds(settings_module.load(request["settings"]))
        if float(given["wait_timeout"]) < 0:
            raise SettingsError(f"respond_wait_timeout is {given['wait_timeout']}; it must be 0 or more seconds")
        return request

    def _notify_tasks(self, given: dict[str, t.Any]) -> str:
        """Return the path of the tasks that notify; empty without any. A file that cannot be included would end the run amid its work."""
        name, places = given["notify_tasks"], _names(given["places"])
        path = find_task_file(name, places) if name else ""
        if path is None:
            raise SettingsError(f"respond_notify_tasks: there is no file {name} in {', '.join(places)}. Nothing was done")
        return path and self.tasks_file("respond_notify_tasks", path)

    def _begin_gate(self, given: dict[str, t.Any], results: _Results, variables: dict[str, t.Any]) -> gate_loop.GateState:
        request: gate_loop.GateRequest = {
            "ask": plain(given["ask"]),
            "policy": _rules(given["policy"]),
            "settings": {**plain(given["settings"]), "run": self._run(given["run"], given["who"], "upgrade")},
            "wait_timeout": float(given["wait_timeout"]),
            "places": _names(given["places"]),
            "check_mode": bool(self._task.check_mode),
        }
        timing.refuse_out_of_bounds(settings_module.load(request["settings"]), gate=True)
        members = gate_loop.members_of(request, _names(given["keepers"]))
        _warn(variables, results, members)
        batch = set(texts(request["ask"].get("batch")))
        present = [host for host in _names(variables.get("ansible_play_hosts")) if host in batch]
        return gate_loop.begin(request, members, present, list(refused_hosts(members, variables["hostvars"])), time.time())

    def _run(self, run_id: str, who: str, kind: str) -> dict[str, str]:
        """Return the run, as its leases name it. In check mode it acquires none."""
        return {"id": "" if self._task.check_mode else run_id, "who": who, "kind": kind}


def _statistics(state: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the statistics of a pass that is over, or that only shows the state. ansible-playbook takes them from the result, so no task sets them."""
    if not (state.keys() >= pass_loop.KEYS and (state["do"] == "end" or not state["request"]["runs_commands"])):
        return {}
    # One dictionary, because ansible-core 2.18 would turn single numbers into text. AWX passes it to the next nodes of a workflow.
    numbers = {**state["plan"]["counts"], "next_look_in": state["plan"]["next_look_in"]}
    return {"ansible_stats": {"data": {"respond_stats": numbers}, "per_host": False, "aggregate": False}}


def _ask(request: pass_loop.Request) -> t.Mapping[str, t.Any]:
    """Ask the start gate of a request, which has one."""
    return start_gate.ask(t.cast("start_when.StartWhen", plain(request["start_when"])), request["runs_commands"])


def _begin_methods(given: dict[str, t.Any], results: _Results, variables: dict[str, t.Any]) -> drain_loop.MethodsState:
    """Begin with the hosts of the batch that run this task: a condition may have excluded the others."""
    asked = {host: results.asks(host) for host in _names(variables.get("ansible_play_batch"))}
    asks: dict[str, drain_loop.Ask] = {
        host: {
            "lease": plain(mapping(ask.get("lease"))),
            "seconds": number(ask.get("seconds")) or 0.0,
            "interval": number(ask.get("interval")) or 0.0,
            "keeper": text(ask.get("keeper")) or "",
        }
        for host, ask in asked.items()
        if text(ask.get("since")) == given["since"]
    }
    request: drain_loop.MethodsRequest = {"action": given["action"], "upgrade": given["upgrade"], "places": _names(given["places"])}
    vms = {host: vm_settings.read(results.vm_settings(host), host) for host in asks}
    return drain_loop.begin(request, asks, vms, results.of, time.time())


def _check_settings(places: list[str], results: _Results, variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
    """Check the settings of the hosts that take part, before any of them is drained."""
    hosts = _names(variables.get("ansible_play_hosts"))
    # A host whose facts have settings is refused by its own task, and fails no other host.
    refused = refused_hosts(hosts, variables["hostvars"])
    hosts = [host for host in hosts if host not in refused]
    _warn(variables, results, hosts)
    vm_settings.refuse_wrong({host: vm_settings.read(results.vm_settings(host), host, places, results.inventory) for host in hosts})
    return {}


def _go_on(name: str, results: _Results, variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
    state = variables.get(name)
    if isinstance(state, dict) and state.keys() >= pass_loop.KEYS:
        return pass_loop.go_on(t.cast("pass_loop.State", {key: state[key] for key in pass_loop.KEYS}), results.of, time.time(), _ask)
    if isinstance(state, dict) and state.keys() >= gate_loop.KEYS:
        kept = t.cast("gate_loop.GateState", {key: state[key] for key in gate_loop.KEYS})
        return gate_loop.go_on(
            kept, {"of": results.of, "settings": results.vm_settings, "others": results.of_others, "inventory": results.inventory}, time.time()
        )
    if isinstance(state, dict) and state.keys() >= drain_loop.KEYS:
        return drain_loop.go_on(t.cast("drain_loop.MethodsState", {key: state[key] for key in drain_loop.KEYS}), results.of, time.time())
    raise pass_loop.LoopError(f"go_on is {name!r}, and nothing of a pass was registered under this name; a pass begins with a task that has begin")


def _warn(variables: dict[str, t.Any], results: _Results, hosts: t.Iterable[str]) -> list[str]:
    """Warn of misspelt options, and return the warnings. The same words are displayed once for a run."""
    names = _Variables(variables).names().union(*map(results.names, hosts))
    return _display(near_misses.warnings(names))


def _display(warnings: t.Iterable[str]) -> list[str]:
    """Display warnings, and return them as they were displayed."""
    found = [printable(warning, LONGEST_LINE) for warning in warnings]
    for warning in found:
        Display().warning(warning)
    return found


def _rules(policy: t.Any) -> list[t.Any]:
    return [plain(rule.source) for rule in policies.load(policy).rules]


def _new_run_id() -> str:
    return "".join(secrets.choice(RUN_ID_LETTERS) for _number in range(RUN_ID_LENGTH))


class _Results:
    """The registered results of the hosts' tasks. Each host's variables are read only on demand, because reading them is slow."""

    def __init__(self, hostvars: t.Mapping[str, t.Mapping[str, t.Any]]) -> None:
        self._hostvars = hostvars
        self._read: dict[str, _Variables] = {}
        self.inventory = list(map(str, hostvars))

    def of(self, host: str) -> HostResults:
        variables = self._of(host)
        return HostResults(variables.get("observe_result"), variables.get("__respond_acted"), variables.get("ansible_facts"), self._identity(variables))

    def absent(self, host: str) -> HostResults:
        """Return the results of a host that takes no part: empty, because what it registered is of an earlier batch, play or run."""
        return self.of(host)._replace(observed=None, acted=None)

    def facts(self, host: str) -> t.Any:
        return self._of(host).get("ansible_facts")

    def vm_settings(self, host: str) -> t.Any:
        """Return a host's settings from its first observation, or as noted without an observation."""
        variables = self._of(host)
        observed = variables.get("observe_result")
        found = observed.get("vm_settings") if isinstance(observed, t.Mapping) else None
        found = mapping(variables.get("__respond_vm_settings")).get("vm_settings") if found is None else found
        # A host that takes no part in the play has its settings of the inventory.
        return plain({key: variables.get(name) for key, name in vm_variables.SETTINGS.items()} if found is None else found)

    def asks(self, host: str) -> t.Mapping[str, t.Any]:
        """Return the note of a host from right before a drain or a recovery; C(since) in it shows its age."""
        return mapping(self._of(host).get("__upgrade_asks"))

    def of_others(self, host: str) -> t.Sequence[t.Any]:
        """Return the observations that a host of a batch has made of others."""
        return items(mapping(self._of(host).get("__gate_answers")).get("results"))

    def names(self, host: str) -> set[str]:
        """Return the names of a host's variables."""
        return self._of(host).names()

    def _of(self, host: str) -> _Variables:
        if host not in self._read:
            # Not get: hostvars raises nothing for a host that the inventory does not have.
            self._read[host] = _Variables(self._hostvars[host] if host in self._hostvars else {})  # noqa: SIM401
        return self._read[host]

    @staticmethod
    def _identity(variables: _Variables) -> t.Mapping[str, str]:
        names = ("ansible_facts", "respond_vm_id", "vmid", "id")
        return expected_identity.of_variables({name: variables.get(name) for name in names})


class _Variables:
    """The variables of one host. One that cannot be evaluated, perhaps for a missing fact, is missing for this host only."""

    def __init__(self, variables: t.Mapping[str, t.Any]) -> None:
        self._variables = variables

    def names(self) -> set[str]:
        """Return the names of the variables, without those of facts: no VM chooses what is displayed about them."""
        return set(map(str, self._variables)) - set(map(str, mapping(self.get("ansible_facts"))))

    def get(self, name: str) -> t.Any:
        try:
            return self._variables.get(name)
        except AnsibleError:
            return None


def _progress(state: t.Mapping[str, t.Any]) -> str:
    """Return the next actions as one line, for -v."""
    actions = (mapping(state.get("plan")).get("actions") or []) if state.get("do") not in ("wait", "pause", "end") else []
    lines = [f"{action['host']} {action['action']}{' (goes on)' if action['continues'] else ''}" for action in actions]
    return printable(f"Plan {state.get('number', 0)}: {state.get('do', 'observe')} {', '.join(lines)}", LONGEST_LINE)


def _names(value: t.Any) -> list[str]:
    return [str(name) for name in value or ()]
