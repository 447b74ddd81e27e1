import unittest


class InvoiceTest(unittest.TestCase):
    """Tests invoices."""

    def setUp(self):
        self.fixture = "invoice"

    def tearDown(self):
        self.fixture = None

    def test_valid_input(self):
        self.assertEqual(self.fixture, "invoice")

    def test_invalid_input(self):
        self.assertNotEqual(self.fixture, "")
