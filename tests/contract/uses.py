# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each argument that we give to a module of a collection for Windows, found in our source."""

from __future__ import annotations

import ast
import pathlib
import re
import typing as t

import yaml

MODULE = re.compile(r"(?:ansible\.windows|community\.windows|microsoft\.iis)\.[a-z0-9_]+")
# The one place that builds a module's name from a part, for all who call it.
WRAPPER = "plugins/plugin_utils/_windows/calls.py"
FREE_FORM = "_raw_params"


class Computed:
    """A value that is known only when it runs."""

    def __repr__(self) -> str:
        return "(computed)"


COMPUTED = Computed()


class Use(t.NamedTuple):
    where: str
    module: str
    arguments: dict[str, t.Any]
    # Defaults for a module need not be everything that it requires.
    complete: bool = True


def in_python(root: pathlib.Path) -> list[Use]:
    """From every call("win_x", ...) and every _execute_module with a name that begins so."""
    found: list[Use] = []
    for path in sorted((root / "plugins").rglob("*.py")):
        where = str(path.relative_to(root))
        found += from_source(path.read_text(), where)
    return found


def from_source(source: str, where: str) -> list[Use]:
    tree = ast.parse(source)
    found = []
    for function in [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]:
        for node in ast.walk(function):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            place = f"{where}:{node.lineno}"
            if node.func.attr == "call" and (_is_calls(node.func.value) or str(_value(node.args[0])).startswith("win_")):
                name = _text(node.args[0], place)
                module = name if MODULE.fullmatch(name) else f"ansible.windows.{name}"
                found.append(Use(place, module, _keywords(node.keywords, function, place)))
            elif node.func.attr == "_execute_module" and where != WRAPPER:
                given = {keyword.arg: keyword.value for keyword in node.keywords}
                module = _value(given["module_name"]) if "module_name" in given else None
                if isinstance(module, str) and MODULE.fullmatch(module):
                    found.append(Use(place, module, _mapping(given["module_args"], function, place)))
                elif not isinstance(module, str) and "module_name" in given:
                    raise AssertionError(f"{place}: the module's name is computed; give it as text, or {WRAPPER} the call")
    return found


def _is_calls(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.strip("_") in ("calls", "self")


def _text(node: ast.expr, place: str) -> str:
    value = _value(node)
    if not isinstance(value, str):
        raise AssertionError(f"{place}: the module's name is computed, so its arguments cannot be checked; give it as text")
    return value


def _value(node: ast.expr) -> t.Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return COMPUTED


def _keywords(keywords: list[ast.keyword], function: ast.AST, place: str) -> dict[str, t.Any]:
    arguments: dict[str, t.Any] = {}
    for keyword in keywords:
        arguments.update({keyword.arg: _value(keyword.value)} if keyword.arg else _mapping(keyword.value, function, place))
    return arguments


def _mapping(node: ast.expr, function: ast.AST, place: str) -> dict[str, t.Any]:
    """A dict that is written there, or that a name stands for which is filled in the same function."""
    if isinstance(node, ast.Dict):
        return _written(node, place)
    if not isinstance(node, ast.Name):
        raise AssertionError(f"{place}: these arguments cannot be found; write a dict, or a name that is filled in this function")
    arguments: dict[str, t.Any] = {}
    known = False
    for inner in ast.walk(function):
        targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target] if isinstance(inner, ast.AnnAssign) else []
        for target in targets:
            value = t.cast("ast.Assign", inner).value
            if isinstance(target, ast.Name) and target.id == node.id:
                arguments.update(_mapping(value, function, place))
                known = True
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == node.id:
                arguments[_text(target.slice, place)] = _value(value)
        if _is_update_of(inner, node.id):
            filling = t.cast("ast.Call", inner)
            arguments.update(_keywords(filling.keywords, function, place))
            for argument in filling.args:
                arguments.update(_mapping(argument, function, place))
    if not known:
        raise AssertionError(f"{place}: {node.id} is not filled in this function, so these arguments cannot be checked")
    return arguments


def _written(node: ast.Dict, place: str) -> dict[str, t.Any]:
    if any(key is None or not isinstance(_value(key), str) for key in node.keys):
        raise AssertionError(f"{place}: the names of these arguments are computed, so they cannot be checked")
    return {_value(t.cast("ast.expr", key)): _value(value) for key, value in zip(node.keys, node.values)}


def _is_update_of(node: ast.AST, name: str) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update"):
        return False
    return isinstance(node.func.value, ast.Name) and node.func.value.id == name


def in_yaml(root: pathlib.Path) -> list[Use]:
    """From every task, handler and module_defaults in our roles, playbooks and extensions."""
    found: list[Use] = []
    for folder in ("roles", "playbooks", "extensions"):
        for path in sorted(path for pattern in ("*.yml", "*.yaml") for path in (root / folder).rglob(pattern)):
            if "meta" not in path.parts:
                found += from_document(yaml.load(path.read_text(), Loader), str(path.relative_to(root)))
    return found


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Knows !unsafe and !vault: their values are not looked into."""


Loader.add_multi_constructor("!", lambda _loader, _suffix, _node: COMPUTED)


def from_document(document: t.Any, where: str, defaults: bool = False) -> list[Use]:
    found: list[Use] = []
    if isinstance(document, list):
        for item in document:
            found += from_document(item, where, defaults)
    if isinstance(document, dict):
        for key, value in document.items():
            if isinstance(key, str) and MODULE.fullmatch(key):
                found.append(Use(f"{where}: {document.get('name', key)}", key, _arguments(value, document.get("args")), not defaults))
            elif key in ("action", "local_action") and isinstance(value, dict) and MODULE.fullmatch(str(value.get("module"))):
                found.append(Use(f"{where}: {document.get('name')}", str(value["module"]), {name: at for name, at in value.items() if name != "module"}))
            else:
                found += from_document(value, where, defaults or key == "module_defaults")
    return found


def _arguments(value: t.Any, more: t.Any) -> dict[str, t.Any]:
    arguments: dict[str, t.Any] = dict(more) if isinstance(more, dict) else {}
    if isinstance(value, dict):
        arguments.update(value)
    elif value is not None:
        arguments[FREE_FORM] = value
    return arguments
