# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The examples of docs/notifications.md: each is a URL that apprise takes, and what is said to have been run against a receiver is run against one."""

from __future__ import annotations

import pathlib
import re

import apprise
import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._controller import notifier
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import notify_targets

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "notifications.md").read_text()
# To whom, the URL, what stands for its secret, and what it was run against.
ROWS = re.findall(r"^\| ([^|]+) \| `(\S+)` \| (?:`(\S+)` )?\| ([^|]+) \|$", PAGE, re.MULTILINE)
SECRETS = {reference: secret for _to, url, secret, _run in ROWS for reference in re.findall(r"(?:file|env):(?!//)[^{}]+", url) if secret}
RUN = set(re.findall(r"\b([a-z]+)://(?:127\.0\.0\.1|hooks\.example\.com)\b", (ROOT / "tests" / "playbooks" / "test_notify.py").read_text()))


def accepted(url: str, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Return the kind of target that apprise makes of a URL, with the secrets of the table."""
    monkeypatch.setattr(notifier, "_read", lambda kind, name: SECRETS.get(f"{kind}:{name}", "jsons://hooks.example.com/any"))
    found = apprise.Apprise.instantiate(notifier.resolve(url, notify_targets.WHOLE, notify_targets.PART))
    return type(found).__name__ if found else None


def test_the_table_has_all_examples() -> None:
    assert [to.partition(",")[0].partition(" ")[0] for to, *_more in ROWS] == ["Slack", "Slack", "Microsoft", "mail", "mail", "a"]
    assert all(secret for _to, url, secret, _run in ROWS if "file:" in url or "env:" in url)


@pytest.mark.parametrize(("to", "url", "secret", "run"), ROWS, ids=[row[0] for row in ROWS])
def test_apprise_takes_an_example(to: str, url: str, secret: str, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"Slack": "NotifySlack", "Micro": "NotifyWorkflows", "mail": "NotifyEmail", "mail ": "NotifyEmail", "a web": "NotifyJSON"}
    assert accepted(url, monkeypatch) == kinds[to[:5]]
    # As a test sends to it, or as the table says that none does.
    scheme = (secret if url.startswith("file:") else url).partition(":")[0]
    assert (scheme in RUN) != run.startswith("not run"), f"{to}: {run}"


def test_apprise_takes_the_settings_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0])
    for option in ("respond_notify", "respond_notify_failures"):
        for target in notify_targets.load(option, shown[option]):
            assert accepted(target.url, monkeypatch), target


def test_a_url_that_lacks_a_part_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # The three parts of a webhook of Slack in braces are one part.
    monkeypatch.setitem(SECRETS, "file:/run/secrets/slack", "T0NOTREAL/B0NOTREAL/NOTAREALTOKENNOTAREALTOK")
    assert accepted("slack://{file:/run/secrets/slack}/#ops", monkeypatch) is None


def test_no_example_of_tasks_gives_a_vm_the_secrets_of_operators() -> None:
    pages = [PAGE, (ROOT / "docs" / "drain-methods.md").read_text(encoding="utf-8").partition("For Icinga, Zabbix and Nagios")[2].partition("\n## ")[0]]
    blocks = [yaml.safe_load(block) for page in pages for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    tasks = [task for block in blocks if isinstance(block, list) for task in block]
    assert len(tasks) == 4 and all(task["delegate_to"] in ("localhost", "nagios.example.com") for task in tasks)
