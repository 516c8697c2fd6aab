# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Pacemaker cluster of three nodes in place of its commands. Its answers have the words of Pacemaker 2.1.5, as recorded on a real cluster."""

from __future__ import annotations

import copy
import os
import tempfile

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import CommandResult

NODE = (
    '<node name="{name}" id="{id}" online="{online}" standby="{standby}" standby_onfail="false" maintenance="{maintenance}" pending="{pending}" '
    'unclean="{unclean}" health="green" feature_set="3.16.1" shutdown="false" expected_up="true" is_dc="false" resources_running="5" type="{type}"/>'
)
RESOURCE = (
    '<resource id="{id}" resource_agent="{agent}" role="{role}" {target}active="true" orphaned="false" blocked="{blocked}" managed="true" failed="false" '
    'failure_ignored="false" nodes_running_on="{count}">{places}</resource>'
)
STATUS = """<pacemaker-result api-version="2.25" request="crm_mon -1 --output-as=xml --inactive">
  <pacemakerd sys_from="pacemakerd" state="running" last_updated="2026-11-27 09:40:21Z"/>
  <summary>
    <stack type="corosync"/>
    <current_dc present="{dc}" version="2.1.5-a3f44794f94" name="vm3" id="3" with_quorum="{quorum}" mixed_version="false"/>
    <cluster_options stonith-enabled="false" symmetric-cluster="true" no-quorum-policy="{policy}" maintenance-mode="{maintenance}" stop-all-resources="false"/>
  </summary>
  <nodes>{nodes}</nodes>
  <resources>{resources}</resources>
  <node_attributes>{attributes}</node_attributes>
  <status code="0" message="OK"/>
</pacemaker-result>
"""
# Of corosync-quorumtool 3.1.7, with a quorum device; without one its column and its line are not there.
VOTES = """Quorum information
------------------
Date:             Sat Nov 28 10:11:12 2026
Quorum provider:  corosync_votequorum
Nodes:            {nodes}
Node ID:          1
Ring ID:          1.2c
Quorate:          {quorate}

Votequorum information
----------------------
Expected votes:   {expected}
Highest expected: {expected}
Total votes:      {total}
Quorum:           {quorum} {blocked}
Flags:            {flags}

Membership information
----------------------
{members}
"""
NO_DAEMON = "Cannot initialize CMAP service\n"
NOT_CONNECTED = """<pacemaker-result api-version="2.25" request="crm_mon -1 --output-as=xml">
  <status code="102" message="Not connected">
    <errors>
      <error>error: Could not connect to launcher: Connection refused</error>
      <error>crm_mon: Connection to cluster failed: Connection refused</error>
    </errors>
  </status>
</pacemaker-result>
"""
NOT_ROOT = """<pacemaker-result api-version="2.25" request="crm_mon -1 --output-as=xml">
  <status code="4" message="Insufficient privileges">
    <errors>
      <error>error: Could not connect to launcher: Permission denied</error>
      <error>crm_mon: Connection to cluster failed: Permission denied</error>
    </errors>
  </status>
</pacemaker-result>
"""


def truth(value):
    return "true" if value else "false"


class Corosync:
    """How Corosync counts: a vote for each node that is online, unless a test says otherwise."""

    def __init__(self):
        self.expected, self.quorum, self.flags = 3, 2, ()
        # By the id of a node; and those of a quorum device, with whether it votes.
        self.of, self.device, self.casts = {}, 0, True

    def text(self, nodes):
        ids = [str(number) for number, node in enumerate(nodes.values(), 1) if node["online"]]
        votes = {one: self.of.get(one, 1) for one in ids if self.of.get(one) != "remote"}
        total = sum(votes.values()) + (self.device if self.casts else 0)
        rows = ["    Nodeid      Votes" + ("    Qdevice" if self.device else "") + " Name"]
        does = f"{'A,V,NMW' if self.casts else 'NA,NV,NMW':>10} " if self.device else ""
        rows += [f"{one:>10} {count:>10} {does}10.0.0.{one}{' (local)' if one == '1' else ''}" for one, count in votes.items()]
        if self.device:
            rows.append(f"{0:>10} {self.device if self.casts else 0:>10}            Qdevice" + ("" if self.casts else f" (votes {self.device})"))
        is_so = total >= self.quorum
        flags = " ".join([*(["Quorate"] if is_so else []), *self.flags, *(["Qdevice"] if self.device else [])])
        return is_so, VOTES.format(
            nodes=len(ids), quorate="Yes" if is_so else "No", expected=self.expected, total=total, quorum=self.quorum,
            blocked=" " if is_so else "Activity blocked", flags=flags, members="\n".join(rows),
        )  # fmt: skip


class State:
    """What the cluster's configuration and its nodes have: a file of the dry run has one of its own."""

    def __init__(self):
        self.nodes = {name: {"online": True, "standby": False, "maintenance": False, "pending": False, "unclean": False} for name in ("vm1", "vm2", "vm3")}
        # By lifetime and node.
        self.standby, self.marks = {}, {}
        # Each instance: id, agent, role, node (or None), more.
        self.resources = [{"id": "d1", "node": "vm1"}, {"id": "d2", "node": "vm2"}]
        # By resource, the nodes on which it may run.
        self.allowed = {}
        self.quorum, self.maintained, self.dc = True, False, True
        self.policy, self.types = "stop", {}
        self.votes = Corosync()

    def is_standby(self, node):
        return self.nodes[node]["standby"] or any((lifetime, node) in self.standby for lifetime in ("reboot", "forever"))

    def settle(self):
        """Move what is on nodes in standby, as the cluster does."""
        if self.maintained:
            return
        for one in self.resources:
            if one.get("stays") or one["node"] is None or not self.is_standby(one["node"]):
                continue
            free = [
                name for name, node in self.nodes.items() if node["online"] and not self.is_standby(name) and name in self.allowed.get(one["id"], self.nodes)
            ]
            taken = {other["node"] for other in self.resources if one.get("clone") and other is not one and other["id"] == one["id"]}
            free = [name for name in free if name not in taken]
            one["node"], one["role"] = (free[0], "Started") if free else (None, "Stopped")

    def xml(self):
        nodes = "".join(
            NODE.format(
                name=name,
                id=number,
                type=self.types.get(name, "member"),
                **{**{key: truth(value) for key, value in node.items()}, "standby": truth(self.is_standby(name))},
            )  # fmt: skip
            for number, (name, node) in enumerate(self.nodes.items(), 1)
        )
        attributes = "".join(
            f'<node name="{node}"><attribute name="master-st" value="10"/><attribute name="maintenance-azure" value="{mark}"/></node>'
            for (_lifetime, node), mark in self.marks.items()
        )
        resources = "".join(map(self._resource, self.resources))
        return STATUS.format(
            dc=truth(self.dc), quorum=truth(self.quorum), maintenance=truth(self.maintained), nodes=nodes, resources=resources, attributes=attributes,
            policy=self.policy,
        )  # fmt: skip

    @staticmethod
    def _resource(one):
        text = RESOURCE.format(
            id=one["id"],
            agent=one.get("agent", "ocf:pacemaker:Dummy"),
            role=one.get("role", "Started"),
            target=f'target_role="{one["target"]}" ' if "target" in one else "",
            blocked=truth(one.get("blocked")),
            count=int(one["node"] is not None),
            places=f'<node name="{one["node"]}" id="1" cached="true"/>' if one["node"] else "",
        )
        return f"<{one['inside']}>{text}</{one['inside'].split()[0]}>" if "inside" in one else text


class FakePacemaker:
    """In place of a VM's commands: a cluster, what was asked for in order, and what a test lets a command answer instead."""

    def __init__(self):
        self.live = State()
        self.files = {}
        self.name = "vm1"
        self.is_slow = False
        self.busy = []
        """What the controller says it does, one answer after the other; S_IDLE at the end."""
        self.calls, self.answers, self.environments = [], {}, []
        self.kill_after = None
        self.tie_breaker, self.asked_tie_breaker = None, False

    def run(self, line, environment, seconds):
        program, *words = line
        self.environments.append(dict(environment))
        state = self.live if "CIB_file" not in environment else self.files[environment["CIB_file"]]
        if state is self.live and program in ("crm_standby", "crm_attribute"):
            self.calls.append(" ".join(line))
        if program in self.answers:
            return self.answers[program]
        options = dict(word.lstrip("-").partition("=")[::2] for word in words)
        answer = getattr(self, f"_{program}".replace("-", "_"))(state, options)
        if self.kill_after is not None and state is self.live and program in ("crm_standby", "crm_attribute"):
            self.kill_after -= 1
            if self.kill_after == 0:
                raise KeyboardInterrupt
        return answer if isinstance(answer, CommandResult) else CommandResult(0, answer or "", "")

    def _crm_mon(self, state, options):
        return state.xml()

    def _crm_node(self, state, options):
        return f"{self.name}\n"

    def _crmadmin(self, state, options):
        said = self.busy.pop(0) if self.busy else "S_IDLE"
        return f"Controller on {options['status']} in state {said}: ok\n"

    def _corosync_quorumtool(self, state, options):
        is_so, text = state.votes.text(state.nodes)
        return CommandResult(0 if is_so else 2, text, "")

    def _corosync_cmapctl(self, state, options):
        self.asked_tie_breaker = True
        if self.tie_breaker is None:
            return CommandResult(1, "", "Can't get key quorum.auto_tie_breaker_node. Error CS_ERR_NOT_EXIST\n")
        return f"quorum.auto_tie_breaker_node (str) = {self.tie_breaker}\n"

    def _mktemp(self, state, options):
        self.folder = tempfile.mkdtemp()
        return self.folder + "\n"

    def _rm(self, state, options):
        os.rmdir(self.folder)

    def _crm_simulate(self, state, options):
        if "live-check" in options:
            self.files[options["save-input"]] = copy.deepcopy(self.live)
        else:
            future = copy.deepcopy(self.files[options["xml-file"]])
            future.settle()
            self.files[options["save-output"]] = future
        return "Transition Summary:\n  * Move       d1      (                 vm1 -> vm2 )\n"

    def _crm_standby(self, state, options):
        node = options["node"]
        if node not in state.nodes:
            return CommandResult(105, "", f"crm_attribute: Could not map name={node} to a UUID\n")
        if "delete" in options:
            found = state.standby.pop((options["lifetime"], node), None)
            return "Deleted nodes attribute: id=nodes-1-standby name=standby\n" if found else ""
        state.standby[options["lifetime"], node] = options["update"]
        if state is self.live and not self.is_slow:
            state.settle()
        return ""

    def _crm_attribute(self, state, options):
        key = options["lifetime"], options["node"]
        if "delete" in options:
            state.marks.pop(key, None)
        else:
            state.marks[key] = options["update"]

    def reboot(self):
        """The node leaves the cluster: what lasts until a reboot is gone."""
        for values in (self.live.standby, self.live.marks):
            for key in [key for key in values if key == ("reboot", "vm1")]:
                del values[key]
