# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each kind of drain method has one home: its name stands nowhere else in the code, so that nothing there can depend on which kind it is."""

from __future__ import annotations

import ast
import pathlib
import re
from collections.abc import Iterator

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import METHODS, WINDOWS_METHODS
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import TASKS

PLUGINS = pathlib.Path(__file__).resolve().parents[6] / "plugins"
KINDS = {*METHODS, *WINDOWS_METHODS, *TASKS}
# English words of their own: they name a kind only as a whole text, in code that knows drain methods, or where a method or a kind is compared.
WORDS = {"service", "command", "tasks", "none"}
HOMES = (
    "module_utils/_scheduled_events/drain/methods/",
    "module_utils/_scheduled_events/drain/registry.py",
    "plugin_utils/_drain/kinds/haproxy/",
    "plugin_utils/_drain/kinds/kubernetes/",
    "plugin_utils/_drain/kinds/tasks.py",
    "plugin_utils/_drain/kinds/registry.py",
)
KNOWS_METHODS = re.compile(r"^from \S*\b_?drain\b", re.MULTILINE)
# Where a name stands all the same, and what it means there.
EXCEPTIONS = {
    ("action/plan.py", "tasks"): "the option of an upgrade that names its tasks file",
    ("modules/haproxy_server.py", "haproxy"): "the product that this public module is for; method haproxy is one user of it",
    ("module_utils/_haproxy_change.py", "haproxy"): "a file of that module",
    ("module_utils/_haproxy_runtime.py", "haproxy"): "a file of that module",
    ("modules/kubernetes_node.py", "kubernetes"): "the product that this module is for, and its Python package",
    ("plugin_utils/_windows/machine/web_server.py", "iis"): "the product, as host access reaches it; method iis is its user",
    ("plugin_utils/_drain/settings/validation.py", "command"): "a type of options, as text and whole are",
    ("module_utils/_scheduled_events/imds/enabled_since.py", "silence"): "the time in which nobody has asked an endpoint",
    ("plugin_utils/_drain/settings/validation.py", "none"): "the word for no options",
    ("plugin_utils/_maintenance/report/status.py", "none"): "the word for no actions and no description",
}
WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def names_in(source: str, file: str = "") -> Iterator[str]:
    """Return the kinds that a file names, as a text or in an identifier. Documentation and messages are longer texts."""
    tree, texts = ast.parse(source), KINDS if "drain/" in file or KNOWS_METHODS.search(source) else KINDS - WORDS
    distinct = [(kind, re.compile(rf"(?:^|_){re.escape(kind)}")) for kind in KINDS - WORDS]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lower() in texts:
            yield node.value.lower()
        if isinstance(node, ast.Compare) and re.search("method|kind", ast.unparse(node)):
            yield from (one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and one.value in WORDS)
        for name in identifiers(node):
            yield from (kind for kind, form in distinct if form.search(WORD_BEGINS.sub("_", name).lower()))


def identifiers(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [*(node.module or "").split("."), *(name for alias in node.names for name in (alias.name, alias.asname or ""))]
    if isinstance(node, ast.Import):
        return [name for alias in node.names for name in (*alias.name.split("."), alias.asname or "")]
    return [name for key in ("id", "attr", "arg", "name") if isinstance(name := getattr(node, key, None), str)]


def test_no_kind_is_named_outside_its_home() -> None:
    paths = {path.relative_to(PLUGINS).as_posix(): path for path in sorted(PLUGINS.rglob("*.py"))}
    found = {(file, kind) for file, path in paths.items() if not file.startswith(HOMES) for kind in names_in(path.read_text(), file)}
    # An exception that nothing needs any more goes, too.
    assert found == set(EXCEPTIONS)


@pytest.mark.parametrize(("source", "kinds"), [
    ('if one.kind == "haproxy": pass', {"haproxy"}),
    ('HANDLERS = {"wsfc": run, "probe_file": run}', {"wsfc", "probe_file"}),
    ('HAPROXY = 1', {"haproxy"}),
    ('def _undo_haproxy(x): pass', {"haproxy"}),
    ('from ..methods.windows.iis import IISMethod', {"iis"}),
    ('class HAProxyFinding: pass', {"haproxy"}),
    ('finding.read_haproxy(x)', {"haproxy"}),
    ('run(is_wsfc=True)', {"wsfc"}),
    ('run(wsfc=True)', {"wsfc"}),
    ('entries = [one for one in x if one.kind == "command"]', {"command"}),
    ('if order["kind"] in ("tasks", "none"): pass', {"tasks", "none"}),
    ('from .._drain.kinds.registry import kind_of\nX = ("tasks",)', {"tasks"}),
    # Words, products in messages, and documentation.
    ('X = ("tasks",)', set()),
    ('"""What method haproxy does."""\ncommand = f"{service} of IIS" or "none"', set()),
])  # fmt: skip
def test_the_walk_finds_a_name_that_is_put_back(source: str, kinds: set[str]) -> None:
    assert set(names_in(source)) == kinds
