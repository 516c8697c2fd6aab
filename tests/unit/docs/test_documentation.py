# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the documentation says exists: links, files, names, options, make targets, policies."""

from __future__ import annotations

import ast
import pathlib
import re
import typing as t

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings.catalogue import known_methods
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.capacity_groups import KEYS as CAPACITY_KEYS
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.capacity_groups import load as load_capacity
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.policy import KEYS as POLICY_KEYS
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.policy import NAMED as NAMED_POLICIES
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.policy import load as load_policy

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("roles/*/README.md"), *ROOT.glob("extensions/**/*.md")])
PAGES = [page for page in PAGES if page.name != "CHANGELOG.md"]
GALAXY = yaml.safe_load((ROOT / "galaxy.yml").read_text())
OWN_FILES = f"{GALAXY['repository']}/blob/main/"
FENCE = re.compile(r"^( *)```([a-z]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
# In running text a path with a placeholder (NAME, ID, …, <name>) is a pattern, not a file.
PATH_IN_TEXT = re.compile(r"`((?:\.ci|docs|meta|playbooks|plugins|roles|tests|changelogs|extensions)/[a-zA-Z0-9_./-]*)`")
OWN_NAME = re.compile(r"\bmaintenance\.azure\.([a-z_]+)")
PREFIXED = re.compile(r"\b((?:respond|observe|drain|approve|recover|gate|upgrade|simulator|status|drill|decide|awx)_[a-z_]*[a-z])\b(?!\.(?:rst|py)\b)")
# Those of the engine and those that are tasks, with their options.
KNOWN_METHODS = known_methods([str(ROOT / "roles" / "drain" / "tasks" / "methods")])
CERTIFICATION_ORDER = [
    "Description",
    "Requirements",
    "Installation",
    "Use cases",
    "Testing",
    "Contributing",
    "Support",
    "Release notes and roadmap",
    "Related information",
    "License",
]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def prose(page: pathlib.Path) -> str:
    return FENCE.sub("", page.read_text())


def examples(page: pathlib.Path, language: str) -> list[str]:
    return [found[3] for found in FENCE.finditer(page.read_text()) if found[2] == language]


def anchors(page: pathlib.Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def assigned_text(path: pathlib.Path, name: str) -> str:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == name for target in node.targets):
            return str(ast.literal_eval(node.value))
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Name) and inner.targets[0].id == name:
                    return str(ast.literal_eval(inner.value))
    return ""


def module_options(name: str) -> set[str]:
    documentation = yaml.safe_load(assigned_text(ROOT / "plugins" / "modules" / f"{name}.py", "DOCUMENTATION"))
    options = set(documentation.get("options", {}))
    for fragment in documentation.get("extends_documentation_fragment", []):
        parts = fragment.split(".")
        variable = parts[3].upper() if len(parts) > 3 else "DOCUMENTATION"
        text = assigned_text(ROOT / "plugins" / "doc_fragments" / f"{parts[2]}.py", variable)
        options |= set((yaml.safe_load(text) or {}).get("options", {}))
    return options


def modules() -> set[str]:
    return {path.stem for path in (ROOT / "plugins" / "modules").glob("*.py")}


def role_options() -> set[str]:
    found: set[str] = set()
    for path in ROOT.glob("roles/*/meta/argument_specs.yml"):
        for entry in yaml.safe_load(path.read_text())["argument_specs"].values():
            found |= set(entry.get("options", {}))
    return found


def text_of_code() -> str:
    """Playbooks and roles: facts and variables that they set, and the simulator's switches, are no options."""
    paths = [*(ROOT / "playbooks").rglob("*.yml"), *(ROOT / "roles").rglob("*.yml"), *(ROOT / "roles").rglob("*.py")]
    return "\n".join(path.read_text() for path in sorted(paths))


def own_names() -> set[str]:
    names = modules() | {path.name for path in (ROOT / "roles").iterdir() if path.is_dir()}
    names |= {path.stem for path in (ROOT / "plugins" / "filter").glob("*.yml")}
    names |= {path.stem for folder in ("callback", "filter", "lookup", "test") for path in (ROOT / "plugins" / folder).glob("*.py")}
    names |= {path.stem for path in (ROOT / "playbooks").glob("*.yml")}
    eda = ROOT / "extensions" / "eda"
    names |= {path.stem for kind in ("plugins/event_filter/*.py", "plugins/event_source/*.py", "rulebooks/*.yml") for path in eda.glob(kind)}
    groups = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["action_groups"]
    # The last one begins the types of a watcher's messages.
    return names | set(groups) | {"scheduled_event"}


def walk(value: t.Any) -> t.Iterator[tuple[str, t.Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key), inner
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)


def test_only_a_release_has_the_version_of_one() -> None:
    released = yaml.safe_load((ROOT / "changelogs" / "changelog.yaml").read_text())["releases"]
    numbers = {tuple(map(int, version.split("."))) for version in released}
    own = tuple(map(int, GALAXY["version"].split(".")))
    # The release itself has no fragments left.
    assert own > max(numbers) or (own == max(numbers) and not list((ROOT / "changelogs" / "fragments").glob("*.yml")))


def test_there_are_pages() -> None:
    assert {"README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"} <= {page.name for page in PAGES}
    assert len(PAGES) > 8


@each_page
def test_links_lead_somewhere(page: pathlib.Path) -> None:
    for target in LINK.findall(prose(page)):
        if target.startswith(OWN_FILES):
            path, anchor = ROOT / target[len(OWN_FILES) :].partition("#")[0], target.partition("#")[2]
        elif "://" in target or target.startswith("mailto:"):
            assert GALAXY["repository"] + "/tree/main/" not in target or (ROOT / target.partition("/tree/main/")[2]).is_dir(), target
            continue
        else:
            path, anchor = page.parent / target.partition("#")[0] if target[0] != "#" else page, target.partition("#")[2]
        assert path.exists(), f"{target} is not there"
        assert not anchor or anchor in anchors(path), f"{target}: no such heading"


def test_readme_links_are_absolute() -> None:
    """Galaxy and Automation Hub show the README away from its repository."""
    relative = [target for target in LINK.findall(prose(ROOT / "README.md")) if "://" not in target and target[0] != "#"]
    assert relative == []


@each_page
def test_files_named_exist(page: pathlib.Path) -> None:
    for name in PATH_IN_TEXT.findall(prose(page)):
        if not re.search(r"NAME|ID\b|METHOD", name):
            assert (ROOT / name).exists() or (page.parent / name).exists(), f"{page.name} names {name}"


@each_page
def test_names_of_this_collection_exist(page: pathlib.Path) -> None:
    for name in OWN_NAME.findall(page.read_text()):
        assert name in own_names(), f"{page.name} names maintenance.azure.{name}"


@each_page
def test_variables_named_exist(page: pathlib.Path) -> None:
    files = {path.stem for folder in ("extensions/eda/rulebooks", "playbooks") for path in (ROOT / folder).glob("*.yml")}
    known, code = role_options() | set(POLICY_KEYS) | files, text_of_code()
    for name in set(PREFIXED.findall(page.read_text())):
        assert name in known or re.search(rf"\b{name}\b", code), f"{page.name} names {name}"


@each_page
def test_make_targets_exist(page: pathlib.Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = re.findall(r"`make ([a-z-]+)`", prose(page))
    commands += [name for text in examples(page, "console") for name in re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)]
    for name in commands:
        assert name in targets, f"{page.name} names make {name}"


@each_page
def test_yaml_examples(page: pathlib.Path) -> None:
    rulebooks = {path.stem for path in (ROOT / "extensions" / "eda" / "rulebooks").glob("*.yml")}
    known, code = role_options() | set(POLICY_KEYS) | rulebooks, text_of_code()
    for text in examples(page, "yaml"):
        for document in yaml.safe_load_all(text):
            for key, value in walk(document):
                if key.startswith("maintenance.azure.") and isinstance(value, dict):
                    name = key.rpartition(".")[2]
                    assert name in modules(), f"{key} is not a module"
                    assert set(value) <= module_options(name), f"{key}: {set(value) - module_options(name)}"
                elif PREFIXED.fullmatch(key) and key.split("_")[0] not in ("status", "drill"):
                    assert key in known or re.search(rf"\b{key}\b", code), f"{key} is no option of a role"


def method_options(name: str) -> set[str]:
    assert name in KNOWN_METHODS, f"there is no drain method {name}"
    return set(KNOWN_METHODS[name] or {})


@each_page
def test_drain_methods_in_examples(page: pathlib.Path) -> None:
    for text in examples(page, "yaml"):
        for document in yaml.safe_load_all(text):
            for key, value in walk(document):
                for method in value if key == "drain_methods" else []:
                    assert set(method) - {"method", "outside", "cluster"} <= method_options(method["method"]), method


def test_every_option_of_every_drain_method_is_described() -> None:
    sections = re.split(r"^## ", (ROOT / "docs" / "drain-methods.md").read_text(), flags=re.MULTILINE)
    described = {section.split("\n", 1)[0]: set(re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)) for section in sections}
    assert len(KNOWN_METHODS) >= 8
    for name in KNOWN_METHODS:
        assert described[name] == method_options(name), name


@each_page
def test_nobody_is_told_to_ask_the_real_address(page: pathlib.Path) -> None:
    for language in ("console", "bash", "sh", "shell"):
        for text in examples(page, language):
            assert "169.254.169.254" not in text


def test_readme_is_in_the_order_of_certification() -> None:
    titles = re.findall(r"^## (.+)$", prose(ROOT / "README.md"), re.MULTILINE)
    assert [title for title in titles if title in CERTIFICATION_ORDER] == CERTIFICATION_ORDER
    assert titles.index("Description") == 1, "before it only what asking does"


def policies(page: pathlib.Path) -> list[list[dict[str, t.Any]]]:
    found = []
    for text in examples(page, "yaml"):
        for document in yaml.safe_load_all(text):
            found += [value for key, value in walk(document) if key == "respond_policy" and isinstance(value, list)]
    return found


def test_readme_s_table_of_contents_names_what_there_is() -> None:
    rows = dict(re.findall(r"^\| (playbooks|roles|modules|test|lookups|callback|filters) \| (.*) \|$", (ROOT / "README.md").read_text(), re.MULTILINE))
    found = {kind: {name.rpartition(".")[2] for name in re.findall(r"`([a-z_.]+)`", row)} for kind, row in rows.items()}
    kinds = ("modules", "test", "lookup", "callback", "filter")
    names = {kind: {path.stem for path in (ROOT / "plugins" / kind).iterdir() if path.suffix in (".py", ".yml")} for kind in kinds}
    assert found["modules"] == names["modules"] and found["callback"] == names["callback"]
    assert found["lookups"] == names["lookup"] and found["test"] == names["test"]
    assert found["filters"] and found["filters"] <= names["filter"]
    assert found["roles"] == {path.name for path in (ROOT / "roles").iterdir()}
    assert found["playbooks"] == {path.stem for path in (ROOT / "playbooks").glob("*.yml")}


def test_policies_of_the_documentation_load() -> None:
    shown = policies(ROOT / "docs" / "policy.md")
    assert len(shown) >= 4
    for policy in shown:
        assert [rule.decision.name for rule in load_policy(policy).rules] == [rule["name"] for rule in policy]
    assert shown[:2] == [NAMED_POLICIES["default"], NAMED_POLICIES["documentation"]]


def test_capacity_groups_of_the_documentation_load() -> None:
    shown = [
        [{**group, "members": ["vm"] if isinstance(group["members"], str) else group["members"]} for group in groups]
        for page in PAGES
        for text in examples(page, "yaml")
        for document in yaml.safe_load_all(text)
        for key, groups in walk(document)
        if key == "respond_capacity"
    ]
    assert len(shown) >= 2
    for groups in shown:
        assert [group.name for group in load_capacity(groups)] == [group["name"] for group in groups]
    described = re.findall(r"^\| `([a-z_]+)` \|", (ROOT / "docs" / "capacity.md").read_text(), re.MULTILINE)
    assert tuple(described[: len(CAPACITY_KEYS)]) == CAPACITY_KEYS


def test_the_messages_of_the_runbook_are_those_of_the_code() -> None:
    """An operator searches the page for what is on the screen."""
    text = (ROOT / "docs" / "runbook.md").read_text().partition("## Troubleshooting by message")[2]
    messages = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    code = "\n".join(path.read_text() for path in sorted((ROOT / "plugins").rglob("*.py")))
    assert len(messages) >= 20
    assert [message for message in messages if message not in code] == []


def test_the_runbook_undoes_drain_methods_that_there_are() -> None:
    """The others, as those of a user, are undone as their undo says."""
    text = (ROOT / "docs" / "runbook.md").read_text().partition("## Put a VM back by hand")[2].partition("## Exit codes")[0]
    assert {"service", "probe_file", "haproxy"} <= set(re.findall(r"^ +\| `([a-z_]+)`", text, re.MULTILINE)) <= set(KNOWN_METHODS)


TYPES = {
    "text": "str",
    "texts": "list",
    "whole": "int",
    "wholes": "list",
    "seconds": "int",
    "truth": "bool",
    "mode": "str",
    "command": "raw",
    "counts": "raw",
    "mapping": "dict",
    "options": "dict",
}


def specifications(role: str) -> dict[str, t.Any]:
    found = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text())["argument_specs"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("kind", KNOWN_METHODS)
def test_ansible_doc_describes_every_drain_method(kind: str) -> None:
    """C(ansible-doc -t role maintenance.azure.drain -e method_NAME), as the method itself says."""
    entry = specifications("drain")[f"method_{kind}"]
    _compare(entry, KNOWN_METHODS[kind] or {})
    assert [one["method"] for one in yaml.safe_load(entry["examples"])["drain_methods"]][0] == kind


def _compare(entry: t.Any, options: t.Any) -> None:
    assert list(entry.get("options", {})) == list(options)
    for name, shown in entry.get("options", {}).items():
        about = options[name]
        _compare(shown, about.get("parts", {}))
        assert shown["type"] == TYPES.get(about["type"], "str"), name
        assert shown.get("required", False) == bool(about.get("required")), name
        assert shown.get("default") == (None if about.get("required") else about.get("default")), name
        assert shown.get("choices", []) == list(about.get("choices") or []), name
        # Messages take their words from here; a class has its own where another system's differ.
        assert shown["description"] and "description" not in about, name


@pytest.mark.parametrize(("role", "entry", "option"), [
    ("respond", "main", "respond_hosts"), ("respond", "status", "status_hosts"), ("respond", "decide", "decide_hosts"),
    ("simulator", "playbook", "drill_speed"), ("gate", "playbook", "gate_hosts"), ("upgrade", "playbook", "upgrade_hosts"),
])  # fmt: skip
def test_ansible_doc_describes_the_variables_of_playbooks(role: str, entry: str, option: str) -> None:
    assert option in specifications(role)[entry]["options"]


@pytest.mark.parametrize("role", ["respond", "observe", "drain", "approve", "recover", "gate", "upgrade", "simulator"])
def test_ansible_doc_shows_an_example_of_each_role(role: str) -> None:
    shown = [yaml.safe_load(entry["examples"]) for entry in specifications(role).values() if "examples" in entry]
    assert shown and all(shown)
