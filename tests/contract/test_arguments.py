# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every argument that we pass to a module of a collection for Windows, against that collection's own documentation.

From the oldest and the newest release that we support. The stand-ins are held against the same, so that they do not drift.
"""

from __future__ import annotations

import ast
import pathlib
import sys
import typing as t

import pytest
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lab.ansible_package import RELEASES, Options, release
from lab.windows_machine import COLLECTIONS
from uses import COMPUTED, FREE_FORM, Use, from_document, from_source, in_python, in_yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._windows import calls

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of what is passed without being documented; each with where it was seen.
UNDOCUMENTED: dict[str, set[str]] = {}
# What a stand-in must be given, because it does not play what the real module does without.
STRICTER = {("ansible.windows.win_powershell", "script"), ("microsoft.iis.web_app_pool", "state")}
TYPES: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (int, float), "list": (list,), "dict": (dict,)}
TEXT = ("str", "path")


def canonical(options: Options) -> dict[str, str]:
    """Each name and alias of an option, and the name of that option."""
    names = {alias: name for name, option in options.items() for alias in option.get("aliases") or []}
    return {**names, **{name: name for name in options}}


def is_computed(value: t.Any) -> bool:
    return value is COMPUTED or (isinstance(value, str) and ("{{" in value or "{%" in value))


def problems_of_value(where: str, value: t.Any, option: dict[str, t.Any]) -> list[str]:
    """What is wrong with a value that stands in the source; nothing where it is computed."""
    if is_computed(value) or value is None:
        return []
    kind = option.get("type", "str")
    expected = TYPES.get(kind)
    if kind in TEXT and not isinstance(value, str):
        return [f"{where} is {value!r} and must be text"]
    if expected and (not isinstance(value, expected) or (bool not in expected and isinstance(value, bool))):
        return [f"{where} is {value!r} and must be of type {kind}"]
    found: list[str] = []
    if isinstance(value, list):
        for item in value:
            found += problems_of_value(f"an element of {where}", item, {"type": option.get("elements", "raw"), **_inner(option)})
        return found
    if isinstance(value, dict) and option.get("suboptions"):
        return problems_of_arguments(f"{where}: ", value, option["suboptions"])
    choices = option.get("choices")
    if choices and value not in list(choices):
        found.append(f"{where} is {value!r}, and the choices are {', '.join(map(str, choices))}")
    return found


def _inner(option: dict[str, t.Any]) -> dict[str, t.Any]:
    return {key: option[key] for key in ("choices", "suboptions") if key in option}


def problems_of_arguments(where: str, arguments: dict[str, t.Any], options: Options, complete: bool = True) -> list[str]:
    names = canonical(options)
    found = []
    for name, value in arguments.items():
        if name not in names:
            found.append(f"{where}there is no option {name}")
        else:
            found += problems_of_value(f"{where}option {name}", value, options[names[name]])
    given = {names.get(name) for name in arguments}
    missing = [name for name, option in options.items() if option.get("required") and name not in given]
    return found + [f"{where}the option {name} is required" for name in missing if complete]


def problems(use: Use, which: str) -> list[str]:
    collection = use.module.rpartition(".")[0]
    where = f"{use.where}: {use.module} ({collection} {release(which).version(collection)}): "
    options = release(which).options(use.module)
    if options is None:
        return [f"{where}there is no such module"]
    arguments = {name: value for name, value in use.arguments.items() if name not in UNDOCUMENTED.get(use.module, set())}
    return problems_of_arguments(where, arguments, options, use.complete)


@pytest.mark.parametrize("which", RELEASES)
def test_our_arguments(which: str, capsys: pytest.CaptureFixture[str]) -> None:
    uses = in_python(ROOT) + in_yaml(ROOT)
    modules = {use.module for use in uses}
    assert {f"ansible.windows.{name}" for name in ("win_uri", "win_command", "win_wait_for", "setup")} <= modules
    found = [problem for use in uses for problem in problems(use, which)]
    with capsys.disabled():
        versions = ", ".join(f"{name} {release(which).version(name)}" for name in sorted({module.rpartition(".")[0] for module in modules}))
        print(f"\n{which}: {versions}: {sum(len(use.arguments) for use in uses)} arguments in {len(uses)} calls of {len(modules)} modules")
    assert not found, "\n".join(found)


def test_the_oldest_are_those_that_we_say() -> None:
    assert release("oldest").version("ansible.windows") == ".".join(map(str, calls.OLDEST))
    # docs/docsite/rst/windows_guide.rst
    assert release("oldest").version("microsoft.iis").startswith("1.0.")


def stand_ins() -> dict[str, dict[str, dict[str, t.Any]]]:
    """The argument spec of each stand-in, by the module's whole name: the first argument of begin()."""
    found = {}
    for path in sorted(COLLECTIONS.glob("*/*/plugins/modules/*.py")):
        tree = ast.parse(path.read_text())
        names = {target.id: node.value for node in tree.body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}
        (call,) = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "begin"]
        given = call.args[0]
        namespace, collection = path.parts[-5:-3]
        found[f"{namespace}.{collection}.{path.stem}"] = ast.literal_eval(names[given.id] if isinstance(given, ast.Name) else given)
    return found


def plain_default(value: t.Any, kind: str) -> t.Any:
    if kind == "bool" and isinstance(value, str):
        return yaml.safe_load(value)
    return [value] if kind == "list" and value is not None and not isinstance(value, list) else value


@pytest.mark.parametrize("which", RELEASES)
@pytest.mark.parametrize("module", stand_ins())
def test_a_stand_in_has_nothing_of_its_own(module: str, which: str) -> None:
    options = release(which).options(module)
    assert options is not None, "there is no such module"
    names = canonical(options)
    for name, mine in stand_ins()[module].items():
        if name.startswith("_") and name != FREE_FORM:
            continue  # between an action plugin and its module
        assert name in names, f"{name} is not an option of the real module"
        real = options[names[name]]
        kind = real.get("type", "str")
        assert mine.get("type") == ("str" if kind in TEXT else kind) or mine.get("type") == kind, name
        assert set(mine.get("aliases", [])) <= {alias for alias, option in names.items() if option == names[name]}, name
        assert set(mine.get("choices", [])) <= set(real.get("choices") or mine.get("choices", [])), name
        if (module, name) in STRICTER:
            assert mine.get("required"), name
            continue
        assert bool(mine.get("required")) == bool(real.get("required")), name
        assert mine.get("default") == plain_default(real.get("default"), kind), name


PLANTED = {
    "call('win_uri', uri='http://x')": "there is no option uri",
    "call('win_uri', method='GET')": "the option url is required",
    "call('win_uri', url='x', follow_redirects='never')": "the choices are",
    "call('win_uri', url='x', use_proxy='no')": "must be of type bool",
    "call('win_uri', url='x', timeout=True)": "must be of type int",
    "call('win_uri', url='x', status_code=['ok'])": "an element of",
    "call('win_uri', url=5)": "must be text",
    "call('win_nothing', url=5)": "there is no such module",
    "call('win_uri', **more)": "there is no option wrong",
}


@pytest.mark.parametrize("which", RELEASES)
@pytest.mark.parametrize("call", PLANTED)
def test_a_planted_mistake_in_python_is_found(call: str, which: str) -> None:
    source = f"class Some:\n    def ask(self, where):\n        more = {{'url': where}}\n        more['wrong'] = 1\n        self._calls.{call}\n"
    (use,) = from_source(source, "some.py")
    assert any(PLANTED[call] in problem for problem in problems(use, which)), problems(use, which)


@pytest.mark.parametrize("hidden", ["self._calls.call(name, url='x')", "self._calls.call('win_uri', **given)", "self._calls.call('win_uri', **{name: 1})"])
def test_what_cannot_be_checked_is_an_error(hidden: str) -> None:
    with pytest.raises(AssertionError, match="some.py:2"):
        from_source(f"def ask(self, name, given):\n    {hidden}\n", "some.py")


@pytest.mark.parametrize("which", RELEASES)
def test_a_planted_mistake_in_yaml_is_found(which: str) -> None:
    tasks = yaml.safe_load("""
- hosts: all
  module_defaults:
    ansible.windows.win_service: {state: stoped}
  tasks:
    - name: fine
      ansible.windows.win_service: {name: "{{ x }}", state: "{{ y }}", force_dependent_services: true}
    - name: free form
      ansible.windows.win_command: hostname
      args: {chdir: 'C:\\'}
    - block:
        - name: wrong option
          ansible.windows.win_service: {name: x, status: stopped}
      rescue:
        - name: no free form
          ansible.windows.win_service: stopped
    - name: wrong type
      action: {module: community.windows.win_scheduled_task_stat, name: x, path: [1]}
    - name: wrong suboption
      ansible.windows.win_service: {name: x, failure_actions: [{type: restart, dely: 3}]}
""")
    found = [problem for use in from_document(tasks, "play.yml") for problem in problems(use, which)]
    words = ("state is 'stoped'", "no option status", f"no option {FREE_FORM}", "must be text", "no option dely", "option name is required")
    assert len(found) == len(words), found
    for word in words:
        assert any(word in problem for problem in found), word
    assert not any("fine" in problem or ": free form" in problem for problem in found), found
