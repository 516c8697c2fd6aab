# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run modules.yml with the Ansible that is first on PATH, on each of the Pythons that are named, all at once."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "integration"
SIMULATOR = ROOT / "roles" / "simulator" / "files" / "imds_simulator"
RECAP = re.compile(r"^(\S+)\s+: ok=(\d+).* unreachable=(\d+)\s+failed=(\d+).* ignored=(\d+)")
PASSED = "All assertions passed"


def interpreter(version: str) -> str:
    found = subprocess.run([str(ROOT / "tests" / "tools" / "python.sh"), version], capture_output=True, text=True, check=False)
    if found.returncode:
        raise SystemExit(found.stderr.strip())
    return found.stdout.strip()


def start_simulator(names: list[str]) -> tuple[subprocess.Popen[str], dict]:
    command = [sys.executable, str(SIMULATOR), "--control", "127.0.0.1:0", "--speed", "60", "--parent", str(os.getpid())]
    for name in names:
        command += ["--vm", name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


def inventory(pythons: list[str], addresses: dict, folder: pathlib.Path) -> dict:
    hosts = {}
    for version in pythons:
        name = f"py{version.replace('.', '-')}"
        hosts[name] = {
            "ansible_connection": "local",
            "ansible_python_interpreter": interpreter(version),
            "wanted_python": version,
            "endpoint": addresses["vms"][name],
            "control": addresses["control"],
            "records_path": str(folder / name),
        }
    return {"all": {"children": {"pythons": {"hosts": hosts}}}}


def check_core(wanted: str) -> None:
    shown = subprocess.run(["ansible-playbook", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"core (\d+\.\d+)", shown)
    if not found or found[1] != wanted:
        raise SystemExit(f"ansible-core {wanted} is wanted, and this is first on PATH: {shown.splitlines()[0]}")


def count(output: str, pythons: list[str]) -> tuple[int, int]:
    """An assertion that passed is one passed; a host that stopped, or did not run, is one failed."""
    passed, finished = output.count(PASSED), 0
    for line in output.splitlines():
        found = RECAP.match(line)
        if found and found[3] == "0" and found[4] == "0":
            finished += 1
    expected = sum(text.count("ansible.builtin.assert:") for text in (path.read_text() for path in HERE.rglob("*.yml")))
    failed = len(pythons) - finished
    if not failed and passed != expected * len(pythons):
        print(f"{passed} assertions passed, {expected} for each of {len(pythons)} hosts were expected.")
        failed = 1
    return passed, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--core", required=True, help="the version of ansible-core that must be first on PATH, such as 2.21")
    parser.add_argument("pythons", nargs="+")
    arguments = parser.parse_args()
    check_core(arguments.core)
    names = [f"py{version.replace('.', '-')}" for version in arguments.pythons]
    simulator, addresses = start_simulator(names)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "inventory.json"
            path.write_text(json.dumps(inventory(arguments.pythons, addresses, pathlib.Path(folder))))
            command = ["ansible-playbook", "-i", str(path), "-f", str(len(arguments.pythons)), str(HERE / "modules.yml")]
            output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    finally:
        simulator.terminate()
        simulator.wait(10)
    print(output)
    passed, failed = count(output, arguments.pythons)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
