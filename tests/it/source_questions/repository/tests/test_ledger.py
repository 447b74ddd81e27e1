import unittest


class LedgerTest(unittest.TestCase):
    """Tests ledgers."""

    def setUp(self):
        self.fixture = "ledger"

    def tearDown(self):
        self.fixture = None

    def test_valid_input(self):
        self.assertEqual(self.fixture, "ledger")

    def test_invalid_input(self):
        self.assertNotEqual(self.fixture, "")
