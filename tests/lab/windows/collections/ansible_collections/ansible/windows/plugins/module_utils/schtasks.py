# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stand-in for schtasks.exe: tasks from definitions in XML, kept in tasks.json of the played machine.

A definition is checked against the schema of [MS-TSCH] as far as the collection uses it; anything else is refused. A task starts by /Run
alone: there is no clock and no boot here. The messages are those of an English Windows; nothing may depend on them.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from xml.etree import ElementTree

from .machine import HOME_VARIABLE, Refused

SPACE = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
BOOLEAN = re.compile("true|false")
TEXT = re.compile(".+", re.DOTALL)
DURATION = re.compile("PT(0S|[1-9][0-9]*[HM])")
# The elements in their order where it counts, with what they may hold: a pattern, or elements of their own. A name with ! must be there.
TRIGGER = [("Enabled", BOOLEAN), ("StartBoundary", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")), ("Repetition", [("Interval!", DURATION)])]
SETTINGS = {
    "MultipleInstancesPolicy": re.compile("IgnoreNew|Parallel|Queue|StopExisting"),
    "DisallowStartIfOnBatteries": BOOLEAN,
    "StopIfGoingOnBatteries": BOOLEAN,
    "AllowHardTerminate": BOOLEAN,
    "StartWhenAvailable": BOOLEAN,
    "RunOnlyIfNetworkAvailable": BOOLEAN,
    "AllowStartOnDemand": BOOLEAN,
    "Enabled": BOOLEAN,
    "RunOnlyIfIdle": BOOLEAN,
    "WakeToRun": BOOLEAN,
    "ExecutionTimeLimit": DURATION,
    "Priority": re.compile("[0-9]|10"),
    "RestartOnFailure": {"Interval!": DURATION, "Count!": re.compile("[1-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5]")},
}
PRINCIPAL = {
    "UserId!": re.compile("S-1-5-(18|19|20)"),
    "RunLevel": re.compile("LeastPrivilege|HighestAvailable"),
    "RequiredPrivileges": [("Privilege!", re.compile("Se[A-Za-z]+Privilege"))],
}
TASK = [
    ("RegistrationInfo", {"Version": TEXT, "Author": TEXT, "Description": TEXT}),
    ("Triggers", [("BootTrigger", TRIGGER), ("TimeTrigger", TRIGGER)]),
    ("Principals!", [("Principal!", PRINCIPAL)]),
    ("Settings", SETTINGS),
    ("Actions!", [("Exec!", [("Command!", TEXT), ("Arguments", TEXT)])]),
]


class Malformed(Exception):
    """Task Scheduler would not take this definition."""


def check(element, wanted):
    """Raise Malformed where an element is unknown, misplaced, missing or has another value."""
    if isinstance(wanted, re.Pattern):
        if len(element) or not wanted.fullmatch(element.text or ""):
            raise Malformed("%s: %r" % (element.tag, element.text))
        return
    inside = list(wanted.items()) if isinstance(wanted, dict) else wanted
    names = [name.rstrip("!") for name, _content in inside]
    found = [child.tag.replace(SPACE, "") for child in element]
    unknown = set(found) - set(names) | {name for name in found if found.count(name) > 1}
    missing = {name[:-1] for name, _content in inside if name.endswith("!")} - set(found)
    if unknown or missing or (isinstance(wanted, list) and sorted(found, key=names.index) != found):
        raise Malformed("%s: unknown or twice %s, missing %s" % (element.tag, sorted(unknown), sorted(missing)))
    for child in element:
        check(child, dict(zip(names, (content for _name, content in inside)))[child.tag.replace(SPACE, "")])


def parse(content):
    """Return the definition. Without a declared encoding only ASCII is sure to be read as it was meant."""
    if not content.startswith(b'<?xml version="1.0"?>') or not content.isascii():
        raise Malformed("(1,40)::ERROR: unable to switch the encoding")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise Malformed(str(error))
    if root.tag != SPACE + "Task" or root.get("version") not in ("1.2", "1.3", "1.4"):
        raise Malformed("no Task of a known version")
    check(root, TASK)
    if root.find(".//%sRequiredPrivileges" % SPACE) is not None and root.get("version") == "1.2":
        raise Malformed("RequiredPrivileges came with version 1.3")
    principal, actions = root.find(".//%sPrincipal" % SPACE), root.find("%sActions" % SPACE)
    if actions.get("Context") != principal.get("id"):
        raise Malformed("Context names no principal")
    return root


def error(text):
    return 1, b"", ("ERROR: %s\r\n" % text).encode()


def done(text):
    return 0, ("SUCCESS: %s\r\n" % text).encode(), b""


def create(machine, name, options):
    tasks = machine.read("tasks.json", {})
    if "f" not in options and name in tasks:
        raise Refused("stand-in: schtasks asks a person without /F where the task exists")
    try:
        with open(machine.path(options["xml"]), "rb") as source:
            content = source.read()
        parse(content)
    except OSError:
        return error("The system cannot find the file specified.")
    except Malformed as why:
        return error("The task XML is malformed. %s" % why)
    machine.write("tasks.json", {**tasks, name: {"xml": content.decode("ascii"), "process": tasks.get(name, {}).get("process")}})
    return done('The scheduled task "%s" has successfully been created.' % name)


def query(_machine, _name, options, task):
    if "xml" not in options:
        raise Refused("stand-in: only schtasks /Query /TN NAME /XML is played")
    # Whatever the definition came in.
    return 0, task["xml"].replace('<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-16"?>').replace("\n", "\r\n").encode(), b""


def runs(task):
    """Return whether its process is there, and no remains of it."""
    try:
        with open("/proc/%d/stat" % task["process"]) as source:
            return source.read().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, TypeError):
        return False


def run(machine, name, _options, task):
    root = parse(task["xml"].encode())
    command, arguments = (root.findtext(".//%s%s" % (SPACE, part), "") for part in ("Command", "Arguments"))
    if not os.path.isfile(machine.path(command)):
        return error("The system cannot find the file specified.")
    if root.findtext("%sSettings/%sEnabled" % (SPACE, SPACE)) == "false":
        return error("The task is disabled.")
    if not runs(task):
        program = os.path.join(machine.home, "programs", re.sub(r"\.exe$", "", command.rsplit("\\", 1)[-1].lower()))
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|[^\s"]+', arguments)]
        nothing = subprocess.DEVNULL
        started = subprocess.Popen(
            ["/bin/sh", program, *words], cwd=machine.home, env=dict(os.environ, **{HOME_VARIABLE: machine.home}), start_new_session=True,
            stdin=nothing, stdout=nothing, stderr=nothing,
        )  # fmt: skip
        machine.write("tasks.json", {**machine.read("tasks.json", {}), name: {**task, "process": started.pid}})
    return done('Attempted to run the scheduled task "%s".' % name)


def end(_machine, name, _options, task):
    """Only the process itself: what it has started lives on."""
    if runs(task):
        os.kill(task["process"], signal.SIGKILL)
        while runs(task):
            time.sleep(0.01)
    return done('The scheduled task "%s" has been terminated successfully.' % name)


def delete(machine, name, options, _task):
    if "f" not in options:
        raise Refused("stand-in: schtasks asks a person without /F")
    machine.write("tasks.json", {other: task for other, task in machine.read("tasks.json", {}).items() if other != name})
    return done('The scheduled task "%s" was successfully deleted.' % name)


# Each order, and its switches beside /TN; those with = take a value, those with =? may.
ORDERS = {"create": (create, {"xml": "=", "f": ""}), "query": (query, {"xml": "=?"}), "run": (run, {}), "end": (end, {}), "delete": (delete, {"f": ""})}


def options_of(words, known):
    """Return the switches in lower case with their values. Anything unknown is refused."""
    found, rest = {}, list(words)
    while rest:
        switch = rest.pop(0)
        name = switch[1:].lower()
        kind = {**known, "tn": "="}.get(name) if switch.startswith("/") else None
        if kind is None or name in found:
            raise Refused("stand-in: these options of schtasks are not played: %s" % " ".join(words))
        given = kind and rest and not rest[0].startswith("/")
        if kind == "=" and not given:
            raise Refused("stand-in: schtasks misses the value of %s" % switch)
        found[name] = rest.pop(0) if given else ""
    return found


def schtasks(machine, arguments):
    order = arguments[0][1:].lower() if arguments and arguments[0].startswith("/") else ""
    if order not in ORDERS:
        raise Refused("stand-in: these options of schtasks are not played: %s" % " ".join(arguments))
    work, known = ORDERS[order]
    options = options_of(arguments[1:], known)
    if not options.get("tn") or re.search(r'[\\/:*?"<>|]', options["tn"]):
        raise Refused("stand-in: a task is one plain name: %s" % " ".join(arguments))
    if order == "create":
        return create(machine, options["tn"], options)
    task = machine.read("tasks.json", {}).get(options["tn"])
    return work(machine, options["tn"], options, task) if task else error("The system cannot find the file specified.")
