import unittest
from unittest import mock

import pytest

from app.views import router, UserView


@pytest.fixture
def user():
    return make_user(name="x")


@pytest.mark.parametrize("value", [1, 2])
def test_value(value, user):
    assert UserView(user).render(value)


class TestRouter:
    def setup_method(self):
        self.router = router.Router()

    def test_routes(self):
        with pytest.raises(router.NotFound):
            self.router.resolve("/missing")


class LegacyCase(unittest.TestCase):
    @mock.patch("app.views.db")
    def test_db(self, db: mock.Mock):
        self.assertEqual(db.calls, [])


def helper():
    return 1
