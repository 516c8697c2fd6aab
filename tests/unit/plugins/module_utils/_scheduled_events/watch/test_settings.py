# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The watcher's settings and credential: what is wrong is named, and what others may write or read is refused."""

from __future__ import annotations

import json
import pathlib
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import (
    Settings,
    SettingsError,
    check_key,
    parse_settings,
    read_credential,
    read_settings,
)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("interval", 0.1),
        ("interval", "1"),
        ("interval", True),
        ("interval", float("nan")),
        ("tell_timeout", 0),
        ("api_version", "2021-01-01"),
        ("tell_about", "all"),
        ("tell_credential", "basic"),
        ("endpoint", ""),
        ("state_folder", None),
        ("vm_name", ""),
        ("vm_name", 7),
        ("tell_url", "ftp://somewhere"),
        ("tell_url", "http://eda.example.com:5000"),
        ("tell_url", "http://127.0.0.1.example.com"),
        ("tell_url", "https://"),
        ("tell_url", "https://user:word@eda.example.com"),
        ("tell_url", "https://eda.example.com:port"),
        ("tell_certificates", 1),
        ("tell_client_certificate", 1),
        ("tell_client_certificate", ""),
        ("tell_client_key", ""),
        ("tell_client_key", "/etc/key.pem"),
        ("figures_folder", ""),
        ("figures_folder", True),
    ],
)
def test_a_wrong_value_is_named(key: str, value: t.Any) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings({key: value})
    assert str(caught.value).startswith(f"{key} is ")
    assert "it must be" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("ftp://eda.example.com/s3cret", "ftp://eda.example.com/..."),
        ("http://eda.example.com:5000/", "http://eda.example.com:5000/"),
        ("http://eda.example.com?sig=s3cret", "http://eda.example.com/..."),
        ("http://[2001:db8::1]:5000/#s3cret", "http://[2001:db8::1]:5000/..."),
        ("https://user:s3cret@eda.example.com", "https://eda.example.com/"),
        ("https://eda.example.com:s3cret", "a text that is not shown here"),
        ("https://user:s3cret/more@eda.example.com", "a text that is not shown here"),
        ("https://[s3cret", "a text that is not shown here"),
        ("s3cret", "a text that is not shown here"),
        (["s3cret"], "a text that is not shown here"),
    ],
)
def test_a_wrong_url_is_shown_without_what_may_be_a_secret(url: t.Any, shown: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings({"tell_url": url})
    assert str(caught.value).startswith(f"tell_url is {shown!r}; it must be ") and "s3cret" not in str(caught.value)


def test_a_wrong_value_in_a_file_is_named_with_the_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "watch.json"
    path.write_text(json.dumps({"interval": 0.1}))
    with pytest.raises(SettingsError) as caught:
        read_settings(str(path))
    assert str(caught.value) == f"{path}: interval is 0.1; it must be a number of seconds from 0.25 to 3600."


def test_an_unknown_key_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="endpont is unknown; known are endpoint, "):
        parse_settings({"endpont": "http://127.0.0.1:1"})


@pytest.mark.parametrize("data", [None, [], "text", 7])
def test_anything_but_an_object_is_refused(data: t.Any) -> None:
    with pytest.raises(SettingsError, match="not a JSON object"):
        parse_settings(data)


def test_messages_go_to_one_place() -> None:
    with pytest.raises(SettingsError, match="tell_folder .* messages go to one place"):
        parse_settings({"tell_url": "https://eda.example.com:5000", "tell_folder": "/tmp/x"})


def test_a_credential_needs_its_file() -> None:
    with pytest.raises(SettingsError, match="tell_credential_file"):
        parse_settings({"tell_url": "https://eda.example.com:5000", "tell_credential": "hmac"})


def test_a_certificate_of_the_vm_needs_its_key_and_tls() -> None:
    both = {"tell_client_certificate": "/etc/one.pem", "tell_client_key": "/etc/key.pem"}
    with pytest.raises(SettingsError, match="tell_client_key is empty; it must be given with tell_client_certificate"):
        parse_settings({"tell_url": "https://eda.example.com:5000", "tell_client_certificate": "/etc/one.pem"})
    for place in ({"tell_url": "http://127.0.0.1:5000"}, {"tell_folder": "/srv/news"}, {}):
        with pytest.raises(SettingsError, match="tell_client_certificate is '/etc/one.pem'; it must be empty where tell_url is not https"):
            parse_settings({**place, **both})
    assert parse_settings({"tell_url": "https://eda.example.com:5000", **both}).tell_client_key == "/etc/key.pem"


@pytest.mark.parametrize("url", ["https://eda.example.com:5000/endpoint", "http://127.0.0.1:5000", "http://localhost:5000", "http://[::1]:5000/x"])
def test_good_addresses(url: str) -> None:
    assert parse_settings({"tell_url": url}).tells


def test_the_defaults_tell_nothing() -> None:
    assert not parse_settings({}).tells
    assert parse_settings({}) == Settings()


def test_a_file_is_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "watch.json"
    path.write_text(json.dumps({"interval": 2, "tell_folder": "/srv/news"}))
    assert read_settings(str(path)) == Settings(interval=2, tell_folder="/srv/news")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 5000, b" " * 300 * 1024])
def test_a_damaged_file_is_one_error(tmp_path: pathlib.Path, content: bytes) -> None:
    path = tmp_path / "watch.json"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match="Run role watch again"):
        read_settings(str(path))


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_refused(tmp_path: pathlib.Path, mode: int) -> None:
    path = tmp_path / "watch.json"
    path.write_text("{}")
    path.chmod(mode)
    with pytest.raises(SettingsError, match="no other user may write"):
        read_settings(str(path))


def test_a_link_or_a_missing_file_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    for name in ("link.json", "missing.json"):
        with pytest.raises(SettingsError, match="cannot be read"):
            read_settings(str(tmp_path / name))


def secret(folder: pathlib.Path, content: bytes, mode: int = 0o400) -> str:
    path = folder / "credential"
    path.write_bytes(content)
    path.chmod(mode)
    return str(path)


def test_a_credential_is_one_line(tmp_path: pathlib.Path) -> None:
    assert read_credential(secret(tmp_path, b"Abc-123\n")) == "Abc-123"


@pytest.mark.parametrize("content", [b"", b"\n", b"two words", b"two\nlines", "clé".encode(), b"a" * 9000, b"bell\x07"])
def test_no_error_about_a_credential_shows_any_of_it(tmp_path: pathlib.Path, content: bytes) -> None:
    with pytest.raises(SettingsError) as caught:
        read_credential(secret(tmp_path, content))
    words = [word for word in content.decode("utf-8", "replace").split() if len(word) > 2]
    assert not [word for word in words if word in str(caught.value)]


@pytest.mark.parametrize("mode", [0o404, 0o444, 0o460, 0o410])
def test_a_credential_that_others_can_read_is_refused(tmp_path: pathlib.Path, mode: int) -> None:
    with pytest.raises(SettingsError, match="only its owner may read"):
        read_credential(secret(tmp_path, b"word", mode))


@pytest.mark.parametrize("mode", [0o404, 0o444, 0o460, 0o410])
def test_a_key_that_others_can_read_is_refused(tmp_path: pathlib.Path, mode: int) -> None:
    with pytest.raises(SettingsError, match="only its owner may read"):
        check_key(secret(tmp_path, b"a key", mode))


def test_a_key_may_be_a_link_but_must_be_a_file(tmp_path: pathlib.Path) -> None:
    link = tmp_path / "live.pem"
    with pytest.raises(SettingsError, match="The key in .*live.pem cannot be read"):
        check_key(str(link))
    link.symlink_to(secret(tmp_path, b"a key"))
    check_key(str(link))
    with pytest.raises(SettingsError, match="cannot be read: it is not a regular file"):
        check_key(str(tmp_path))
