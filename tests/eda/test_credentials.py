# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HMAC and mTLS at the real ansible-rulebook, set up by the guide's own commands: what is accepted starts a run, what is refused stays with the watcher."""

from __future__ import annotations

import contextlib
import pathlib
import typing as t

import pytest
from lab.lab import Lab
from lab.watcher import Watcher

from eda.documented import Shell, commands
from eda.rulebook import PATIENCE_SECONDS, Rulebook
from eda.stand_ins.relay import Relay

RUN_SECONDS = 0.1
# One for each watcher of a test.
VMS = ("web1", "web2", "web3", "web4")


@contextlib.contextmanager
def started(folder: pathlib.Path, block: str) -> t.Iterator[Shell]:
    """A rulebook that the guide's commands have set up. Its runs only wait."""
    lab = Lab(folder, VMS)
    rulebook = Rulebook(lab, seconds=RUN_SECONDS)
    try:
        shell = Shell(rulebook)
        shell.install()
        shell.start(block)
        yield shell
    finally:
        rulebook.kill()
        lab.close()


@pytest.fixture(scope="module")
def hmac(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Shell]:
    with started(tmp_path_factory.mktemp("hmac"), "signed.yml") as shell:
        yield shell


@pytest.fixture(scope="module")
def mtls(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Shell]:
    with started(tmp_path_factory.mktemp("mtls"), "maintenance_client_authorities: $PWD") as shell:
        yield shell


@contextlib.contextmanager
def told(shell: Shell, vm: str, port: int | None = None, secret: str = "", **settings: t.Any) -> t.Iterator[tuple[Watcher, str]]:
    """A watcher that tells the rulebook, and the EventId of what it tells."""
    url = f"https://127.0.0.1:{port or shell.rulebook.port}/"
    credential = write_secret(shell, vm, secret)
    watcher = Watcher(
        shell.rulebook.lab, vm, tell_url=url, tell_certificates=str(shell.folder / "certificate.pem"), tell_credential_file=str(credential), **settings
    )  # fmt: skip
    try:
        yield watcher, str(shell.rulebook.lab.simulator.event("Reboot", [vm], notice=36000)).lower()
    finally:
        watcher.end()


def write_secret(shell: Shell, vm: str, secret: str) -> pathlib.Path:
    """Write a watcher's credential as role watch does: it is whole at every moment."""
    path = shell.folder / f"credential-{vm}"
    part = path.with_suffix(".part")
    part.write_text(secret)
    part.chmod(0o400)
    return part.rename(path)


def until_refused(shell: Shell, watcher: Watcher, *words: str) -> None:
    """Wait until the watcher has said twice why its message was not delivered: it tries again, and keeps it."""

    def refusals() -> list[str]:
        return [line for line in watcher.lines() if "was not delivered" in line]

    shell.rulebook.lab.simulator.until(lambda: len(refusals()) >= 2, PATIENCE_SECONDS, "two refusals")
    assert all(any(word in line for word in words) for line in refusals()), refusals()
    assert watcher.waiting() == [".waiting"]


def until_run(shell: Shell, event_id: str) -> None:
    rulebook = shell.rulebook
    rulebook.lab.simulator.until(lambda: event_id in started_for(shell), PATIENCE_SECONDS, f"a run of {event_id}, not only {started_for(shell)}")


def started_for(shell: Shell) -> list[str]:
    return [run.event_id for run in shell.rulebook.begun()]


# HMAC


def signs(shell: Shell) -> dict[str, str]:
    return {"secret": shell.variable("maintenance_hmac_secret"), "tell_credential": "hmac"}


def test_a_signed_message_starts_a_run(hmac: Shell) -> None:
    with told(hmac, "web1", **signs(hmac)) as (watcher, event_id):
        until_run(hmac, event_id)
        # That run only waited and wrote no record: the message stays, to be repeated.
        hmac.rulebook.lab.simulator.until(lambda: watcher.waiting() == [".accepted"], PATIENCE_SECONDS, "an accepted message")


def test_a_wrong_secret_is_refused_and_the_message_kept_until_it_is_right(hmac: Shell) -> None:
    with told(hmac, "web2", **{**signs(hmac), "secret": "another-secret"}) as (watcher, event_id):
        until_refused(hmac, watcher, "answered 401")
        assert event_id not in started_for(hmac)
        write_secret(hmac, "web2", signs(hmac)["secret"])
        until_run(hmac, event_id)


def test_a_body_that_was_changed_on_the_way_is_refused(hmac: Shell) -> None:
    passed: list[bytes] = []

    def change(body: bytes) -> bytes:
        passed.append(body)
        return body.replace(b"web3", b"web1")

    relay = Relay(hmac.rulebook.port, hmac.folder / "certificate.pem", hmac.folder / "key.pem", change)
    try:
        with told(hmac, "web3", port=relay.port, **signs(hmac)) as (watcher, event_id):
            until_refused(hmac, watcher, "answered 401")
            assert event_id not in started_for(hmac)
    finally:
        relay.end()
    assert passed and all(b"web3" in body for body in passed)


def test_a_message_without_a_signature_is_refused_and_kept(hmac: Shell) -> None:
    # ansible-rulebook answers 400 to it. A token proves nothing to this rulebook.
    with told(hmac, "web4", secret="a-token", tell_credential="bearer") as (watcher, event_id):
        until_refused(hmac, watcher, "answered 400")
        assert event_id not in started_for(hmac)


def test_the_guides_signed_message_is_accepted(hmac: Shell) -> None:
    assert hmac.type(commands("openssl dgst")) == "200"
    until_run(hmac, hmac.event_id())


# mTLS


def shows(shell: Shell, name: str) -> dict[str, str]:
    return {
        "secret": shell.variable("maintenance_token"),
        "tell_credential": "bearer",
        "tell_client_certificate": str(shell.folder / f"{name}.pem"),
        "tell_client_key": str(shell.folder / f"{name}.key"),
    }


def test_a_certificate_of_the_authority_starts_a_run(mtls: Shell) -> None:
    with told(mtls, "web1", **shows(mtls, "web1")) as (watcher, event_id):
        until_run(mtls, event_id)
        mtls.rulebook.lab.simulator.until(lambda: watcher.waiting() == [".accepted"], PATIENCE_SECONDS, "an accepted message")


def test_no_name_in_a_certificate_is_compared(mtls: Shell) -> None:
    # The guide says so: a certificate proves that the authority knows the sender, and not which VM it is.
    with told(mtls, "web2", **shows(mtls, "web1")) as (_watcher, event_id):
        until_run(mtls, event_id)


@pytest.mark.parametrize(("vm", "shown"), [("web3", {}), ("web4", {"tell_client_certificate": "stranger.pem", "tell_client_key": "stranger.key"})])
def test_without_a_certificate_of_the_authority_it_is_refused_and_kept(mtls: Shell, vm: str, shown: dict[str, str]) -> None:
    options = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=web4 -keyout stranger.key -out stranger.pem"
    mtls.type(f"umask 077; openssl req {options}")
    files = {option: str(mtls.folder / name) for option, name in shown.items()}
    with told(mtls, vm, secret=mtls.variable("maintenance_token"), tell_credential="bearer", **files) as (watcher, event_id):
        # The handshake's alert, or the end of the connection where the refusal came before it.
        until_refused(mtls, watcher, "ALERT", "alert", "reset", "closed", "EOF", "Broken pipe")
        assert event_id not in started_for(mtls)


def test_the_guides_message_needs_the_certificate_and_the_token(mtls: Shell) -> None:
    send = "token=" + commands("Authorization: Bearer").partition("token=")[2]
    shown = send.replace("curl ", "curl --cert web1.pem --key web1.key ")
    assert mtls.type(send.strip() + " || true") == "000"
    assert mtls.type(shown.replace("Bearer $", "Bearer x$")) == "401"
    assert mtls.event_id() not in started_for(mtls)
    assert mtls.type(shown) == "200"
    until_run(mtls, mtls.event_id())
