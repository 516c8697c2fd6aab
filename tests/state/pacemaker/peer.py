# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Azure's own agent for Pacemaker, azure-events-az of resource-agents, set up on the cluster as Azure documents it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import typing as t

from pacemaker.cluster import OUTSIDE, Cluster, Node

# What Azure's machines have there; it is an address of the node's own namespace here.
METADATA = "169.254.169.254"
# Passes what comes to that address on to the simulator.
FORWARD = """
import socket, sys, threading
def copy(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        pass
server = socket.create_server((sys.argv[1], 80))
print("ready", flush=True)
while True:
    client, _ = server.accept()
    target = socket.create_connection((sys.argv[2], int(sys.argv[3])))
    for pair in ((client, target), (target, client)):
        threading.Thread(target=copy, args=pair, daemon=True).start()
"""
AGENT = """
<clone id="health-azure-events"><meta_attributes id="hae-m">
  <nvpair id="hae-u" name="allow-unhealthy-nodes" value="true"/><nvpair id="hae-f" name="failure-timeout" value="120"/></meta_attributes>
<primitive id="azure-events" class="ocf" provider="heartbeat" type="azure-events-az"><operations>
  <op id="ae-mon" name="monitor" interval="10s" timeout="240s"/><op id="ae-start" name="start" interval="0" timeout="10s"/></operations></primitive></clone>
"""
RULE = """
<rsc_location id="loc-azure-health" rsc="d1"><rule id="lah-r" score-attribute="#health-azure">
  <expression id="lah-e" attribute="#uname" operation="defined"/></rule></rsc_location>
"""


@contextlib.contextmanager
def peer(cluster: Cluster, asks: bool = True) -> t.Iterator[None]:
    """Have the agent in the cluster; without C(asks) it is configured and stopped, as it is before its first start."""
    node = cluster.any()
    forwarders = [_forward(one) for one in cluster.nodes.values()] if asks else []
    try:
        node.run("crm_attribute", "--type", "crm_config", "--name", "node-health-strategy", "--update", "custom")
        for name in cluster.nodes:
            node.run("crm_attribute", "--node", name, "--name", "#health-azure", "--update", "0")
        agent = AGENT if asks else AGENT.replace('<nvpair id="hae-u"', '<nvpair id="hae-t" name="target-role" value="Stopped"/><nvpair id="hae-u"')
        node.run("cibadmin", "--create", "--scope", "resources", "--xml-text", agent)
        node.run("cibadmin", "--create", "--scope", "constraints", "--xml-text", RULE)
        if asks:
            node.until(lambda: _running(cluster) == len(cluster.nodes), "the agent runs on all nodes")
        yield
    finally:
        for what in ("//rsc_location[@id='loc-azure-health']", "//clone[@id='health-azure-events']"):
            node.run("cibadmin", "--delete", "--xpath", what, "--force", code=None)
        node.run("crm_attribute", "--type", "crm_config", "--name", "node-health-strategy", "--delete")
        for name in cluster.nodes:
            node.run("crm_attribute", "--node", name, "--name", "#health-azure", "--delete")
        for one in forwarders:
            one.kill()
            one.wait(10)


def _running(cluster: Cluster) -> int:
    return sum(one.get("id") == "azure-events" and one.get("role") == "Started" for one in cluster.status().iter("resource"))


def _forward(node: Node) -> subprocess.Popen[str]:
    node.run("ip", "address", "replace", f"{METADATA}/32", "dev", "lo")
    words = [*node.enter(), sys.executable, "-c", FORWARD, METADATA, OUTSIDE, str(8000 + node.number)]
    found = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert found.stdout is not None and found.stdout.readline() == "ready\n"
    return found
