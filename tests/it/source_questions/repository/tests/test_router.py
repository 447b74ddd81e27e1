import unittest


class RouterTest(unittest.TestCase):
    """Tests routes."""

    def setUp(self):
        self.fixture = "router"

    def tearDown(self):
        self.fixture = None

    def test_valid_input(self):
        self.assertEqual(self.fixture, "router")

    def test_invalid_input(self):
        self.assertNotEqual(self.fixture, "")
