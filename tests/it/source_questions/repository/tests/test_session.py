import unittest


class SessionTest(unittest.TestCase):
    """Tests sessions."""

    def setUp(self):
        self.fixture = "session"

    def tearDown(self):
        self.fixture = None

    def test_valid_input(self):
        self.assertEqual(self.fixture, "session")

    def test_invalid_input(self):
        self.assertNotEqual(self.fixture, "")
