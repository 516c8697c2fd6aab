# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that cannot be right are refused with what may be given, before any event needs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from fleet import HERE, environment

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings.catalogue import built_in

KINDS = ", ".join(built_in("linux"))
WRONG = {
    "empty": ([], "at least one method"),
    "text": ("service", "must be a list"),
    "no dictionary": (["service"], f"entry 1: method must be {KINDS}."),
    "unknown": (
        [{"method": "none"}, {"method": "services"}],
        f"entry 2 (services): method must be {KINDS}",
    ),
    "outside": ([{"method": "../../../etc"}], "method must be service"),
    "of Windows": (
        [{"method": "iis", "sites": ["Shop"]}],
        f"entry 1 (iis): method must be {KINDS}.",
    ),
    "option of none": ([{"method": "none", "names": ["a"]}], "there is no option names (did you mean name?). Options: none."),
    "lacking": ([{"method": "command", "begin": "true", "undo": "true"}], "check is missing: the command line"),
    "extra": ([{"method": "service", "names": ["a.service"], "unit": "a"}], "there is no option unit. Options: names, may_be_stopped."),
    "name": ([{"method": "none", "name": "../../x"}], "drain_methods, entry 1: name is wrong: ../../x. It must be small letters"),
    "name with a line": ([{"method": "none", "name": "a\n"}], "name is wrong"),
    "name of no text": ([{"method": "none", "name": 7}], "name is wrong: 7"),
    "two of a name": ([{"method": "none"}, {"method": "none", "name": "1-none"}], "entry 2: entry 1 has the name 1-none, too"),
    "by hand": ([{"method": "none", "by_hand": True}], "by_hand is for entries of drain_methods_former"),
    "names": ([{"method": "service", "names": "a.service"}], "names is wrong: a.service. It must be: a list"),
    "no names": ([{"method": "service", "names": []}], "names is wrong: []"),
    "number": ([{"method": "probe_file", "path": "/x", "interval": "soon"}], "interval is wrong: soon"),
    "boolean": ([{"method": "probe_file", "path": "/x", "threshold": True}], "threshold is wrong: True"),
    "choice": ([{"method": "probe_file", "path": "/x", "present_means": "up"}], "present_means is wrong: up"),
    "ports": ([{"method": "probe_file", "path": "/x", "ports": ["http"]}], "ports is wrong"),
    "file": ([{"method": "tasks", "begin": "a.yml", "check": "b.yml", "undo": "c.yml"}], "there is no file a.yml in"),
    "truth": ([{"method": "haproxy", "balancers": ["lb1"], "maintenance": "later"}], "maintenance is wrong: later"),
    "counts": ([{"method": "haproxy", "balancers": ["lb1"], "servers_left": {"web": -1}}], "servers_left is wrong: {'web': -1}. It must be: how many other"),
    "no balancers": ([{"method": "haproxy", "balancers": []}], "balancers is wrong: []"),
    "outside or not": ([{"method": "none", "outside": "there"}], "entry 1 (none): outside is wrong: there"),
    "two at once": ([{"method": "command"}, {"method": "probe_file"}], "entry 2 (probe_file): path is missing"),
}
WRONG_FORMER = {
    "former text": ("haproxy", "drain_methods_former must be a list of methods, and is haproxy"),
    "former file": ([{"method": "tasks", "undo": "c.yml"}], "drain_methods_former, entry 1 (tasks): undo: there is no file c.yml in /"),
    "former key": ([{"method": "tasks", "undoo": "c.yml"}], "drain_methods_former, entry 1 (tasks): there is no option undoo. Options: begin, check, undo."),
    "former kind": ([{"method": "haproxi"}], "drain_methods_former, entry 1 (haproxi): there is no method haproxi; there are command, galera, haproxy"),
}
RIGHT_FORMER = [{"method": "haproxy", "balancers": ["lb2"]}, {"method": "gone", "name": "x", "by_hand": True}]
RIGHT = [
    {"method": "service", "names": ["nginx.service", "app@1.service"]},
    {"method": "probe_file", "path": "/x", "present_means": "out", "interval": "5", "threshold": 3, "ports": [80, "443"], "mode": "0640"},
    {"method": "command", "begin": "a b", "check": ["a", 1], "undo": ["c"], "timeout": 5},
    {"method": "haproxy", "balancers": ["lb1"], "maintenance": "no", "sessions": "2", "servers_left": {"web": 2, "api": "0"}, "outside": True},
    {"method": "none", "outside": "false", "name": "nothing_at-all"},
]


def test_validation(tmp_path: Path) -> None:
    cases: dict[str, object] = {name: {"methods": methods, "former": []} for name, (methods, _words) in WRONG.items()}
    cases.update({name: {"methods": RIGHT, "former": former} for name, (former, _words) in WRONG_FORMER.items()})
    cases["right"] = {"methods": RIGHT, "former": RIGHT_FORMER}
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    command = [
        str(Path(sys.executable).with_name("ansible-playbook")),
        "-i",
        "localhost,",
        "-e",
        json.dumps({"test_folder": str(tmp_path)}),
        str(HERE / "validation.yml"),
    ]
    run = subprocess.run(command, env=environment(tmp_path), text=True, capture_output=True, timeout=180, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    said = json.loads((tmp_path / "said.json").read_text())
    assert said["right"] == "fine"
    assert {name: words for name, (_given, words) in {**WRONG, **WRONG_FORMER}.items() if words not in said[name]} == {}, said
