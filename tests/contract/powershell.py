# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The PowerShell and the command lines for Windows: where they are, what a grammar makes of them, and what may be in them."""

from __future__ import annotations

import ast
import dataclasses
import pathlib
import typing as t

import tree_sitter
import tree_sitter_powershell
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
LEARN = "https://learn.microsoft.com/en-us/"

# Every cmdlet that may be in a text, with the parameters that may be, and the page of Microsoft's documentation both were checked
# against. Common parameters are not meant to be needed: win_powershell's error_action makes an error an error.
CMDLETS: dict[str, tuple[set[str], str]] = {
    "ConvertTo-Json": ({"InputObject", "Depth", "Compress"}, "powershell/module/microsoft.powershell.utility/convertto-json"),
    "ForEach-Object": ({"Process"}, "powershell/module/microsoft.powershell.core/foreach-object"),
    "Get-CimInstance": ({"ClassName"}, "powershell/module/cimcmdlets/get-ciminstance"),
    "Get-Cluster": (set(), "powershell/module/failoverclusters/get-cluster"),
    "Get-ClusterGroup": (set(), "powershell/module/failoverclusters/get-clustergroup"),
    "Get-ClusterNode": (set(), "powershell/module/failoverclusters/get-clusternode"),
    "Get-NetTCPConnection": (set(), "powershell/module/nettcpip/get-nettcpconnection"),
    "Invoke-Sqlcmd": ({"ServerInstance", "Query", "QueryTimeout", "DisableVariables"}, "powershell/module/sqlps/invoke-sqlcmd"),
    "Resume-ClusterNode": ({"Name", "Failback"}, "powershell/module/failoverclusters/resume-clusternode"),
    "Select-Object": ({"Property"}, "powershell/module/microsoft.powershell.utility/select-object"),
    "Suspend-ClusterNode": ({"Name", "Drain"}, "powershell/module/failoverclusters/suspend-clusternode"),
    "Where-Object": ({"FilterScript"}, "powershell/module/microsoft.powershell.core/where-object"),
}
SWITCHES = {"Compress", "DisableVariables", "Drain"}
# Methods of .NET objects, as written after the last dot; and the static members.
METHODS = {"Replace", "ToString"}
STATICS = {"[DateTime]::UtcNow"}
# Other programs: how the command line begins, and the page.
COMMANDS = {
    'cmd.exe /d /s /c "move /y ': "windows-server/administration/windows-commands/move",
    "sc.exe": "windows/win32/services/controlling-a-service-using-sc",
}
# The programs in tasks of roles, each with Microsoft's page for it. The commands of a line of cmd.exe are each played by its stand-in, or refused.
WINDOWS_COMMANDS = "windows-server/administration/windows-commands"
TASK_PROGRAMS = {
    "cmd.exe": f"{WINDOWS_COMMANDS}/cmd",
    "schtasks.exe": "windows/win32/taskschd/schtasks",
    "{{ watch_python }}": "a Python that the user names",
}
PLUGINS = ROOT / "plugins" / "plugin_utils" / "_windows"


@dataclasses.dataclass(frozen=True)
class Text:
    name: str
    script: str
    pages: str
    """The comment above it."""


def documents() -> t.Iterator[tuple[pathlib.Path, t.Any]]:
    for path in sorted([*(ROOT / "roles").rglob("*.yml"), *(ROOT / "playbooks").rglob("*.yml")]):
        yield path, yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def texts() -> list[Text]:
    """Every constant whose name ends with _SCRIPT, and the comment before it."""
    return [
        Text(name, ast.literal_eval(node), comment_above(path, node.lineno))
        for path in sources()
        for name, node in constants(path).items()
        if name.endswith("_SCRIPT")
    ]


def sources() -> list[pathlib.Path]:
    return sorted(PLUGINS.rglob("*.py"))


def constants(path: pathlib.Path) -> dict[str, ast.expr]:
    """The value of each name of a file."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return found


def comment_above(path: pathlib.Path, line: int) -> str:
    """The comment right above a line."""
    found: list[str] = []
    for text in reversed(path.read_text().splitlines()[: line - 1]):
        if not text.startswith("#"):
            break
        found.insert(0, text)
    return "\n".join(found)


def calls_of(module: str) -> list[tuple[str, dict[str, ast.expr]]]:
    """(file and line, arguments) of each call of this module of ansible.windows by a drain method."""
    found = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == module:
                arguments = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
                found.append((f"{path.relative_to(ROOT)}:{node.lineno}", arguments))
    return found


def keys_of(place: str, arguments: dict[str, ast.expr]) -> set[str]:
    """The parameters that a call gives its text: the last dictionary of this name before it."""
    if "parameters" not in arguments:
        return set()
    name, _colon, line = place.partition(":")
    given = [node for node in ast.walk(ast.parse((ROOT / name).read_text())) if is_assignment(node, ast.unparse(arguments["parameters"]))]
    last = max((node for node in given if node.lineno < int(line)), key=lambda node: node.lineno)
    return {ast.literal_eval(key) for key in t.cast("ast.Dict", last.value).keys if key}


def is_assignment(node: ast.AST, name: str) -> t.TypeGuard[ast.Assign]:
    """Whether it gives this name a dictionary."""
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and ast.unparse(node.targets[0]) == name


def tasks_of(module: str) -> list[tuple[str, dict[str, t.Any]]]:
    """(file and name, arguments) of each task with this module."""

    def walk(path: pathlib.Path, value: t.Any) -> t.Iterator[tuple[str, dict[str, t.Any]]]:
        if isinstance(value, dict):
            if isinstance(value.get(module), (dict, str)):
                yield f"{path.relative_to(ROOT)}: {value.get('name')}", value[module]
            for inner in value.values():
                yield from walk(path, inner)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(path, inner)

    return [task for path, document in documents() for task in walk(path, document)]


def nodes(script: str) -> list[tree_sitter.Node]:
    waiting, found = [PARSER.parse(script.encode()).root_node], []
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += node.children
    return found


def words(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode()


def problems(script: str) -> list[str]:
    """What is wrong with a text: its grammar, or something in it that is not on the list."""
    found = [f"no PowerShell at {words(node)[:60]!r}" for node in nodes(script) if node.is_error or node.is_missing]
    for node in nodes(script):
        if node.type == "command":
            found += problems_of_command(node)
        elif node.type == "invokation_expression" and words(node).partition("(")[0].rpartition(".")[2] not in METHODS:
            found.append(f"method {words(node)[:60]} is not listed")
        elif node.type == "member_access" and "::" in words(node) and words(node) not in STATICS:
            found.append(f"member {words(node)} is not listed")
        elif node.type.startswith("expandable_"):
            found.append(f"text with variables in it: {words(node)[:60]}")
    return found


def problems_of_command(node: tree_sitter.Node) -> list[str]:
    named = node.child_by_field_name("command_name")
    name = words(named) if named else words(node).split()[0]
    if name not in CMDLETS:
        return [f"{name} is not listed"]
    found, before = [], ""
    for inner in nodes_of_command(node):
        if inner.type == "command_parameter":
            before = words(inner).lstrip("-")
            if before not in CMDLETS[name][0]:
                found.append(f"{name} -{before} is not listed")
        elif inner.type != "command_argument_sep":
            if before in ("", *SWITCHES):
                found.append(f"{name} is given {words(inner)} without a parameter")
            before = ""
    return found


def nodes_of_command(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    return [inner for elements in node.children_by_field_name("command_elements") for inner in elements.children]
