import time

from auth.timeouts import is_expired
from cache.redis_cache import store_in_redis


class Session:
    """The session of a user who is logged in."""

    def __init__(self, user):
        self.user = user
        self.started_at = time.time()


def create_session(user):
    session = Session(user)
    store_in_redis(user.name, session)
    return session


def resume_session(session):
    if is_expired(session):
        raise TimeoutError("the session has ended")
    return session
