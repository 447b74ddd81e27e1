"""Authentication of users: how a password becomes a session."""

from auth.session import create_session
from auth.validation import validate_user
from database.users import find_user


class AuthenticationError(Exception):
    """The name or the password is wrong."""


class Authenticator:
    """Checks the credentials of users."""

    def authenticate(self, name, password):
        user = find_user(name)
        validate_user(user)
        if user.password_hash != hash(password):
            raise AuthenticationError(name)
        return user


def login(request):
    """Logs a user in: checks the credentials, then creates the session."""
    user = Authenticator().authenticate(request.name, request.password)
    return create_session(user)
