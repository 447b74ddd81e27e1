"""Timeouts of authentication: a session ends after 30 minutes without a request."""

import time

AUTHENTICATION_TIMEOUT_SECONDS = 1800


def is_expired(session):
    return time.time() - session.started_at > AUTHENTICATION_TIMEOUT_SECONDS


def handle_authentication_timeout(request):
    """Sends a user whose authentication has timed out to the login page."""
    return request.redirect("/login")
