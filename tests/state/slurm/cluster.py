# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real Slurm: one slurmctld, a slurmd for each VM on the same kernel, and munge. In the namespaces of tests/state/inside.sh, whose root it writes to."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import secrets
import shutil
import signal
import subprocess
import time
import typing as t

ADDRESS = "10.9.0.1"
CONFIGURATION = """
ClusterName=lab
SlurmctldHost=host({address})
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
ReturnToService={return_to_service}
SlurmctldTimeout=30
SlurmdTimeout={silence}
MessageTimeout=10
KillWait=5
MinJobAge=300
SchedulerParameters=bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd-%n.pid
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd-%n
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd-%n.log
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def run(*words: str, code: int | None = 0, seconds: float = 30) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False)
    assert code is None or done.returncode == code, f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def until(holds: t.Callable[[], t.Any], what: str, seconds: float = 60) -> t.Any:
    end = time.monotonic() + seconds
    while True:
        found = holds()
        if found:
            return found
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.1)


def _is_step_of(command_line: pathlib.Path, node: str) -> bool:
    try:
        words = command_line.read_bytes().split(b"\0")
    except OSError:
        return False
    return b"slurmstepd" in words[0] and node.encode() in b" ".join(words)


class Cluster:
    """Started by the first, ended with the namespaces or by close()."""

    def __init__(self, nodes: t.Sequence[str], return_to_service: int = 0, silence: int = 60, twins: t.Sequence[str] = ()) -> None:
        self.nodes = list(nodes)
        self.twins = list(twins)
        """Nodes of one VM, whose name is twin; start_node() starts their slurmds."""
        self._read = 0
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.conf = pathlib.Path("/etc/slurm")
        self.shared = pathlib.Path("/tmp/slurm-jobs")
        shutil.rmtree("/var/spool/slurmctld", ignore_errors=True)
        shutil.rmtree(self.shared, ignore_errors=True)
        for program in ("slurmctld", "slurmd", "slurmstepd"):
            # An alternative, which the package makes when it is installed.
            link = pathlib.Path(f"/usr/sbin/{program}")
            if not link.is_symlink():
                link.symlink_to(f"{program}-wlm")
        self._address()
        self._configure(return_to_service, silence)
        self.start_munge()
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        until(lambda: all(self.state(node) == "IDLE" for node in self.nodes), "all nodes are idle")

    def _address(self) -> None:
        """slurmd does not register over a loopback address."""
        if ADDRESS not in run("ip", "-o", "addr"):
            run("ip", "link", "add", "slurm0", "type", "veth", "peer", "name", "slurm1")
            run("ip", "addr", "add", f"{ADDRESS}/24", "dev", "slurm0")
            for device in ("slurm0", "slurm1"):
                run("ip", "link", "set", device, "up")

    def _configure(self, return_to_service: int, silence: int) -> None:
        for folder in (
            self.conf,
            self.shared,
            pathlib.Path("/var/spool/slurmctld"),
            *(pathlib.Path(f"/var/spool/slurmd-{node}") for node in (*self.nodes, *self.twins)),
        ):
            folder.mkdir(parents=True, exist_ok=True)
        # Without a host's name for the others: that of this machine would make all of them nodes of one VM.
        lines = [
            f"NodeName={node} {'NodeHostname=twin ' if node in self.twins else ''}NodeAddr={ADDRESS} Port={17001 + number} CPUs=2"
            for number, node in enumerate((*self.nodes, *self.twins))
        ]
        (self.conf / "slurm.conf").write_text(
            CONFIGURATION.format(address=ADDRESS, nodes="\n".join(lines), return_to_service=return_to_service, silence=silence)
        )
        (self.conf / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nIgnoreSystemd=yes\n")
        key = pathlib.Path("/etc/munge/munge.key")
        key.parent.mkdir(exist_ok=True)
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        for folder in ("/etc/munge", "/var/lib/munge", "/var/log/munge", "/run/munge"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            run("chown", "-R", "munge:munge", folder)
        os.chmod("/run/munge", 0o755)

    # Daemons, each a child of this process.

    def _start(self, name: str, *words: str) -> None:
        with open(f"/var/log/{name}.out", "ab") as output:
            self.processes[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def stop(self, name: str, number: signal.Signals = signal.SIGTERM) -> None:
        process = self.processes.pop(name)
        process.send_signal(number)
        process.wait(30)

    def start_munge(self) -> None:
        self._start("munged", "setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "--foreground", "--force")
        until(lambda: subprocess.run(["munge", "-n"], capture_output=True, check=False).returncode == 0, "munge answers")

    def start_controller(self) -> None:
        self._start("slurmctld", "slurmctld", "-D")
        until(lambda: "UP" in run("scontrol", "ping", code=None), "slurmctld answers")

    def start_node(self, node: str, booted: bool = False) -> None:
        """Start a slurmd. C(booted): in a namespace of time in which the VM has booted right now, as Slurm sees after a restart of the VM."""
        uptime = int(time.clock_gettime(time.CLOCK_BOOTTIME))
        clock = ["unshare", "--time", "--boottime", str(2 - uptime), "--fork", "--kill-child"] if booted else []
        self._start(node, *clock, "slurmd", "-D", "-N", node)

    def processes_of(self, node: str) -> list[int]:
        """All processes of a VM: its slurmd, and the jobs, which slurmd has started."""
        children: dict[int, list[int]] = {}
        for place in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                children.setdefault(int(place.read_text().rpartition(")")[2].split()[1]), []).append(int(place.parent.name))
        found = [self.processes[node].pid]
        # slurmstepd is no child of slurmd; its command line names the node.
        found += [int(place.parent.name) for place in pathlib.Path("/proc").glob("[0-9]*/cmdline") if _is_step_of(place, node)]
        for one in found:
            found += [child for child in children.get(one, []) if child not in found]
        return found

    def kill(self, node: str) -> None:
        """End a VM at once."""
        for process in self.processes_of(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.processes.pop(node).wait(30)

    def settle(self) -> None:
        """All nodes in service, and no job; nothing in the log of the jobs, and of the controller."""
        for name in ("RUNNING", "PENDING", "SUSPENDED"):
            run("scancel", f"--state={name}", "--user=root", code=None)
        until(lambda: not run("squeue", "-h", "-a"), "no job is left")
        for node in self.nodes:
            if self.state(node) != "IDLE":
                run("scontrol", "update", f"nodename={node}", "state=resume", code=None)
        until(lambda: all(self.state(node) == "IDLE" for node in self.nodes), "all nodes are idle")
        for path in self.shared.iterdir():
            path.unlink()
        self._read = len(self._controller_log())

    @staticmethod
    def _controller_log() -> list[str]:
        return pathlib.Path("/var/log/slurmctld.log").read_text(errors="replace").splitlines()

    def updates(self, node: str) -> list[str]:
        """What slurmctld was asked to set a node to since settle(), by its own log."""
        lines = self._controller_log()[self._read :]
        return [word for line in lines for word in re.findall(rf"update_node: node {node} .*state set to (\w+)", line)]

    def close(self) -> None:
        run("scancel", "--state=RUNNING", "--state=PENDING", "--user=root", code=None)
        for name in list(self.processes):
            self.stop(name, signal.SIGKILL)

    # What Slurm says.

    def show(self, node: str) -> str:
        return run("scontrol", "show", "node", node)

    def state(self, node: str) -> str:
        return re.findall(r"^ +State=(\S+)", self.show(node), re.MULTILINE)[0]

    def reason(self, node: str) -> str:
        found = re.findall(r"^ +Reason=(.*) \[", self.show(node), re.MULTILINE)
        return found[0] if found else ""

    # Jobs: each writes when it begins, when it ends, and when it is killed.

    def submit(self, seconds: float, *options: str, node: str = "", ends: str = "never") -> str:
        """A job of so many seconds, or until end() is called for C(ends): a busy machine takes its time for what a test waits for."""
        log = f"{self.shared}/log"
        script = (
            f"echo begun $SLURM_JOB_ID $SLURMD_NODENAME >> {log}; trap 'echo killed $SLURM_JOB_ID >> {log}; exit 1' TERM; left={int(seconds * 5)}; "
            f"while [ $left -gt 0 ] && [ ! -e {self.shared}/{ends} ]; do sleep 0.2; left=$((left - 1)); done; echo ended $SLURM_JOB_ID >> {log}"
        )
        where = ["-w", node] if node else []
        return run("sbatch", "--parsable", "-n1", "-o", "/dev/null", *where, *options, "--wrap", script).strip()

    def end(self, ends: str) -> None:
        (self.shared / ends).touch()

    def log(self, word: str) -> list[str]:
        path = self.shared / "log"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.split(" ", 1)[1] for line in lines if line.startswith(f"{word} ")]

    def job(self, job: str) -> str:
        return run("scontrol", "show", "job", job)

    def start_now(self, job: str, node: str) -> None:
        """Let a job that was requeued start, for which Slurm has it wait two minutes, and on another node than the one it was submitted for."""
        run("scontrol", "update", f"jobid={job}", f"nodelist={node}", "starttime=now")

    def job_state(self, job: str) -> str:
        return re.findall(r"JobState=(\S+)", self.job(job))[0]

    def runs_on(self, node: str) -> list[str]:
        return run("squeue", "-h", "-a", "-w", node, "-o", "%i %T").splitlines()
