# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Hand messages to the program that sends them (notify_sender.py), and read what became of them. Neither waits for a receiver."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict
from urllib.parse import quote

MISSING = "notifications need the Python package apprise on the controller, so nobody is told of anything: {} -m pip install apprise"
SENDER = str(pathlib.Path(__file__).with_name("notify_sender.py"))
# Seconds that the sender needs beside its limit: to start, and to write down what came.
MARGIN = 3.0


class Order(TypedDict):
    """Messages for one target."""

    name: str
    url: str
    messages: Sequence[Mapping[str, str]]
    """Each with C(title), C(text) and C(type)."""


class Sent(TypedDict):
    """What was handed over at a time."""

    file: str
    ends: float
    keys: dict[str, list[list[str]]]
    """For each target and each of its messages what it tells."""


def missing() -> str:
    """Return what is missing on the controller, with the command to install it; empty if nothing is."""
    return "" if importlib.util.find_spec("apprise") else MISSING.format(sys.executable)


def resolve(url: str, whole: Any, part: Any) -> str:
    """Return a URL with what it refers to. Raise ValueError, which names the reference and nothing of its content."""
    if found := whole.fullmatch(url):
        return _read(found[1], found[2])
    query = f"{url}?".index("?")
    # apprise decodes a query twice: once all of it, and once each value.
    return str(part.sub(lambda found: _quoted(_read(found[1], found[2]), 2 if found.start() > query else 1), url))


def _quoted(text: str, times: int) -> str:
    for _once in range(times):
        text = quote(text, safe="")
    return text


def _read(kind: str, name: str) -> str:
    try:
        found = os.environ[name] if kind == "env" else pathlib.Path(name).read_text(encoding="utf-8").strip()
    except (OSError, KeyError, UnicodeDecodeError):
        found = ""
    if not found:
        raise ValueError(f"{kind}:{name} is missing, empty or cannot be read")
    return found


def hand_over(orders: Sequence[Order], keys: dict[str, list[list[str]]], folder: str, seconds: float) -> Sent:
    """Start a sender and return at once. Raise OSError."""
    file = os.path.join(folder, f"notified-{time.time_ns()}.json")
    # Its own session: it outlives the process of the task. Its output could have a secret.
    sender = subprocess.Popen([sys.executable, SENDER], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    if sender.stdin is not None:
        with sender.stdin as stdin:
            stdin.write(json.dumps({"file": file, "seconds": seconds, "targets": list(orders)}).encode("ascii"))
    return {"file": file, "ends": time.time() + seconds + MARGIN, "keys": keys}


def results(sent: Sent, now: float) -> dict[str, tuple[str, str]]:
    """Return for each key that is known by now C(delivered), C(failed), or C(refused) where its URL cannot be used; and why."""
    try:
        found = json.loads(pathlib.Path(sent["file"]).read_text(encoding="ascii"))
    except (OSError, ValueError):
        found = {}
    known: dict[str, tuple[str, str]] = {}
    for target, messages in sent["keys"].items():
        of_target = found.get(target)
        if of_target is None and now < sent["ends"]:
            continue
        delivered, reason = (of_target["delivered"], of_target["reason"]) if of_target else ([], "the program that sends gave no answer")
        lost = "refused" if of_target and of_target.get("refused") else "failed"
        for number, keys in enumerate(messages):
            is_delivered = number < len(delivered) and delivered[number]
            known.update(dict.fromkeys(keys, ("delivered" if is_delivered else lost, reason)))
    return known
