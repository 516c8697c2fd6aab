# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""TLS to a receiver: which authorities are trusted, and the certificate that this VM shows where a receiver wants one."""

from __future__ import annotations

import ssl

from ..settings import Settings, SettingsError, check_key


def tls_context(settings: Settings) -> ssl.SSLContext:
    """Return what verifies the receiver and shows this VM's certificate. Raise SettingsError."""
    try:
        context = ssl.create_default_context(cafile=settings.tell_certificates)
    except OSError as error:
        raise SettingsError(f"tell_certificates {settings.tell_certificates!r} cannot be used: {error}")
    if settings.tell_client_certificate is not None and settings.tell_client_key is not None:
        _show(context, settings.tell_client_certificate, settings.tell_client_key)
    return context


def _show(context: ssl.SSLContext, certificate: str, key: str) -> None:
    check_key(key)

    def refuse() -> str:
        # Without this function OpenSSL asks for the password at a terminal, and the teller has none.
        raise SettingsError(f"The key in tell_client_key {key!r} has a password, and the watcher can give none. Store it without one.")

    try:
        context.load_cert_chain(certificate, key, refuse)
    except OSError as error:
        raise SettingsError(f"tell_client_certificate {certificate!r} with tell_client_key {key!r} cannot be used: {error}")
