from __future__ import annotations
import subprocess, time, signal, pathlib
from cluster import Cluster, run, until

BEGAN = time.monotonic()
def say(*words): print(f"{time.monotonic()-BEGAN:.1f}", *words, flush=True)

def watch(c, node, seconds):
    last, end = None, time.monotonic() + seconds
    while time.monotonic() < end:
        now = (c.state(node), c.reason(node), c.show(node).split("BootTime=")[1].split()[0])
        if now != last: say("   ", node, now)
        last = now
        time.sleep(0.2)

def drain(c): run("scontrol", "update", "nodename=vm1", "state=drain", "reason=maintenance.azure E-1")
def resume(): say("resume", subprocess.run(["scontrol", "update", "nodename=vm1", "state=resume"], capture_output=True, text=True))

def test_it():
    c = Cluster(["vm1", "vm2"], silence=10)
    pathlib.Path("/tmp/het.sh").write_text("#!/bin/bash\n#SBATCH -n1\n#SBATCH -w vm1\n#SBATCH hetjob\n#SBATCH -n1\n#SBATCH -w vm2\nsleep 60\n")
    het = run("sbatch", "--parsable", "-o", "/dev/null", "/tmp/het.sh").strip()
    until(lambda: c.job_state(het) == "RUNNING", "het")
    say(c.runs_on("vm1"), c.runs_on("vm2"), run("scontrol", "requeue", "incomplete", het))
    time.sleep(2); say(c.runs_on("vm1"), c.runs_on("vm2"), run("squeue", "-h", "-o", "%i %T")); run("scancel", het)
    say("a: resume before the slurmd of the new boot registers")
    drain(c); c.stop("vm1", signal.SIGKILL); resume(); watch(c, "vm1", 3); c.start_node("vm1", booted=True); watch(c, "vm1", 15)
    say("repair"); resume(); watch(c, "vm1", 12)
    say("b: stays drained until it registers")
    c.stop("vm1", signal.SIGKILL); drain(c); c.start_node("vm1", booted=True); watch(c, "vm1", 12); resume(); watch(c, "vm1", 10)
    say("c: silent for longer, drained")
    drain(c); c.stop("vm1", signal.SIGKILL); watch(c, "vm1", 30); c.start_node("vm1", booted=True); watch(c, "vm1", 12); resume(); watch(c, "vm1", 10)
    say("d: frozen 40 s, drained")
    drain(c); p = c.processes["vm1"]; 
    kids = [p.pid, *map(int, pathlib.Path(f"/proc/{p.pid}/task/{p.pid}/children").read_text().split())]
    for k in kids: __import__("os").kill(k, signal.SIGSTOP)
    watch(c, "vm1", 40)
    for k in kids: __import__("os").kill(k, signal.SIGCONT)
    say("thawed"); watch(c, "vm1", 15); resume(); watch(c, "vm1", 10)
    c.close()
