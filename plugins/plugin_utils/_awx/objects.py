# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Turn the data set of role awx into a list of objects, each with the options of the module of awx.awx that creates it.

An object is {kind, name, made, arguments}. The list also has objects that are only referred to, such as credentials, with made false: they must exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...module_utils._scheduled_events.core.types import Data, Values
from .._core.wrong_input import WrongInput
from . import hiding, surveys
from .kinds import BY_NAME, KINDS, MARK, STARTED, Kind

SECRETS = ("password", "token", "account_token", "service_key", "aws_access_key_id", "aws_secret_access_key", "aws_session_token", "grafana_key")
OURS = ("made", "survey", "nodes")


class Names:
    """The names that the role creates, and which therefore get the prefix."""

    def __init__(self, prefix: str, entries: Mapping[str, Sequence[Values]], labels: Sequence[str]) -> None:
        self.prefix = prefix
        self.declared = {kind: {str(entry["name"]): bool(entry.get("made", True)) for entry in found} for kind, found in entries.items()}
        self.declared["label"] = dict.fromkeys(labels, True)

    def full(self, kind: str, name: str) -> str:
        """Return the name in AWX. A name that the data set does not create stays as it is."""
        kinds = STARTED if kind == "unified_job_template" else (kind,)
        return f"{self.prefix}{name}" if any(self.declared.get(one, {}).get(name, False) for one in kinds) else name


def make_objects(data: Values, specs: Values, defaults: Values | None = None) -> list[Data]:
    """Return all objects in order of creation. data: the role's variables; specs and defaults: those of the roles that surveys ask for."""
    entries = {kind.name: _entries(kind, data) for kind in KINDS if kind.name != "label"}
    labels = list(dict.fromkeys(str(label) for found in entries.values() for entry in found for label in entry.get("labels") or []))
    names = Names(str(data.get("awx_prefix") or ""), entries, labels)
    entries["label"] = [{"name": label} for label in labels]
    organization = entries["organization"][0]
    _startable(entries)
    made = []
    for kind in KINDS:
        for entry in entries[kind.name]:
            owned = entry if kind.name == "organization" else {"organization": str(organization["name"]), **entry}
            if kind.name == "execution_environment" and data.get("awx_state") == "absent" and not entry.get("image"):
                # The module requires an organization, even to remove an object.
                owned = {**owned, "image": "none"}
            made.append(_object(kind, owned, names, specs, defaults or {}))
    return _named_only(made) + made


def _entries(kind: Kind, data: Values) -> list[Data]:
    """Return the entries of a kind, with the options that all of them share."""
    given = data.get(kind.variable) or []
    given = [given] if isinstance(given, Mapping) else given
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(entry, Mapping) for entry in given):
        # The message omits the value, which may be a secret.
        raise WrongInput(f"{kind.variable} must be a list of mappings, not {_form(given)}")
    if kind.name == "organization" and len(given) != 1:
        raise WrongInput("awx_organization must be one mapping with a name: everything else belongs to it")
    shared = data.get("awx_job_template_defaults") or {} if kind.name == "job_template" else {}
    notified = _notified(data.get("awx_notify") or {}) if kind.name in ("job_template", "workflow_job_template") else {}
    if kind.name == "job_template":
        notified.pop("notification_templates_approvals", None)
    entries = [{**notified, **shared, **entry} for entry in given]
    for number, entry in enumerate(entries, 1):
        if not str(entry.get("name") or "").strip():
            raise WrongInput(f"{kind.variable} has an entry without a name: number {number}, with {', '.join(sorted(map(str, entry))) or 'nothing'}")
    found = [(str(entry["name"]), str(entry.get("inventory"))) for entry in entries]
    twice = sorted({name for name, place in found if found.count((name, place)) > 1})
    if twice and kind.name != "schedule":
        raise WrongInput(f"{kind.variable} has two entries of the same name: {', '.join(twice)}")
    return entries


def _startable(entries: Mapping[str, Sequence[Values]]) -> None:
    """Refuse one name for two things to start: AWX finds them by name alone, whatever their kind."""
    names = [str(entry["name"]) for kind in STARTED for entry in entries[kind]]
    for schedule in entries["schedule"]:
        name = str(schedule.get("unified_job_template"))
        if names.count(name) > 1:
            raise WrongInput(
                f"the schedule {schedule['name']} starts {name}, and several of {', '.join(STARTED)} have that name; AWX could not tell them apart"
            )


def _notified(notify: Values) -> Data:
    unknown = sorted(set(notify) - {"started", "success", "error", "approvals"})
    if unknown:
        raise WrongInput(f"awx_notify has {', '.join(unknown)}; there are started, success, error and approvals, each a list of names")
    return {f"notification_templates_{when}": list(names or []) for when, names in notify.items()}


def _object(kind: Kind, entry: Values, names: Names, specs: Values, defaults: Values) -> Data:
    made = bool(entry.get("made", True))
    name = names.full(kind.name, str(entry["name"]))
    arguments = {key: value for key, value in entry.items() if key not in OURS}
    for option, related in kind.relations.items():
        if option in arguments:
            arguments[option] = _related(related, arguments[option], names)
            if arguments[option] == "":
                del arguments[option]
    arguments["name"] = name
    if kind.described:
        arguments["description"] = f"{arguments.get('description') or ''} {MARK}".strip()
    if kind.name in ADDED:
        ADDED[kind.name](arguments, entry, names, specs, defaults)
    return {"kind": kind.name, "name": name, "made": made, "arguments": arguments}


def _related(kind: str, value: Any, names: Names) -> Any:
    if isinstance(value, str):
        return names.full(kind, value) if value else ""
    if isinstance(value, Sequence):
        return [names.full(kind, str(one)) for one in value]
    return "" if value is None else value


def _execution_environment(arguments: Data, entry: Values, *_other: Any) -> None:
    if not arguments.get("image") and entry.get("made", True):
        raise WrongInput(
            f"the execution environment {arguments['name']} has no image: set awx_image to the one that has this collection in it, "
            "or say made: false in its entry if it is managed elsewhere"
        )


def _form(given: Any) -> str:
    """Return a description of the value's type that reveals none of its content."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return f"a list with {', '.join(sorted({type(entry).__name__ for entry in given if not isinstance(entry, Mapping)}))} in it"
    return f"of type {type(given).__name__}"


def _project(arguments: Data, entry: Values, *_other: Any) -> None:
    if entry.get("made", True) and hiding.LOGIN.match(str(arguments.get("scm_url") or "")):
        raise WrongInput(
            f"the project {arguments['name']} has a login in its scm_url: put it into a credential of type Source Control, "
            "and name that as the project's credential (awx_project_credential)"
        )


def _notification_template(arguments: Data, _entry: Values, *_other: Any) -> None:
    configuration = arguments.get("notification_configuration") or {}
    if not isinstance(configuration, Mapping):
        raise WrongInput(f"the notification_configuration of notification template {arguments['name']} must be a mapping, not {_form(configuration)}")
    secrets = sorted(key for key, value in configuration.items() if key in SECRETS and value)
    if secrets:
        raise WrongInput(
            f"the notification template {arguments['name']} has a secret in it ({', '.join(secrets)}): make it in AWX by hand, "
            "and name it in awx_notify instead"
        )


def _inventory(arguments: Data, _entry: Values, *_other: Any) -> None:
    # Without it the module compares null with AWX's empty text, and writes each time.
    arguments.setdefault("kind", "")


def _inventory_source(arguments: Data, entry: Values, *_other: Any) -> None:
    if arguments.get("source") == "azure_rm" and "credential" not in arguments and entry.get("made", True):
        raise WrongInput(
            f"the inventory source {arguments['name']} has no credential, and AWX takes no source of Azure without: "
            "set awx_azure_credential to the name of one of type Microsoft Azure Resource Manager"
        )


def _job_template(arguments: Data, entry: Values, _names: Names, specs: Values, defaults: Values) -> None:
    if arguments.get("host_config_key") and entry.get("made", True):
        raise WrongInput(
            f"the job template {arguments['name']} has a secret in it (host_config_key): set it in AWX by hand; "
            "what this data set does not say, it leaves as it is"
        )
    arguments["extra_vars"] = {name: _number(value) for name, value in (arguments.get("extra_vars") or {}).items()}
    if not entry.get("survey"):
        # Empty instead of absent, so that an existing survey is removed.
        arguments.setdefault("survey_spec", {})
        arguments.setdefault("survey_enabled", bool(arguments["survey_spec"]))
        return
    _survey(arguments, entry, "job template", specs, defaults)


def _survey(arguments: Data, entry: Values, what: str, specs: Values, defaults: Values) -> None:
    asked = entry["survey"]
    role = str(asked.get("role")) if isinstance(asked, Mapping) else ""
    if role not in specs or set(asked) - {"role", "entry_points", "questions"}:
        raise WrongInput(
            f"the survey of {what} {entry['name']} needs role (one of {', '.join(sorted(specs))}), questions, and perhaps entry_points; it is {asked!r}"
        )
    try:
        arguments["survey_spec"] = surveys.survey(
            specs[role], asked.get("questions") or [], defaults.get(role), asked.get("entry_points", "main"), extra_vars=arguments.get("extra_vars")
        )
    except WrongInput as error:
        raise WrongInput(f"the survey of {what} {entry['name']}: {error}") from error
    arguments["survey_enabled"] = True


def _workflow(arguments: Data, entry: Values, names: Names, specs: Values, defaults: Values) -> None:
    arguments["workflow_nodes"] = nodes(entry, arguments["organization"], names.full)
    if entry.get("survey"):
        _survey(arguments, entry, "workflow", specs, defaults)


def _schedule(arguments: Data, entry: Values, names: Names, *_other: Any) -> None:
    if not arguments.get("unified_job_template") or not arguments.get("rrule"):
        raise WrongInput(f"the schedule {entry['name']} needs unified_job_template (what it starts) and rrule (when)")


ADDED = {
    "execution_environment": _execution_environment,
    "project": _project,
    "notification_template": _notification_template,
    "inventory": _inventory,
    "inventory_source": _inventory_source,
    "job_template": _job_template,
    "workflow_job_template": _workflow,
    "schedule": _schedule,
}


def _number(value: Any) -> Any:
    """Convert a number that core 2.18's templates turned into text."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _named_only(made: Sequence[Values]) -> list[Data]:
    """Return the objects that others refer to and the role does not create, such as credentials."""
    known = {(one["kind"], one["name"]) for one in made}
    found: dict[tuple[str, str], str] = {}
    for one in made:
        if not one["made"]:
            continue
        for option, kind in BY_NAME[one["kind"]].relations.items():
            value = one["arguments"].get(option)
            for name in [value] if isinstance(value, str) else value or []:
                startable = kind == "unified_job_template" and any((each, name) in known for each in STARTED)
                if (kind, name) not in known and not startable:
                    found.setdefault((kind, name), f"{option} of {BY_NAME[one['kind']].label} {one['name']}")
    return [{"kind": kind, "name": name, "made": False, "named_in": place, "arguments": {"name": name}} for (kind, name), place in found.items()]


# --- The same objects as variables of infra.aap_configuration, which creates them with ansible.controller ----------------


def aap_variables(objects: Sequence[Values]) -> dict[str, list[Data]]:
    """Return the lists of entries by variable, without empty ones. Entries have the modules' options, so they need no conversion."""
    found = {kind.aap: [dict(one["arguments"]) for one in objects if one["kind"] == kind.name and one["made"]] for kind in KINDS}
    return {name: entries for name, entries in found.items() if entries}


# --- The nodes of a workflow, from the short form of the data set --------------------------------------------------------


EDGES = ("success", "failure", "always")
# What a node starts: key of the short form -> AWX's type.
STARTS = {"job_template": "job_template", "workflow": "workflow_job_template", "project": "project", "approval": "workflow_approval"}
NODE_KEYS = ("identifier", "timeout", "extra_data", "all_parents_must_converge", "limit", *EDGES, *STARTS)


def nodes(workflow: Values, organization: str, full: Callable[[str, str], str]) -> list[Data]:
    """Return all nodes. Raise WrongInput for an edge to an unknown node, and for a loop."""
    given = workflow.get("nodes") or []
    identifiers = [str(node.get("identifier")) for node in given]
    for node in given:
        _check_node(workflow, node, identifiers)
    _no_loop(workflow, {str(node["identifier"]): [str(to) for edge in EDGES for to in node.get(edge) or []] for node in given})
    return [_made_node(node, organization, full) for node in given]


def _check_node(workflow: Values, node: Values, identifiers: list[str]) -> None:
    where = f"node {node.get('identifier')} of workflow {workflow['name']}"
    if not node.get("identifier") or identifiers.count(str(node["identifier"])) > 1:
        raise WrongInput(f"{where}: every node needs an identifier of its own")
    if len([start for start in STARTS if node.get(start)]) != 1 or set(node) - set(NODE_KEYS):
        raise WrongInput(f"{where} must start one of {', '.join(STARTS)}, and may have {', '.join(NODE_KEYS)}; it is {node!r}")
    lost = [str(to) for edge in EDGES for to in node.get(edge) or [] if str(to) not in identifiers]
    if lost:
        raise WrongInput(f"{where} leads to {', '.join(lost)}, and there is no such node")


def _no_loop(workflow: Values, edges: dict[str, list[str]]) -> None:
    left = dict(edges)
    while left:
        free = [name for name in left if not any(name in targets for targets in left.values())]
        if not free:
            raise WrongInput(f"the nodes of workflow {workflow['name']} lead in a circle: {', '.join(left)}")
        for name in free:
            del left[name]


def _made_node(node: Values, organization: str, full: Callable[[str, str], str]) -> Data:
    start = next(key for key in STARTS if node.get(key))
    started: Data = {"type": STARTS[start], "name": str(node[start])}
    if start == "approval":
        started["timeout"] = int(node.get("timeout") or 0)
    else:
        started["name"] = full("workflow_job_template" if start == "workflow" else start, str(node[start]))
        started["organization"] = {"name": organization}
    made: Data = {
        "identifier": str(node["identifier"]),
        "unified_job_template": started,
        "related": {f"{edge}_nodes": [{"identifier": str(to)} for to in node.get(edge) or []] for edge in EDGES},
    }
    made.update({key: node[key] for key in ("extra_data", "all_parents_must_converge", "limit") if node.get(key)})
    return made
