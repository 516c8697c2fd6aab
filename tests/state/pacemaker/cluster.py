# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real Pacemaker cluster: corosync and pacemakerd for each node, in namespaces of its own, on a bridge of the suite's network."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import typing as t
import xml.etree.ElementTree

BRIDGE, NETWORK = "ha0", "10.93.0"
# Where the simulator is, for the nodes.
OUTSIDE = f"{NETWORK}.254"
# What a node has for itself: the sockets, shared memory and files of its daemons.
OWN = ("/run", "/dev/shm", "/var/lib/pacemaker", "/var/lib/corosync", "/var/log/pacemaker", "/etc/corosync")
COROSYNC = """totem {{
    version: 2
    cluster_name: shop
    transport: udpu
    token: 3000
    secauth: off
}}
nodelist {{
{nodes}
}}
quorum {{
    provider: corosync_votequorum
    {quorum}
}}
logging {{
    to_syslog: no
    to_stderr: no
    to_logfile: yes
    logfile: /run/corosync.log
}}
"""
NODE = "    node {{\n        ring0_addr: {address}\n        name: {name}\n        nodeid: {number}\n    }}"
# Keeps the node's namespaces, and waits for the processes that its daemons leave behind.
FIRST = """
import os, time
print("ready", flush=True)
while True:
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        time.sleep(0.2)
"""


class NodeError(AssertionError):
    """A node did not come up, or a command on it has failed."""


class Node:
    """One node: a process that keeps its namespaces, and the daemons in them."""

    def __init__(self, name: str, number: int, configuration: str) -> None:
        self.name, self.number = name, number
        self.address = f"{NETWORK}.{number}"
        self._configuration = configuration
        self._keeper: subprocess.Popen[str] | None = None
        self.process = 0
        """The first process of its namespaces, as this side counts processes."""
        self._enter: pathlib.Path | None = None

    def boot(self, with_pacemaker: bool = True) -> None:
        """Make the namespaces and start the daemons; the CIB of an earlier boot is kept in the folder of the node."""
        unshare = ["unshare", "--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child=SIGKILL", "--propagation", "private"]
        self._keeper = subprocess.Popen([*unshare, sys.executable, "-c", FIRST], stdout=subprocess.PIPE, text=True)
        assert self._keeper.stdout is not None and self._keeper.stdout.readline() == "ready\n"
        children = pathlib.Path(f"/proc/{self._keeper.pid}/task/{self._keeper.pid}/children").read_text().split()
        self.process = int(children[0])
        self._tell()
        outside, inside = f"{self.name}.o", "eth0"
        # The one of an earlier boot goes with its namespace, a little later; ip ends with 1 where there is none.
        self.until(lambda: _is_gone(outside), "its old network has gone", 20)
        self._host("ip", "link", "add", outside, "type", "veth", "peer", "name", inside, "netns", str(self.process))
        self._host("ip", "link", "set", outside, "master", BRIDGE, "up")
        self.run("mount", "-t", "proc", "proc", "/proc")
        self.run("hostname", self.name)
        for folder in OWN:
            self.run("mkdir", "-p", folder)
            if folder != "/var/lib/pacemaker":
                self.run("mount", "-t", "tmpfs", "-o", "mode=1777" if folder == "/dev/shm" else "mode=755", "tmpfs", folder)
        disk = f"/tmp/disk-{self.name}"
        self.run("mkdir", "-p", *(f"{disk}/{one}" for one in ("cib", "pengine", "blackbox", "cores")))
        self.run("mount", "--bind", disk, "/var/lib/pacemaker")
        self.run("chown", "-R", "hacluster:haclient", "/var/lib/pacemaker", "/var/log/pacemaker")
        for link in ("lo", inside):
            self.run("ip", "link", "set", link, "up")
        self.run("ip", "addr", "add", f"{self.address}/24", "dev", inside)
        self.run("sh", "-c", f"cat > /etc/corosync/corosync.conf <<'END'\n{self._configuration}END")
        self.start_corosync()
        if with_pacemaker:
            self.start_pacemaker()

    def start_corosync(self) -> None:
        self.run("corosync")
        self.until(lambda: self.run("corosync-cfgtool", "-s", code=None).returncode == 0, "corosync answers")

    def start_pacemaker(self) -> None:
        # With no settings of the tests, among them the one that refuses Azure's address to every Python: agents inherit them.
        self.run("sh", "-c", "env -i LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin setsid pacemakerd > /run/pacemakerd.log 2>&1 < /dev/null &")

    def stop_cluster(self) -> None:
        """End Corosync, and Pacemaker with it, at once. The VM goes on, and is reached."""
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.until(lambda: not self.processes(), "its daemons have ended")

    @property
    def is_up(self) -> bool:
        return self._keeper is not None

    def end(self) -> None:
        """Cut its power: every process in its namespaces is gone at once."""
        if self._keeper is not None:
            keeper, self._keeper = self._keeper, None
            os.kill(self.process, signal.SIGKILL)
            keeper.wait(20)
            assert keeper.stdout is not None
            keeper.stdout.close()

    def enter(self) -> list[str]:
        """Return how a command line begins that runs on this node."""
        return ["nsenter", "--target", str(self.process), "--mount", "--net", "--pid", "--uts", "--ipc", "--root", "--wd=/", "--"]

    def run(self, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([*self.enter(), *words], capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
        if code is not None and done.returncode != code:
            raise NodeError(f"{self.name}: {words} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def interpreter(self, folder: pathlib.Path, python: str) -> str:
        """Return the path of a Python that runs on this node, also after its next boot."""
        self._enter = folder / f"enter-{self.name}"
        path = folder / f"python-{self.name}"
        path.write_text(f'#!/bin/sh\nexec $(cat {self._enter}) {python} "$@"\n')
        path.chmod(0o755)
        self._tell()
        return str(path)

    def _tell(self) -> None:
        if self._enter is not None:
            self._enter.write_text(" ".join(self.enter()))

    def cut_off(self) -> None:
        """Let no module reach it any more, as none reaches a VM that stands still; until boot() or reach()."""
        if self._enter is not None:
            self._enter.write_text("false")

    def reach(self) -> None:
        self._tell()

    def has(self, path: str) -> bool:
        """Return whether a file is there, as the node sees it."""
        return os.path.exists(f"/proc/{self.process}/root{path}")

    def processes(self) -> list[int]:
        """Return all processes in its namespaces, as this side counts them, but for the one that keeps them."""
        wanted = os.readlink(f"/proc/{self.process}/ns/pid")
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and int(entry) != self.process and os.readlink(f"/proc/{entry}/ns/pid") == wanted:
                    found.append(int(entry))
            except OSError:
                continue
        return found

    def until(self, is_so: t.Callable[[], bool], what: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                raise NodeError(f"{self.name}: not within {seconds} s: {what}\n{self.run('crm_mon', '-1', code=None).stdout}")
            time.sleep(0.1)

    @staticmethod
    def _host(*words: str) -> None:
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=30)
        if done.returncode != 0:
            raise NodeError(f"{' '.join(words)}: {done.stderr}")


def _is_gone(link: str) -> bool:
    """Delete an end of a network, and return whether there is none any more."""
    return subprocess.run(["ip", "link", "delete", link], check=False, capture_output=True, timeout=30).returncode == 1


class Cluster:
    """Nodes of one cluster, without fencing: nothing here could reach a power switch."""

    def __init__(self, names: t.Sequence[str], quorum: str = "") -> None:
        """C(quorum): its settings of Corosync, for which two nodes and more have others."""
        subprocess.run(["sh", "-c", "getent group haclient > /dev/null || groupadd --system haclient"], check=True, timeout=30)
        # With an address of its own: else a bridge takes the lowest of its ports', and another one when a node is started again, and the nodes that know the
        # old one reach nobody for a minute.
        for words in (
            ("link", "add", BRIDGE, "address", "02:00:00:00:00:fe", "type", "bridge"),
            ("link", "set", BRIDGE, "up"),
            ("address", "add", f"{OUTSIDE}/24", "dev", BRIDGE),
        ):
            subprocess.run(["ip", *words], check=True, timeout=30)
        numbered = list(enumerate(names, 1))
        for name in names:
            # Of a cluster before this one.
            shutil.rmtree(f"/tmp/disk-{name}", ignore_errors=True)
        nodes = "\n".join(NODE.format(address=f"{NETWORK}.{number}", name=name, number=number) for number, name in numbered)
        quorum = quorum or ("two_node: 1\n    wait_for_all: 0" if len(numbered) == 2 else "wait_for_all: 0")
        configuration = COROSYNC.format(nodes=nodes, quorum=quorum)
        self.nodes = {name: Node(name, number, configuration) for number, name in numbered}

    def boot(self) -> None:
        for node in self.nodes.values():
            node.boot()
        self.any().until(lambda: len(self.online()) == len(self.nodes), "all nodes are online", 120)
        for name, value in (("stonith-enabled", "false"), ("no-quorum-policy", "stop")):
            self.any().run("crm_attribute", "--type", "crm_config", "--name", name, "--update", value)

    def any(self) -> Node:
        """Return a node that is up and answers."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for node in self.nodes.values():
                if node.is_up and node.run("crm_mon", "-1", code=None).returncode == 0:
                    return node
            time.sleep(0.2)
        raise NodeError("no node answers")

    def status(self) -> xml.etree.ElementTree.Element:
        return xml.etree.ElementTree.fromstring(self.any().run("crm_mon", "-1", "--output-as=xml", "--inactive").stdout)

    def online(self) -> list[str]:
        nodes = self.status().iterfind("./nodes/node")
        return [node.get("name", "") for node in nodes if node.get("online") == "true" and node.get("pending") == "false"]

    def add(self, *resources: str, prefer: str) -> None:
        """Make resources that take 3 s to start and to stop, and would rather be on one node."""
        for name in resources:
            primitive = (
                f'<primitive id="{name}" class="ocf" provider="pacemaker" type="Dummy"><instance_attributes id="{name}-a">'
                f'<nvpair id="{name}-sleep" name="op_sleep" value="3"/></instance_attributes></primitive>'
            )
            self.any().run("cibadmin", "--create", "--scope", "resources", "--xml-text", primitive)
            self.constrain(name, prefer, "100")
        for name in resources:
            self.any().until(lambda name=name: self.where(name) == [prefer], f"{name} runs on {prefer}")  # type: ignore[misc]
        self.settle()

    def constrain(self, resource: str, node: str, score: str) -> None:
        rule = f'<rsc_location id="{resource}-{node}" rsc="{resource}" node="{node}" score="{score}"/>'
        self.any().run("cibadmin", "--modify", "--allow-create", "--scope", "constraints", "--xml-text", rule)

    def settle(self) -> None:
        """Wait until the cluster has nothing left to do."""
        self.any().run("crm_resource", "--wait", "--timeout=60")

    def where(self, resource: str) -> list[str]:
        """Return the nodes on which a resource runs, by its own state file and not by what the cluster says."""
        return [name for name, node in self.nodes.items() if node.is_up and node.has(f"/run/Dummy-{resource}.state")]

    def configuration(self) -> dict[str, str]:
        """Return what was set of each node, lasting or not: standby and the mark beside it."""
        root = xml.etree.ElementTree.fromstring(self.any().run("cibadmin", "--query").stdout)
        pairs = [*root.iterfind("configuration/nodes/node//nvpair"), *root.iterfind("status/node_state/transient_attributes//nvpair")]
        wanted = ("standby", "maintenance-azure")
        return {str(pair.get("id")): str(pair.get("value")) for pair in pairs if pair.get("name") in wanted}

    def version(self) -> tuple[str | None, str | None]:
        """Return the revision of the configuration: each change of it counts."""
        root = xml.etree.ElementTree.fromstring(self.any().run("cibadmin", "--query").stdout)
        return root.get("admin_epoch"), root.get("epoch")

    def close(self) -> None:
        for node in self.nodes.values():
            node.end()
        # With the ends of the nodes' networks, so that another cluster can be made.
        subprocess.run(["ip", "link", "delete", BRIDGE], check=True, timeout=30)
