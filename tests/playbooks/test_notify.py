# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notification targets: real receivers on loopback get each phase once, whatever they do delays nothing, and no output has a secret."""

from __future__ import annotations

import datetime
import pathlib
import re
import socket
import time
import typing as t

import pytest
from lab.lab import Lab
from lab.receivers import Authority, Https, Proxy, Smtp, authority

Make = t.Callable[..., Lab]
TOKEN = "s3cr3tT0kenInThePath"
PASSWORD = "p4ssw0rd&OfTheM4il"
FAR = {"notice": 36000}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture
def https(known: Authority) -> t.Iterator[Https]:
    receiver = Https(known.server)
    yield receiver
    receiver.close()


@pytest.fixture
def smtp() -> t.Iterator[Smtp]:
    receiver = Smtp()
    yield receiver
    receiver.close()


def phases(texts: t.Iterable[str]) -> list[str]:
    """The phases that messages name, each once for each time that it was told."""
    return [phase for text in texts for phase in re.search(r"\[event \S+: ([a-z_, ]+)\]$", text)[1].split(", ")]  # type: ignore[index]


def of_vm(receiver: Https) -> dict[str, list[str]]:
    """The messages by the first VM of their events."""
    found: dict[str, list[str]] = {}
    for text in receiver.texts:
        found.setdefault(re.split(r"\W", text)[0], []).append(text)
    return found


def run(lab: Lab, *arguments: str, playbook: str = "respond", code: int = 0, ca: str = "", proxy: str = "", **variables: t.Any) -> str:
    environment = lab.environment
    # Lower case: requests prefers it to HTTPS_PROXY.
    around = {**({"REQUESTS_CA_BUNDLE": ca} if ca else {}), **({"https_proxy": proxy, "no_proxy": ""} if proxy else {})}
    lab.environment = lambda **more: environment(**around, **more)  # type: ignore[method-assign]
    try:
        return lab.play(f"maintenance.azure.{playbook}", *arguments, code=code, **variables)
    finally:
        lab.environment = environment  # type: ignore[method-assign]


def hook(port: int) -> str:
    return f"jsons://127.0.0.1:{port}/{TOKEN}"


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_each_phase_arrives_by_https_and_by_mail_once(make_lab: Make, known: Authority, https: Https, smtp: Smtp) -> None:
    lab = make_lab(["web1", "web2"], 60)
    secret = lab.folder / "hook"
    secret.write_text(f"{hook(https.port)}\n")
    lab.all["respond_notify"] = [
        {"name": "ops", "url": f"file:{secret}"},
        f"mailto://127.0.0.1:{smtp.port}?from=azure@example.com&to=ops@example.com&mode=insecure",
    ]
    event = lab.simulator.event("Reboot", ["web1", "web2"], started_seconds=180, **FAR)
    output = run(lab, ca=known.certificate, respond_wait=True)
    told = phases(https.texts)
    # On a busy machine what happens to both may be seen more than a minute apart, and is then told of each.
    assert len(https.texts) == len(set(https.texts)) and {told.count(word) for word in ("noticed", "drained", "recovered")} == {1}, https.texts
    assert {"noticed", "drained", "approved", "started", "gone", "recovered"} <= set(told), (https.texts, output)
    assert sorted(phases(text for _subject, text in smtp.got)) == sorted(told)
    assert {subject for subject, _text in smtp.got} == {"Azure maintenance"}
    assert {one["path"] for one in https.got} == {f"/{TOKEN}"}
    assert re.match(rf"web1, web2 will be rebooted by Azure at .*UTC; draining, will be approved when done \[event {event[:8]}", https.texts[0]), https.texts
    (record,) = lab.records("web1")
    assert {f"{phase} {target}" for phase in told for target in ("ops", "mailto")} == set(record["told"]), "they are told as two words"
    before = len(https.got)
    run(lab, ca=known.certificate)
    assert len(https.got) == before


def test_no_output_has_a_secret(make_lab: Make, https: Https) -> None:
    # Its certificate is not known here, so that the reason of a failure is told as well.
    lab = make_lab(["web1"], 60)
    (lab.folder / "password").write_text(f"{PASSWORD}\n")
    lab.all["vault_token"] = TOKEN
    lab.all["respond_notify"] = [
        f"jsons://127.0.0.1:{https.port}/{{{{ vault_token }}}}",
        f"mailtos://user:{{file:{lab.folder}/password}}@127.0.0.1:{closed_port()}?from=azure@example.com&to=ops@example.com&mode=ssl",
    ]
    lab.simulator.event("Reboot", ["web1"], started_seconds=60, **FAR)
    output = run(lab, "-vvv", respond_wait=True)
    assert "notification target jsons was not told" in output and "certificate verify failed" in output, output[-3000:]
    assert "notification target mailtos was not told" in output
    files = [path for path in lab.folder.rglob("*") if path.is_file() and path.name not in ("inventory.json", "password")]
    written = output + "".join(path.read_text(errors="replace") for path in files)
    for secret in (TOKEN, PASSWORD, "p4ssw0rd%26OfTheM4il"):
        assert secret not in written
    assert lab.phases("web1")[-1] == "recovered"


def test_a_target_that_cannot_be_used_is_a_wrong_setting_and_keeps_no_other_from_being_told(make_lab: Make, known: Authority, https: Https) -> None:
    lab = make_lab(["web1"], 60)
    lab.all["respond_notify"] = [{"name": "good", "url": hook(https.port)}, {"name": "unknown", "url": "slak://a/b/c"}, {"name": "unset", "url": "env:NOT_SET"}]
    lab.simulator.event("Reboot", ["web1"], started_seconds=60, **FAR)
    output = run(lab, ca=known.certificate, code=2)
    assert https.texts and "approved" in lab.phases("web1"), output
    for name, why in (("unknown", "apprise does not know this URL, or it lacks a part"), ("unset", "env:NOT_SET is missing, empty or cannot be read")):
        assert f"notification target {name} was not told of event" in output and f": {why}; correct that, or its URL" in output, output
    assert "target good" not in output


@pytest.mark.parametrize("kind", ["dead", "slow", "certificate"])
def test_a_receiver_delays_nothing_and_gets_it_later(make_lab: Make, known: Authority, kind: str) -> None:
    lab = make_lab(["web1"], 60)
    receiver = Https(known.server) if kind != "dead" else None
    port = receiver.port if receiver else closed_port()
    if receiver and kind == "slow":
        receiver.seconds = 60
    # A reader that waits for the slow one as long as it may.
    lab.all["respond_notify"] = [{"name": "ops", "url": f"{hook(port)}?rto=60"}]
    lab.simulator.event("Reboot", ["web1"], started_seconds=60, **FAR)
    began = time.monotonic()
    run(lab, ca=known.certificate if kind != "certificate" else "", respond_wait=True, respond_notify_seconds=20)
    took = time.monotonic() - began
    at = {one["phase"]: datetime.datetime.fromisoformat(one["at"]).timestamp() for one in lab.records("web1")[0]["history"]}
    print(f"{kind}: drained after {at['drained'] - at['noticed']:.1f} s, recovered after {at['recovered'] - at['noticed']:.1f} s, ended after {took:.1f} s")
    assert at["drained"] - at["noticed"] < 8 and at["recovered"] - at["noticed"] < 20, at
    assert took < at["recovered"] - at["noticed"] + 20 + 3 + 15, "the run waited for longer than its limit"
    assert len(lab.simulator.approvals()) == 1
    assert lab.records("web1")[0]["told"] == []
    receiver = receiver or Https(known.server, port)
    receiver.seconds = 0
    run(lab, ca=known.certificate)
    assert set(phases(receiver.texts)) >= {"noticed", "recovered"} and len(receiver.texts) == 1, receiver.texts
    run(lab, ca=known.certificate)
    receiver.close()
    assert len(receiver.texts) == 1, "it was told twice"


def test_what_is_held_or_has_failed_arrives_and_what_needs_a_person_goes_to_targets_of_its_own(make_lab: Make, known: Authority, https: Https) -> None:
    lab = make_lab(["early", "late", "broken"], 1)
    pager = Https(known.server)
    lab.all["respond_notify"] = [{"name": "ops", "url": hook(https.port)}]
    lab.all["respond_notify_failures"] = [{"name": "pager", "url": hook(pager.port)}]
    lab.hosts["broken"]["drain_methods"] = [{"method": "command", "begin": "false", "check": "true", "undo": "true"}]
    for vm, notice in (("early", 36000), ("late", 400)):
        lab.simulator.event("Reboot", [vm, "stranger"], notice=notice, started_seconds=36000)
    lab.simulator.event("Redeploy", ["broken"], notice=3000)
    # Once without and once with an attempt left.
    timing = lab.all["respond_timing"]
    run(lab, ca=known.certificate, code=2, respond_timing={**timing, "retries": 1, "retry_pause": 3600})
    of_pager = of_vm(pager)
    assert sorted(of_pager) == ["late"] and phases(of_pager["late"]) == ["held_late"], of_pager
    assert re.search(r"^late: reboot at .* from now is held: .*stranger", of_pager["late"][0]), of_pager
    told = {vm: phases(texts) for vm, texts in of_vm(https).items()}
    assert {vm: of_one[0] for vm, of_one in told.items()} == dict.fromkeys(lab.vms, "noticed")
    assert {vm: of_one[-1] for vm, of_one in told.items()} == {"early": "held", "late": "drained", "broken": "failed"}, https.texts
    assert re.search(r"^broken: failed for the redeployment at .*: the drain failed", of_vm(https)["broken"][-1]), https.texts
    run(lab, ca=known.certificate, code=2, respond_timing={**timing, "retries": 0})
    pager.close()
    assert {vm: phases(texts) for vm, texts in of_vm(pager).items()} == {"late": ["held_late"], "broken": ["given_up"]}, pager.texts
    assert re.search(r"^broken: draining for the redeployment at .* failed for good: .*Next: take broken out of service by hand", pager.texts[-1]), pager.texts
    assert {vm: phases(texts) for vm, texts in of_vm(https).items()} == told, "it was told twice"


def test_a_proxy_alone_reaches_the_receiver(make_lab: Make, known: Authority, https: Https) -> None:
    lab = make_lab(["web1"], 1)
    proxy = Proxy(https.port, PASSWORD)
    lab.all["respond_notify"] = [{"name": "ops", "url": f"jsons://hooks.example.com/{TOKEN}"}]
    lab.simulator.event("Reboot", ["web1", "stranger"], notice=36000)
    output = run(lab, "-vvv", ca=known.certificate, proxy=proxy.url)
    assert set(proxy.asked) == {"hooks.example.com:443 tunnelled"}, "the metadata service of a VM is asked without any proxy"
    assert phases(https.texts) == ["noticed", "held"], https.texts
    wrong = proxy.url.replace("azure:", "nobody:")
    refused = run(lab, playbook="status", code=2, ca=known.certificate, proxy=wrong, respond_notify_test=True)
    proxy.close()
    assert "respond_notify_test: ops was not told: Tunnel connection failed: 407" in refused
    assert proxy.asked[-1] == "hooks.example.com:443 refused"
    for secret in (TOKEN, PASSWORD):
        assert secret not in output + refused


def test_a_test_message(make_lab: Make, known: Authority, https: Https) -> None:
    lab = make_lab(["web1"])
    lab.all["respond_notify"] = [{"name": "ops", "url": hook(https.port)}]
    lab.simulator.event("Reboot", ["web1"], **FAR)
    told = run(lab, playbook="status", ca=known.certificate, respond_notify_test=True)
    assert "respond_notify_test: the test message was delivered to ops." in told
    assert [text[:4] for text in https.texts] == ["Test"]
    output = run(lab, playbook="status", code=2, respond_notify_test=True)
    assert "respond_notify_test: ops was not told: certificate verify failed" in output
    assert lab.records("web1") == []


def test_without_apprise_the_vms_are_served_and_the_run_is_red(make_lab: Make, tmp_path: pathlib.Path) -> None:
    lab = make_lab(["web1"], 60)
    lab.all["respond_notify"] = ["jsons://127.0.0.1:9/"]
    lab.simulator.event("Reboot", ["web1"], started_seconds=60, **FAR)
    # The package cannot be found, as where it is not installed.
    hiding = "u.find_spec = lambda name, *more: None if name == 'apprise' else find(name, *more)"
    (tmp_path / "sitecustomize.py").write_text(f"import importlib.util as u\nfind = u.find_spec\n{hiding}\n")
    environment = lab.environment
    lab.environment = lambda **more: {**(kept := environment(**more)), "PYTHONPATH": f"{tmp_path}:{kept['PYTHONPATH']}"}  # type: ignore[method-assign]
    output = lab.respond(respond_wait=True, code=2)
    assert len([line for line in output.splitlines() if line.startswith("notifications need")]) == 1, output
    assert 'FAILED! => {"assertion"' in output and output.index("notifications need the Python package apprise") < output.rindex("-m pip install apprise")
    assert lab.phases("web1")[-1] == "recovered"
