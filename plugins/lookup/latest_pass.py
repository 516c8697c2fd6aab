# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Lookup latest_pass: the hosts and the plan of the pass that began last."""

from __future__ import annotations

DOCUMENTATION = r"""
name: latest_pass
author: [The maintenance.azure authors (@maintenance-azure)]
version_added: 2.2.0
short_description: (internal) Return the hosts or the plan of a pass that an earlier play began, or fail where no pass was reported
description:
  - For playbook C(maintenance.azure.respond), which observes all VMs in its first play, and takes only those with an action through its second.
    A task costs time for each host of a play, even for one that skips it.
  - A pass is what action P(maintenance.azure.plan#module) has registered as C(__respond_loop).
options:
  _terms:
    description:
      - V(acting_hosts) returns the pattern of the VMs that take part in the iterations, one per item. It matches no host where nothing is left to do.
      - V(all_hosts) returns that of all VMs of the pass, but for those whose facts have the names of settings.
      - V(plan) returns the last plan of the pass that the host of the task knows.
      - V(reported) is for the C(hosts) of the last play of a run. It matches no host, and fails where C(pattern) has hosts and no pass of theirs has reported.
        An expression in C(hosts) is evaluated also where C(--tags), C(--skip-tags) or C(--start-at-task) leave out every task, or
        C(--limit) every host. Nothing is refused with C(--syntax-check), C(--list-hosts), C(--list-tasks) and C(--list-tags).
      - V(report) is the same for playbook C(maintenance.azure.report).
    choices: [acting_hosts, all_hosts, plan, reported, report]
    required: true
  pattern:
    description: The hosts of the play that began the pass, as in C(hosts) of that play. No variables of other hosts are read.
    type: str
    default: all
seealso: [{plugin: maintenance.azure.plan, plugin_type: module}, {plugin: maintenance.azure.hosts, plugin_type: lookup}]
"""

EXAMPLES = r"""
- name: Take VMs of group web through maintenance
  hosts: "{{ lookup('maintenance.azure.latest_pass', 'acting_hosts', pattern='web') }}"
  gather_facts: false
  tasks:
    - name: Iterate until nothing is left to do
      ansible.builtin.import_role:
        name: maintenance.azure.respond
        tasks_from: loop.yml

- name: Check that a pass has reported, whatever left out its tasks
  hosts: "{{ lookup('maintenance.azure.latest_pass', 'reported', pattern='web') }}"
"""

RETURN = r"""
_raw: {type: list, elements: raw, description: "The pattern, as a list, or the plan, as a dictionary."}
"""

import typing as t

from ansible import context
from ansible.errors import AnsibleError, AnsibleLookupError
from ansible.plugins.loader import lookup_loader
from ansible.plugins.lookup import LookupBase

from ..module_utils._scheduled_events.core.types import Data, Values
from ..plugin_utils._core.plain_values import mapping
from ..plugin_utils._loop import latest_pass
from ..plugin_utils._settings.facts import why_refused

# One by one: ansible-doc warns of a tuple here.
REGISTERED = "__respond_loop"
REPORTED = "__respond_reported"
REPORT = "__respond_report"
NO_REPORT = "No report was made in this run: its tasks were left out or ended early{}. Run it again without what left them out."
NOT_REPORTED = (
    "No pass was reported in this run, so nothing is known about any VM and nothing may have been done: its tasks were left out or ended early{}. "
    "Run it again without what left them out."
)
PATTERNS = {"acting_hosts": latest_pass.acting_hosts, "all_hosts": latest_pass.all_hosts}


class LookupModule(LookupBase):
    """The lookup."""

    def run(self, terms: list[t.Any], variables: Data | None = None, **kwargs: t.Any) -> list[t.Any]:
        self.set_options(var_options=variables, direct=kwargs)
        (part,) = terms
        known = variables or {}
        if part in PATTERNS:
            views = _views(known, self._matching(known))
            refused = [host for host, view in views.items() if why_refused(view.get("ansible_facts"))]
            return [PATTERNS[part](_registered(views), refused)]
        if part == "reported":
            return [self._reported(known, NOT_REPORTED, _has_reported)]
        if part == "report":
            return [self._reported(known, NO_REPORT, _has_report)]
        own = latest_pass.latest({"": known.get(REGISTERED)}) if part == "plan" else None
        if own is None:
            raise AnsibleLookupError(
                f"Lookup latest_pass has acting_hosts, all_hosts, reported and, for a host that knows a pass, plan. It was asked for {part!r}."
            )
        # Only the hosts that took part in it can have a later state.
        return [latest_pass.plan_of(latest_pass.last_of(own, _registered(_views(known, own["staying"]))))]

    def _reported(self, known: Data, words: str, has_reported: t.Callable[[t.Any], bool | None]) -> list[str]:
        # Where --limit has left out every host, no play has run, and there are no hostvars yet.
        matching = [] if latest_pass.looks_only(context.CLIARGS) else self._matching(known)
        for host in matching:
            # One host after the other, as the first one nearly always tells.
            view = _views(known, [host] if "hostvars" in known else []).get(host, {})
            found = None if why_refused(view.get("ansible_facts")) else has_reported(view)
            if found:
                return latest_pass.NO_HOSTS
            if found is not None:
                break
        if matching:
            raise AnsibleLookupError(words.format(latest_pass.left_out(context.CLIARGS)))
        return latest_pass.NO_HOSTS

    def _matching(self, variables: Data) -> list[str]:
        lookup = lookup_loader.get("ansible.builtin.inventory_hostnames", loader=self._loader, templar=self._templar)
        return list(map(str, lookup.run([self.get_option("pattern")], variables=variables)))


def _views(variables: Values, hosts: t.Iterable[str]) -> Data:
    """Return the variables of each host. Making them is slow, so it is done once; a host whose variables cannot be read is left out."""
    found = {}
    for host in hosts:
        try:
            # Before the first play of a run no host has variables, and a playbook that is only looked at has none at all.
            found[host] = variables["hostvars"][host]
        except (AnsibleError, KeyError):
            continue
    return found


def _has_reported(view: Values) -> bool | None:
    """Return whether a host knows that its latest pass has reported, or None where it knows of no pass."""
    state = latest_pass.latest(_registered({"": view}))
    return None if state is None else state["request"]["secret"] == view.get(REPORTED)


def _has_report(view: Values) -> bool | None:
    return True if "lines" in mapping(view.get(REPORT)) else None


def _registered(views: Values) -> Data:
    return {host: view[REGISTERED] for host, view in views.items() if REGISTERED in view}
