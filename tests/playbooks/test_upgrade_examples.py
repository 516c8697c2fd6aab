# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The examples of the guide for rolling upgrades and of the roles' READMEs: Ansible takes them, and every playbook option in them is there."""

from __future__ import annotations

import json
import re
import textwrap
import typing as t

import yaml
from lab.lab import Lab
from lab.simulator import ROOT

Make = t.Callable[..., Lab]
GUIDE = ROOT / "docs" / "docsite" / "rst" / "rolling_upgrades_guide.rst"
PAGES = [ROOT / "roles" / "gate" / "README.md", ROOT / "roles" / "upgrade" / "README.md"]


def examples() -> list[str]:
    """Every YAML block."""
    found = [textwrap.dedent(block) for block in re.findall(r"^\.\. code-block:: yaml\n\n((?:    .*\n|\n)+)", GUIDE.read_text(), re.MULTILINE)]
    return found + [block for page in PAGES for block in re.findall(r"^```yaml\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)]


def plays(blocks: t.Iterable[str]) -> list[dict[str, t.Any]]:
    found = []
    for block in blocks:
        loaded = yaml.safe_load(block)
        found += loaded if "hosts" in loaded[0] else [{"name": "Tasks", "hosts": "all", "gather_facts": False, "tasks": loaded}]
    return found


def test_ansible_takes_every_example(make_lab: Make) -> None:
    blocks = examples()
    assert len(blocks) >= 9
    lab = make_lab(["web1"])
    # Modules of a collection that is not installed here: their names are enough for a check of the syntax.
    stubs = lab.folder / "stubs" / "ansible_collections" / "azure" / "azcollection" / "plugins" / "modules"
    stubs.mkdir(parents=True)
    for name in set(re.findall(r"azure\.azcollection\.(\w+):", "".join(blocks))):
        (stubs / f"{name}.py").write_text("")
    (lab.folder / "play.json").write_text(json.dumps(plays(blocks)))
    environment = lab.environment()
    environment["ANSIBLE_COLLECTIONS_PATH"] += f":{lab.folder / 'stubs'}"
    lab.environment = lambda **more: {**environment, **more}  # type: ignore[method-assign]
    lab.play(str(lab.folder / "play.json"), "--syntax-check")


def test_options_of_the_commands_are_there() -> None:
    text = "\n".join(path.read_text() for path in [GUIDE, *PAGES])
    code = "\n".join(path.read_text() for folder in ("roles", "playbooks") for path in sorted((ROOT / folder).rglob("*.yml")))
    options = set(re.findall(r"-e ([a-z_]+)=", text)) | set(re.findall(r"``((?:gate|upgrade|respond)_[a-z_]+)", text))
    assert {"upgrade_hosts", "upgrade_tasks", "gate_dead_run"} <= options
    assert [name for name in sorted(options) if not re.search(rf"\b{name}\b", code)] == []
