def validate_user(user):
    """Validation of a user: the account exists, has a mail address and is not blocked."""
    if user is None or user.is_blocked:
        raise ValueError("the user is unknown or blocked")
    if "@" not in user.mail:
        raise ValueError("the mail address is invalid")
