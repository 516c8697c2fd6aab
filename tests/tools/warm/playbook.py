# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-playbook in processes that need not start: "playbook.py SOCKET". It ends when its standard input does.

Most of the second that a small run costs is the import of ansible-core, which reads its settings meanwhile. This process has done both, and
forks one for each run, which reads those settings again that name the run's own folders. A run whose environment differs in any other setting,
or that has another ansible.cfg, becomes a Python started as ever.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import secrets
import sys
import typing as t

import server

# The only settings in which a run may differ from this process: where temporary files are.
OWN_FOLDERS = (b"ANSIBLE_HOME", b"ANSIBLE_REMOTE_TMP")
# What a run imports when it has read its arguments, whatever these are.
LATER = (
    "ansible.cli.scripts", "ansible.executor.process.worker", "ansible.executor.task_executor", "ansible.playbook.role_include",
    "ansible.playbook.included_file", "ansible.plugins.become.sudo", "ansible.plugins.cache.memory", "ansible.plugins.callback.default",
    "ansible.plugins.connection.local", "ansible.plugins.shell.sh", "ansible.plugins.strategy.linear",
    "multiprocessing.popen_fork", "multiprocessing.synchronize", "tomllib", "xml.dom.minidom",
)  # fmt: skip
# Plugins that a run imports by their names, most of them in each process that it forks for a task of a host.
CORE = ("action", "filter", "inventory", "lookup", "test", "vars")
COLLECTION = "ansible_collections.maintenance.azure.plugins"
OWN = ("action", "filter", "lookup", "plugin_utils", "test")


def settings(environment: t.Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """All that ansible-core and Python read of an environment when they start, but the run's own folders."""
    own = {name: value for name, value in environment.items() if name.startswith((b"ANSIBLE_", b"_ANSIBLE", b"NO_COLOR")) and name not in OWN_FOLDERS}
    return {**own, **server.at_start(environment)}


AS_STARTED = settings(os.environb)
# Without it they are in one of the run's own folders.
COLLECTIONS = b"ANSIBLE_COLLECTIONS_PATH"


def run(request: server.Request) -> None:
    """In the forked process: what the program ansible-playbook does."""
    from ansible import constants
    from ansible.config import manager
    from ansible.plugins import loader
    from ansible.utils import vars as core_vars

    same = settings(request.environment) == AS_STARTED and COLLECTIONS in AS_STARTED
    if not same or manager.find_ini_config_file() != constants.config._config_file:
        request.start_anew()
    sys.argv = request.arguments
    request.look_started()
    read_own_folders()
    # What core draws when it is imported: the ids of plays and tasks are no other run's.
    core_vars.random_int = secrets.token_hex(4)
    # It was, in the server; twice is an error.
    loader._configure_collection_loader = configured
    sys.exit(importlib.import_module("ansible.cli.playbook").main())


def configured(before_others: object = None) -> None:
    """In place of the search for collections, to which ansible-playbook has nothing to add."""
    assert not before_others


def read_own_folders() -> None:
    """As ansible.constants does it for each setting: those that are in the run's own folders."""
    from ansible import constants

    known = constants.config.get_configuration_definitions()
    for name in ("ANSIBLE_HOME", *(name for name, about in known.items() if "ANSIBLE_HOME" in str(about.get("default")))):
        constants.set_constant(name, constants.config.get_config_value(name, variables=vars(constants)))


def import_all() -> None:
    """What every run imports; and the descriptions of plugins, which it reads when it begins, by the same calls."""
    for module in ("ansible.cli.playbook", *LATER):
        importlib.import_module(module)
    from ansible.plugins import loader

    # The collections are where they are for the runs as well, or these are started anew.
    loader.init_plugin_loader()
    import_below("ansible.plugins", pathlib.Path(loader.__file__).parent, CORE)
    import_below(COLLECTION, pathlib.Path(importlib.import_module(COLLECTION).__path__[0]), OWN)
    for plugins in (loader.connection_loader, loader.shell_loader, loader.become_loader, loader.callback_loader):
        list(plugins.all(class_only=True))
    # One of these loads all others.
    loader.filter_loader.get("default")
    loader.test_loader.get("defined")


def import_below(package: str, folder: pathlib.Path, below: t.Sequence[str]) -> None:
    for path in sorted(path for name in below for path in (folder / name).rglob("*.py")):
        importlib.import_module(".".join((package, *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__"))


if __name__ == "__main__":
    import_all()
    server.serve(sys.argv[1], run)
