import unittest


class LoginTest(unittest.TestCase):
    """Tests logins."""

    def setUp(self):
        self.fixture = "login"

    def tearDown(self):
        self.fixture = None

    def test_valid_input(self):
        self.assertEqual(self.fixture, "login")

    def test_invalid_input(self):
        self.assertNotEqual(self.fixture, "")
