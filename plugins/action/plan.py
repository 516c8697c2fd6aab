# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import secrets
import string
import time
import typing as t

from ansible import constants
from ansible.errors import AnsibleError
from ansible.utils.display import Display
from ansible.utils.vars import load_extra_vars

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..module_utils._scheduled_events.core.types import Data, Values
from ..module_utils._scheduled_events.lease.lease_time import LIMITS
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._controller import notifier, start_gate
from ..plugin_utils._core import host_variables
from ..plugin_utils._core.plain_values import flag, items, mapping, number, plain, text, texts
from ..plugin_utils._core.wrong_input import WrongInput
from ..plugin_utils._drain.kinds.tasks import find_task_file
from ..plugin_utils._drain.settings import claims
from ..plugin_utils._loop import batch_loop, gate_loop, latest_pass, notifying, pass_loop, vm_settings
from ..plugin_utils._loop.observations import HostResults
from ..plugin_utils._maintenance.config import alike_groups, capacity_groups, notify_targets, start_when, timing
from ..plugin_utils._maintenance.config import policy as policies
from ..plugin_utils._maintenance.config import settings as settings_module
from ..plugin_utils._maintenance.observe import expected_identity, written_hosts
from ..plugin_utils._maintenance.upgrade.batches import UpgradeRequest, approvals, plan_upgrade
from ..plugin_utils._settings import near_misses, option_types, play_keywords, tasks_files, vm_variables
from ..plugin_utils._settings.facts import refused_hosts, why_refused, why_refused_extra
from ..plugin_utils._settings.option_types import wrong_flags, wrong_options
from ..plugin_utils._settings.renamed import refused_variables

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
    "notify_seconds": {"type": "float", "default": 20.0},
    "notify_test": {"type": "bool", "default": False},
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
    "leases": {"type": "dict", "default": {"gate_lease_seconds": 3600}},
    "step_seconds": {"type": "float"},
    "keepers": {"type": "bool", "default": False},
    "dead_run": {"type": "str", "default": ""},
}
BEGIN_METHODS = {
    "action": {"type": "str", "choices": [batch_loop.DRAIN, batch_loop.RECOVER], "required": True},
    "upgrade": {"type": "str", "required": True},
    "batch": {"type": "list", "elements": "str", "required": True},
    "since": {"type": "str", "required": True},
}
BEGIN_UPGRADE = {
    "name": {"type": "str", "required": True},
    "tasks": {"type": "str", "required": True},
    "digest": {"type": "str", "default": ""},
    "by": {"type": "str", "default": "serial"},
    "serial": {"type": "raw"},
}
SPEC = {
    "begin": {"type": "dict", "options": BEGIN},
    "begin_gate": {"type": "dict", "options": BEGIN_GATE},
    "begin_methods": {"type": "dict", "options": BEGIN_METHODS},
    "begin_upgrade": {"type": "dict", "options": BEGIN_UPGRADE},
    "approvers": {"type": "list", "elements": "dict"},
    "check_settings": {"type": "bool"},
    "go_on": {"type": "str"},
    "check_only": {"type": "bool", "default": False},
}
# What a host that takes no part has in its variables beside its settings: where it keeps replicas of others' records.
PLACES = {"records_path": "respond_records_path"}
# With go_on, only begin may be given as well.
ALONE = ("begin_gate", "begin_methods", "begin_upgrade", "approvers", "check_settings")
ONE_OF = (("begin", *ALONE, "go_on"),)
EXCLUSIVE = (("begin", *ALONE), *((name, "go_on") for name in ALONE))
# A run waits so long at its end.
MOST_NOTIFY_SECONDS = 300
# So many hosts of the inventory that take no part are evaluated for a name that several hosts have.
MOST_NAMESAKES = 50
SKIPPED = "a condition (when) around role respond leaves out {}: choose its VMs with the hosts of the play. Nothing was done"


class ActionModule(OnController):
    """Plan, on the controller. What lasts from one iteration to the next is in the registered result."""

    spec = SPEC
    rules: t.ClassVar = {"mutually_exclusive": EXCLUSIVE, "required_one_of": ONE_OF}
    wrong_input = (WrongInput,)

    def run(self, tmp: t.Any = None, task_vars: Data | None = None) -> Data:
        # By the names that operators set, before the values are checked under those of begin.
        if self._task.args.get("check_only"):
            if wrong := wrong_options("respond", task_vars or {}, self._templar.template):
                return {"failed": True, "msg": printable(wrong, LONGEST_LINE)}
            # Not as the value of an argument: core would report a setting that cannot be evaluated without its name.
            if name := self._task.args.pop("begin_variable", None):
                self._task.args["begin"] = self._templar.template((task_vars or {}).get(name))
        return super().run(tmp, task_vars)

    def answer(self, arguments: Data, variables: Data) -> Values:
        state = self._state(arguments, variables)
        Display().v(_progress(state))
        return {**state, **_statistics(state), **({"limits": LIMITS} if state else {})}

    def _state(self, arguments: Data, variables: Data) -> Values:
        results = _Results(variables["hostvars"])
        if arguments["begin"] is not None:
            return self._begin(arguments, results, variables)
        if arguments["begin_gate"] is not None:
            return self._begin_gate(arguments["begin_gate"], results, variables)
        if arguments["begin_methods"] is not None:
            return _begin_methods(arguments["begin_methods"], results, variables)
        if arguments["begin_upgrade"] is not None:
            hosts = _names(variables.get("ansible_play_hosts_all"))
            return plan_upgrade(UpgradeRequest(**arguments["begin_upgrade"]), {host: results.of(host).observed for host in hosts})
        if arguments["approvers"] is not None:
            recorded = {host: results.recorded(host) for host in _names(variables.get("ansible_play_batch"))}
            return {"approvals": approvals(arguments["approvers"], recorded)}
        if arguments["check_settings"] is not None:
            return _check_settings(results, variables)
        state = variables.get(arguments["go_on"])
        if isinstance(state, dict) and state.keys() >= pass_loop.KEYS:
            kept = _collected(t.cast("pass_loop.State", {key: state[key] for key in pass_loop.KEYS}))
            return self._notify(_without_left(kept, results, variables) or pass_loop.go_on(kept, results.of, time.time(), _ask), variables)
        return _go_on(arguments["go_on"], results, variables)

    def _begin(self, arguments: Data, results: _Results, variables: Data) -> Values:
        """Freeze the request of the pass before any VM is observed; or begin with the frozen request after the first observation."""
        if arguments["check_only"]:
            # Facts with settings override the inventory. So settings are read after the observation, from a host without such facts.
            if why_refused(variables.get("ansible_facts")):
                return {}
            wrong = refused_variables(variables) or self._wrong_surroundings(variables)
            if wrong := wrong or (arguments["begin"]["only_shows"] and wrong_flags(variables, self._templar.template)):
                raise WrongInput(wrong)
            return {"request": self._request(arguments["begin"], variables)}
        frozen = mapping(variables.get(arguments["go_on"] or "")).get("request")
        request = t.cast("pass_loop.Request", frozen) if frozen is not None else self._request(arguments["begin"], variables)
        # Not hosts of other batches, nor failed hosts: their registered results are old.
        hosts, present = (_names(variables.get(name)) for name in ("ansible_play_hosts_all", "ansible_play_batch"))
        here = set(present)

        def of(host: str) -> HostResults:
            return results.of(host) if host in here else results.absent(host)

        if skipped := [host for host in present if mapping(results.of(host).observed).get("skipped") is True]:
            raise WrongInput(SKIPPED.format(", ".join(skipped)))
        given = {host: results.vm_settings(host) for host in hosts}
        is_needed = arguments["begin"]["only_shows"] or not results.busy.isdisjoint(present)
        given, same_names = _with_conflicts(given, results, is_needed)
        misspelt = _warn(variables, results, hosts) + self._without_effect(variables, [host for host in present if not why_refused(results.facts(host))])
        settings = _with_alike(_with_clusters(request["settings"], given, results), results, hosts if is_needed else ())
        request = {**request, "settings": settings}
        misspelt += capacity_groups.cluster_warnings(request["settings"].get("clusters")) + same_names
        wrong_names = near_misses.warnings(load_extra_vars(self._loader))
        request = {**request, "misspelt": misspelt, "wrong_names": wrong_names}
        state = pass_loop.begin(request, hosts, present, given, of, time.time(), _ask, results.inventory)
        return self._notify(state, variables, is_first=True)

    def _without_effect(self, variables: Data, hosts: list[str]) -> list[str]:
        """Warn of settings that have no effect where they are, and return the warnings."""
        found = settings_module.without_effect(self._templar.template(variables.get("respond_timing")))
        first = str(variables["inventory_hostname"])
        # Not templated: evaluating each setting of each host would take longer than the plan.
        raw = {host: variables["hostvars"].raw_get(host) for host in (first, *hosts)}
        return _display(found + option_types.differing(first, raw))

    def _wrong_surroundings(self, variables: Data) -> str | None:
        """Return what is wrong with the play, role or block around the role, or with the command line."""
        hosts = len(_names(variables.get("ansible_play_hosts_all")))
        return why_refused_extra(load_extra_vars(self._loader)) or play_keywords.refused_around_all(self._task, hosts)

    def _request(self, given: Data, variables: Values) -> pass_loop.Request:
        run_id = "".join(secrets.choice(RUN_ID_LETTERS) for _number in range(RUN_ID_LENGTH))
        request: pass_loop.Request = {
            "policy": _rules(given["policy"]),
            "settings": {**plain(given["settings"]), "run": self._run(run_id, given["who"], "events")},
            "wait": given["wait"],
            "wait_timeout": float(given["wait_timeout"]),
            "confirm_end": given["confirm_end"],
            "misspelt": [],
            "wrong_names": [],
            "observation_seconds": float(given["observation_seconds"]),
            "notify_tasks": self._notify_tasks(given, variables),
            "notify_refused": "",
            "notify": {"seconds": given["notify_seconds"], "wrong": "", "test": given["notify_test"]},
            "places": tasks_files.places(variables),
            "check_mode": bool(self._task.check_mode),
            "start_when": start_when.load(given["start_when"]),
            "runs_commands": not (self._task.check_mode or given["only_shows"]),
            "secret": secrets.token_hex(16),
        }
        request = self._with_targets(request, variables)
        timing.refuse_out_of_bounds(settings_module.load(request["settings"]))
        if not 0 < given["notify_seconds"] <= MOST_NOTIFY_SECONDS:
            raise WrongInput(f"respond_notify_seconds is {given['notify_seconds']:g}; it must be more than 0 and {MOST_NOTIFY_SECONDS} at most")
        if float(given["wait_timeout"]) < 0:
            raise WrongInput(f"respond_wait_timeout is {given['wait_timeout']}; it must be 0 or more seconds")
        return request

    def _notify_tasks(self, given: Data, variables: Values) -> str:
        """Return the path of the tasks that notify; empty without any. A file that cannot be included would end the run amid its work."""
        name, places = given["notify_tasks"], tasks_files.places(variables)
        path = find_task_file(name, places) if name else ""
        if path is None:
            raise WrongInput(f"respond_notify_tasks: there is no file {name} in {', '.join(places)}. Nothing was done")
        return path and self.tasks_file("respond_notify_tasks", path)

    # --- Notification targets ---

    # Their URLs are read where they are handed over, and are in no state, result or argument of a task.

    def _targets(self, variables: Values) -> tuple[list[notify_targets.NotifyTarget], list[notify_targets.NotifyTarget]]:
        """Return the targets, and those for failures."""
        options = ("respond_notify", "respond_notify_failures")
        told, failures = (notify_targets.load(option, plain(self._templar.template(variables.get(option)))) for option in options)
        if twice := {one.name for one in told} & {one.name for one in failures}:
            failures = [one._replace(name=f"{one.name}.failures") if one.name in twice else one for one in failures]
        return told, failures

    def _with_targets(self, request: pass_loop.Request, variables: Values) -> pass_loop.Request:
        """Return the request with the names of the targets, or with what keeps all of them from being told, in red at once."""
        notifying.refuse_misspelt(self._template_of_messages(variables))
        told, failures = self._targets(variables)
        wrong = notifier.missing() if told or failures else "respond_notify_test: respond_notify has no target" if request["notify"]["test"] else ""
        if wrong:
            Display().display(wrong, color=constants.COLOR_ERROR, stderr=True)
            return {**request, "notify": {**request["notify"], "wrong": wrong, "test": False}}
        names = {"notify_targets": [one.name for one in told], "notify_failures": [one.name for one in failures]}
        return {**request, "settings": {**request["settings"], **names}}

    def _notify(self, state: pass_loop.State, variables: Data, is_first: bool = False) -> pass_loop.State:
        """Hand over what targets are to be told. Only a pass that is over waits for what becomes of it, and then records it."""
        request, settings = state["request"]["notify"], state["request"]["settings"]
        if request["wrong"]:
            return _with_failures(state, [request["wrong"]])
        if not (settings.get("notify_targets") or settings.get("notify_failures") or state["notified"]["by_tasks"]):
            return state
        is_over = state["do"] == "end" or not state["request"]["runs_commands"]
        if is_first and request["test"]:
            names = [*settings["notify_targets"], *settings["notify_failures"]]
            state = self._hand_over(state, notifying.test_messages(names, str(settings["run"]["who"])), variables)
        now = time.time()
        if state["request"]["runs_commands"] and notifying.is_due(state["plan"], state["notified"], is_over, now):
            told_of = notifying.told_of(state["plan"], state["notified"])
            state = self._hand_over(state, notifying.messages(state["plan"], state["notified"], self._text(variables), now), variables)
            state = {**state, "notified": {**state["notified"], "told_of": told_of}}
        state = {**state, "notified": notifying.gathering(state["plan"], state["notified"], now)}
        return _recorded(_waited(state, now + request["seconds"] + notifier.MARGIN)) if is_over and not state["notified"]["closing"] else state

    def _hand_over(self, state: pass_loop.State, messages: Values, variables: Data) -> pass_loop.State:
        """Start to send, and return at once. What cannot be sent has failed."""
        now, orders, results, keys = time.time(), [], dict(state["notified"]["results"]), {}
        targets = [] if why_refused(variables.get("ansible_facts")) else [one for found in self._targets(variables) for one in found]
        urls = {one.name: one.url for one in targets}
        for name, pairs in messages.items():
            every = [key for _message, of_message in pairs for key in of_message]
            try:
                url = notifier.resolve(urls.get(name, ""), notify_targets.WHOLE, notify_targets.PART)
            except ValueError as error:
                results.update({key: ["refused", str(error), now] for key in every})
                continue
            orders.append(notifier.Order(name=name, url=url, messages=[message for message, _keys in pairs]))
            keys[name] = [list(of_message) for _message, of_message in pairs]
            results.update({key: ["sent", "", now] for key in every})
        sent = list(state["notified"]["sent"])
        if orders:
            try:
                sent.append(notifier.hand_over(orders, keys, constants.DEFAULT_LOCAL_TMP, state["request"]["notify"]["seconds"]))
            except OSError as error:
                why = f"the program that sends cannot be started: {error.strerror}"
                results.update({key: ["failed", why, now] for of_target in keys.values() for of_message in of_target for key in of_message})
        return {**state, "notified": {**state["notified"], "sent": sent, "results": results, "handed_at": now}}

    def _text(self, variables: Data) -> notifying.Text:
        """Return how the text of a message is made: by respond_notify_message, or where that fails as it is by default."""
        template = self._template_of_messages(variables)
        return lambda entry, word, default: printable(notifying.filled(template, entry, word, default), LONGEST_LINE)

    def _template_of_messages(self, variables: Values) -> str:
        try:
            return str(self._templar.template(variables.get("respond_notify_message")) or "")
        except AnsibleError:
            Display().warning("respond_notify_message cannot be evaluated; messages have their default text")
            return ""

    def _begin_gate(self, given: Data, results: _Results, variables: Data) -> gate_loop.GateState:
        # The settings of role respond, but leases last as long as the batch needs.
        seconds = timing.seconds_of_batch(settings_module.load(plain(given["settings"])), given["leases"], given["step_seconds"])
        own = {"lease_seconds": seconds, "only_events": [], "run": self._run(given["run"], given["who"], "upgrade")}
        request: gate_loop.GateRequest = {
            "ask": plain(given["ask"]),
            "policy": _rules(given["policy"]),
            "settings": {**plain(given["settings"]), **own},
            "wait_timeout": float(given["wait_timeout"]),
            "places": tasks_files.places(variables),
            "check_mode": bool(self._task.check_mode),
        }
        batch = set(texts(request["ask"].get("batch")))
        request["settings"] = _with_clusters(request["settings"], {host: results.vm_settings(host) for host in batch}, results)
        members = gate_loop.members_of(request, results.keepers(variables, batch) if given["keepers"] else [])
        _warn(variables, results, members)
        present = [host for host in _names(variables.get("ansible_play_hosts")) if host in batch]
        return gate_loop.begin(request, members, present, list(refused_hosts(members, variables["hostvars"])), time.time(), given["dead_run"])

    def _run(self, run_id: str, who: str, kind: str) -> dict[str, str]:
        """Return the run, as its leases name it. In check mode it acquires none."""
        return {"id": "" if self._task.check_mode else run_id, "who": who, "kind": kind}


def _statistics(state: Values) -> Data:
    """Return the statistics of a pass that is over, or that only shows the state. ansible-playbook takes them from the result, so no task sets them."""
    if not (state.keys() >= pass_loop.KEYS and (state["do"] == "end" or not state["request"]["runs_commands"])):
        return {}
    # One dictionary, because ansible-core 2.18 would turn single numbers into text. AWX passes it to the next nodes of a workflow.
    numbers = {**state["plan"]["counts"], **pass_loop.done_by(t.cast("pass_loop.State", state)), "next_look_in": state["plan"]["next_look_in"]}
    return {"ansible_stats": {"data": {"respond_stats": numbers}, "per_host": False, "aggregate": False}}


def _ask(request: pass_loop.Request) -> Values:
    """Ask the start gate of a request, which has one."""
    return start_gate.ask(t.cast("start_when.StartWhen", plain(request["start_when"])), request["runs_commands"])


def _collected(state: pass_loop.State) -> pass_loop.State:
    """Return the state with what became of the messages that were handed over."""
    return {**state, "notified": notifying.collect(state["notified"], notifier.results, time.time())} if state["notified"]["results"] else state


def _waited(state: pass_loop.State, until: float) -> pass_loop.State:
    """Wait for what becomes of all messages, for a limited time."""
    state = _collected(state)
    while state["notified"]["sent"] and time.time() < until:
        time.sleep(0.1)
        state = _collected(state)
    return state


def _recorded(state: pass_loop.State) -> pass_loop.State:
    """Return the state of a pass that is over with what failed, and with an iteration that records what was delivered."""
    notified = state["notified"]
    plan, remarks = state["plan"], notifying.remarks(notified)
    summary = {**plan["summary"], "problems": [*plan["summary"]["problems"], *remarks]} if remarks else plan["summary"]
    told, lost = notifying.test_results(notified)
    for line in told:
        Display().display(line)
    state = _with_failures({**state, "plan": {**plan, "summary": summary}}, [*notifying.wrong_targets(notified), *lost])
    return pass_loop.record_notified(state, time.time()) if state["request"]["runs_commands"] else state


def _with_failures(state: pass_loop.State, failures: list[str]) -> pass_loop.State:
    """Return the state with what makes the run red. Playbook status ends by what is not served."""
    plan = state["plan"]
    return {**state, "plan": {**plan, **{part: [*plan[part], *(one for one in failures if one not in plan[part])] for part in ("fails", "unserved")}}}


def _begin_methods(given: Data, results: _Results, variables: Data) -> batch_loop.MethodsState:
    """Begin with the hosts of the batch that run this task: a condition may have excluded the others."""
    asked = {host: results.asks(host) for host in _names(variables.get("ansible_play_batch"))}
    outside = results.outside(variables, given["batch"])
    asks: dict[str, batch_loop.Ask] = {
        host: {
            "lease": plain(mapping(ask.get("lease"))),
            "seconds": number(ask.get("seconds")) or 0.0,
            "interval": number(ask.get("interval")) or 0.0,
            "keeper": text(ask.get("keeper")) or outside,
            "keeper_path": "",
        }
        for host, ask in asked.items()
        if text(ask.get("since")) == given["since"]
    }
    request: batch_loop.MethodsRequest = {"action": given["action"], "upgrade": given["upgrade"], "places": tasks_files.places(variables)}
    vms = {host: vm_settings.read(results.vm_settings(host), host) for host in asks}
    for host, keeper in [(host, ask["keeper"]) for host, ask in asks.items() if ask["keeper"]]:
        # One that takes no part in the play may have said nothing of its system: it is taken for that of the VM.
        system = mapping(results.of(keeper).observed).get("system") or vms[host]["system"]
        vms.setdefault(keeper, vm_settings.read({"system": system, **mapping(results.vm_settings(keeper))}, keeper))
    return batch_loop.begin(request, asks, vms, results.of, time.time())


def _check_settings(results: _Results, variables: Data) -> Values:
    """Check the settings of the hosts that take part, before any of them is drained."""
    hosts = _names(variables.get("ansible_play_hosts"))
    # A host whose facts have settings is refused by its own task, and fails no other host.
    refused = refused_hosts(hosts, variables["hostvars"])
    hosts = [host for host in hosts if host not in refused]
    _warn(variables, results, hosts)
    places = tasks_files.places(variables)
    given, same_names = _with_conflicts({host: results.vm_settings(host) for host in hosts}, results, is_needed=True)
    _display(same_names)
    vm_settings.refuse_wrong({host: vm_settings.read(given[host], host, places, results.inventory) for host in hosts})
    return {}


def _go_on(name: str, results: _Results, variables: Data) -> Values:
    state = variables.get(name)
    if isinstance(state, dict) and state.keys() >= gate_loop.KEYS:
        kept = t.cast("gate_loop.GateState", {key: state[key] for key in gate_loop.KEYS})
        return gate_loop.go_on(
            kept, {"of": results.of, "settings": results.vm_settings, "others": results.of_others, "inventory": results.inventory}, time.time()
        )
    if isinstance(state, dict) and state.keys() >= batch_loop.KEYS:
        return batch_loop.go_on(t.cast("batch_loop.MethodsState", {key: state[key] for key in batch_loop.KEYS}), results.of, time.time())
    raise WrongInput(f"go_on is {name!r}, and nothing of a pass was registered under this name; a pass begins with a task that has begin")


def _without_left(state: pass_loop.State, results: _Results, variables: Values) -> pass_loop.State | None:
    """Return the next state where tasks of operators have ended hosts of this play, or of the one before it; else None."""
    resumes = variables.get("__respond_resumes") is True
    if resumes:
        # Not every host of this play has the last state.
        last = latest_pass.last_of(state, {host: results.registered(host) for host in state["staying"]})
        state = {key: last[key] for key in pass_loop.KEYS}  # type: ignore[assignment, literal-required]
    left = {host: what for host in state["assignments"] if (what := results.left(host)) and f"{host} {what}" not in state["left"]}
    ends_play = variables.get("__respond_end") == "play"
    if left:
        state = pass_loop.after_left(state, left, ends_play)
    if resumes:
        return state if state["do"] == "end" else pass_loop.resume(state)
    if left and not ends_play:
        return pass_loop.go_on(state, results.of, time.time(), _ask)
    return state if left else None


def _warn(variables: Data, results: _Results, hosts: t.Iterable[str]) -> list[str]:
    """Warn of misspelt options, and return the warnings. The same words are displayed once for a run."""
    names = _names_in(vm_variables.Evaluated(variables)).union(*map(results.names, hosts))
    return _display(near_misses.warnings(names))


def _display(warnings: t.Iterable[str]) -> list[str]:
    """Display warnings, and return them as they were displayed."""
    found = [printable(warning, LONGEST_LINE) for warning in warnings]
    for warning in found:
        Display().warning(warning)
    return found


def _rules(policy: t.Any) -> list[t.Any]:
    return [plain(rule.source) for rule in policies.load(policy).rules]


def _with_clusters(settings: Data, given: Values, results: _Results) -> Data:
    """Return the settings with the clusters of these hosts, and of all others in the inventory. Only then is the inventory read: that takes long."""
    settings = {name: value for name, value in settings.items() if name != "clusters"}
    if not any(capacity_groups.clusters_of(one.get("drain_methods")) for one in given.values()):
        return settings
    # A VM whose facts have settings may add itself to no cluster of others.
    hosts = [host for host in results.inventory if not why_refused(results.facts(host))]
    every = {host: (given[host] if host in given else results.vm_settings(host)).get("drain_methods") for host in hosts}
    return {**settings, "clusters": capacity_groups.cluster_members(every)}


def _with_conflicts(given: Values, results: _Results, is_needed: bool) -> tuple[Data, list[str]]:
    """Return the settings of the hosts, with what they and another host take for their own as wrong, and warnings of what may be in order.

    Other hosts of the inventory are read where it is needed.
    """
    methods = {host: mapping(one).get("drain_methods") for host, one in given.items() if not _is_excluded(one)}
    methods |= results.namesakes(given, methods) if is_needed else {}
    found = claims.conflicts(methods)
    # What comes from the facts of a VM is no setting. Without a conflict nothing has to be known of them.
    refused = {host for one in found for host in one.hosts if results.may_be_of_facts(host)}
    found = claims.conflicts({host: of_host for host, of_host in methods.items() if host not in refused}) if refused else found
    found = [one for one in found if not given.keys().isdisjoint(one.hosts)]
    wrong: dict[str, list[str]] = {}
    for one in found:
        for host in () if one.warns else one.hosts:
            wrong.setdefault(host, []).append(one.text)
    settings = {host: {**one, "wrong": texts(one.get("wrong")) + wrong[host]} if host in wrong else one for host, one in given.items()}
    return settings, [one.text for one in found if one.warns]


def _is_excluded(given: t.Any) -> bool:
    return flag(mapping(given).get("exclude")) is True


def _with_alike(settings: Data, results: _Results, hosts: t.Iterable[str]) -> Data:
    """Return the settings with the groups of VMs that are drained alike: those of these hosts, of which all members of the inventory are read."""
    is_on, here = flag(settings.get("alike")) is True, frozenset(hosts)
    settings = {name: value for name, value in settings.items() if name != "alike"}
    if not is_on or not here:
        return settings
    chosen = settings_module.load({name: settings.get(name) for name in ("capacity", "retired")})
    found = alike_groups.derive(results.written(alike_groups.left_out(chosen.capacity, chosen.retired)))
    return {**settings, "alike": [group for group in found if not here.isdisjoint(group["members"])]}


class _Results:
    """The registered results of the hosts' tasks. Each host's variables are read only on demand, because reading them is slow."""

    def __init__(self, hostvars: t.Any) -> None:
        self._hostvars = hostvars
        self._read: dict[str, vm_variables.Evaluated] = {}
        self.busy: set[str] = set()
        """The hosts that list an event, or have a record or a lease: without any of them nothing is taken out of service."""
        self.inventory = list(map(str, hostvars))

    def of(self, host: str) -> HostResults:
        observed, acted, facts, drained = (self._get(host, name) for name in ("observe_result", "__respond_acted", "ansible_facts", "drain_result"))
        return HostResults(observed, acted, facts, expected_identity.of_variables(self._of(host)), drained)

    def registered(self, host: str) -> t.Any:
        """Return the last state of a pass that a host has."""
        return self._get(host, "__respond_loop")

    def left(self, host: str) -> str:
        """Return in what tasks of operators a host has left the play; empty if it has not. Both say so until these tasks have ended."""
        if notifies := text(self._get(host, "__respond_notifies")):
            return f"{pass_loop.NOTIFIES} {notifies}"
        step = mapping(self._get(host, "__drain_step"))
        if step.get("do") != "stage":
            return ""
        return f"{step['step']} of drain method {mapping(step.get('method')).get('kind')} ({mapping(step.get('request')).get('act')})"

    def absent(self, host: str) -> HostResults:
        """Return the results of a host that takes no part: empty, because what it registered is of an earlier batch, play or run."""
        return self.of(host)._replace(observed=None, acted=None)

    def facts(self, host: str) -> t.Any:
        return self._get(host, "ansible_facts")

    def vm_settings(self, host: str) -> t.Any:
        """Return a host's settings from its first observation, or as noted without an observation."""
        observed = self._get(host, "observe_result")
        found = observed.get("vm_settings") if isinstance(observed, t.Mapping) else None
        if any(mapping(observed).get(key) for key in ("events", "records", "leases")):
            self.busy.add(host)
        found = mapping(self._get(host, "__respond_vm_settings")).get("vm_settings") if found is None else found
        # A host that takes no part in the play has its settings of the inventory.
        return plain({key: self._get(host, name) for key, name in {**vm_variables.SETTINGS, **PLACES}.items()} if found is None else found)

    def namesakes(self, given: t.Container[str], methods: Values) -> Data:
        """Return the drain methods of other hosts that may claim what these hosts claim, few of them: by their names, or as they are written."""
        others = {host: self.raw(host).get("drain_methods") for host in self.inventory if host not in given}
        near = {name for one in claims.conflicts({**others, **methods}) for name in one.hosts if not methods.keys().isdisjoint(one.hosts)}
        near |= claims.names(methods)
        found = {host: self.vm_settings(host) for host in [host for host in others if host in near][:MOST_NAMESAKES]}
        return {host: one.get("drain_methods") for host, one in found.items() if not _is_excluded(one)}

    def raw(self, host: str) -> t.Any:
        """Return the variables of a host as they are written: evaluating those of all hosts takes long."""
        return host_variables.written(host, self._hostvars)

    def may_be_of_facts(self, host: str) -> bool:
        """Return whether a fact of the VM may be in a host's drain methods: a template takes any variable, and a fact comes before the inventory's."""
        facts = self.facts(host)
        known = set(mapping(facts)) - {"discovered_interpreter_python"}
        return bool(why_refused(facts)) or (bool(known) and alike_groups.TEMPLATE in str(self.raw(host).get("drain_methods")))

    def written(self, left_out: frozenset[str]) -> t.Iterator[alike_groups.Written]:
        """Return the hosts of the inventory as it has written them, without those of these names."""
        return written_hosts.read(self.inventory, self._hostvars, left_out)

    def asks(self, host: str) -> Values:
        """Return the note of a host from right before a drain or a recovery; C(since) in it shows its age."""
        return mapping(self._get(host, "__upgrade_asks"))

    def recorded(self, host: str) -> list[str]:
        """Return the ids of the events of which a host of an upgrade has recorded that they are about to be approved."""
        return texts(self._get(host, "__upgrade_noted"))

    def of_others(self, host: str) -> t.Sequence[t.Any]:
        """Return the observations that a host of a batch has made of others."""
        return items(mapping(self._get(host, "__gate_answers")).get("results"))

    def keepers(self, variables: Values, batch: t.Collection[str]) -> list[str]:
        """Return the VMs where an earlier run of an upgrade may have left replicas. Playbook rolling_upgrade has observed all VMs."""
        planned = mapping(self._get("localhost", "upgrade_plan"))
        return texts(planned["keepers"]) if "keepers" in planned else list(filter(None, [self.outside(variables, batch)]))

    def outside(self, variables: Values, batch: t.Collection[str]) -> str:
        """Return a VM of the play outside the batch, which may keep replicas where a gate has found none. One that has failed is the last choice."""
        hosts = (host for name in ("ansible_play_hosts", "ansible_play_hosts_all") for host in _names(variables.get(name)) if host not in batch)
        return next((host for host in hosts if not why_refused(self.facts(host))), "")

    def names(self, host: str) -> set[str]:
        """Return the names of a host's variables."""
        return _names_in(self._of(host))

    def _get(self, host: str, name: str) -> t.Any:
        return self._of(host).get(name)

    def _of(self, host: str) -> vm_variables.Evaluated:
        if host not in self._read:
            # Not get: hostvars raises nothing for a host that the inventory does not have.
            self._read[host] = vm_variables.Evaluated(self._hostvars[host] if host in self._hostvars else {})  # noqa: SIM401
        return self._read[host]


def _names_in(variables: Values) -> set[str]:
    """Return the names of variables, without those of facts: no VM chooses what is displayed about them."""
    return set(map(str, variables)) - set(map(str, mapping(variables.get("ansible_facts"))))


def _progress(state: Values) -> str:
    """Return the next actions as one line, for -v."""
    actions = (mapping(state.get("plan")).get("actions") or []) if state.get("do") not in ("wait", "pause", "end") else []
    lines = [f"{action['host']} {action['action']}{' (goes on)' if action['continues'] else ''}" for action in actions]
    return printable(f"Plan {state.get('number', 0)}: {state.get('do', 'observe')} {', '.join(lines)}", LONGEST_LINE)


def _names(value: t.Any) -> list[str]:
    return [str(name) for name in value or ()]
