"""Tests the rules that decide which packages may be mined. The tests need only Python:
`python3 -m unittest discover -s training/tests -t training`."""

import unittest

from cairn_training import licences
from cairn_training.documentation import first_sentence, is_prose
from cairn_training.exclusions import is_excluded, is_vendored, sections
from cairn_training.packages import ECOSYSTEMS, read, read_held_out
from cairn_training.words import head, words


class Exclusions(unittest.TestCase):
    def test_relatives_of_evaluation_packages_are_refused(self):
        for ecosystem, name in [
            ("pypi", "djangorestframework"), ("pypi", "Flask-Login"), ("pypi", "pyarrow"), ("pypi", "rich-click"), ("npm", "ioredis"), ("npm", "@babel/parser"),
            ("npm", "date-fns-tz"), ("npm", "lodash.debounce"), ("npm", "chart.js"), ("npm", "chartjs-plugin-zoom"), ("npm", "preact"), ("crates", "hyper-util"),
            ("crates", "serde_yaml"), ("crates", "structopt"), ("go", "github.com/go-chi/cors"), ("go", "k8s.io/client-go"), ("debian", "libuv1"), ("debian", "ruby-rails-i18n"),
        ]:
            self.assertTrue(is_excluded(ecosystem, name), name)

    def test_others_are_not(self):
        for ecosystem, name in [("pypi", "asyncpg"), ("pypi", "more-itertools"), ("npm", "@sanity/client"), ("crates", "datetime"), ("go", "github.com/spf13/afero")]:
            self.assertFalse(is_excluded(ecosystem, name), name)

    def test_every_name_of_the_list_is_refused(self):
        for section, names in sections().items():
            for name in names:
                self.assertTrue(is_excluded("debian" if section == "other" else section, name), name)

    def test_no_listed_package_is_excluded_and_all_held_out_ones_are(self):
        for ecosystem in ECOSYSTEMS:
            for package in read(ecosystem):
                self.assertFalse(is_excluded(ecosystem, package.name), package)
                self.assertTrue(package.version and package.licence, package)
        for package in read_held_out():
            self.assertTrue(is_excluded(package.ecosystem, package.name), package)

    def test_vendored_copies(self):
        for path in ["pip/_vendor/x.py", "src/third_party/a.c", "lib/lodash.min.js", "src/requests/api.py", "node_modules/x/index.js", "static/jquery.js"]:
            self.assertTrue(is_vendored(path), path)
        for path in ["src/parser.py", "lib/index.js", "core/fetcher.go"]:
            self.assertFalse(is_vendored(path), path)


class Licences(unittest.TestCase):
    def test_expressions(self):
        for expression, expect in [
            ("MIT", "MIT"), ("(MIT OR Apache-2.0)", "MIT"), ("GPL-3.0 OR MIT", "MIT"), ("Apache License, Version 2.0", "Apache-2.0"), ("MIT/Apache-2.0", "MIT"),
            ("MIT AND BSD-3-Clause", "MIT AND BSD-3-Clause"), ("License :: OSI Approved :: BSD License", "BSD-3-Clause"),
            ("GPL-3.0", None), ("MIT AND GPL-2.0", None), ("LGPL-2.1", None), ("AGPL-3.0-only", None), ("MPL-2.0", None), ("proprietary", None), ("", None), ("UNLICENSED", None),
            ("BUSL-1.1", None), ("CC-BY-NC-4.0", None),
        ]:
            self.assertEqual(licences.of_expression(expression), expect, expression)

    def test_texts(self):
        self.assertEqual(licences.of_text("Permission is hereby granted, free of charge,\n * to any person obtaining a copy"), "MIT")
        self.assertEqual(licences.of_text("Apache License\n   Version 2.0, January 2004"), "Apache-2.0")
        self.assertIsNone(licences.of_text("GNU GENERAL PUBLIC LICENSE\nVersion 3"))
        self.assertIsNone(licences.of_text("Permission is hereby granted, free of charge, to any person obtaining a copy ... Commons Clause"))
        self.assertIsNone(licences.of_text("All rights reserved."))


class Documentation(unittest.TestCase):
    def test_first_sentences(self):
        for comment, expect in [
            ("/**\n * Parses a `date` from {@link Text text}.\n * @param x\n */", "Parses a date from Text text."),
            ("/// Opens the store\n/// for reading and writing.\n///\n/// More.", "Opens the store for reading and writing."),
            ("// Split cuts s into words. It never fails.", "Split cuts s into words."),
            ("# Counts the words of a text.\n# :nodoc:", "Counts the words of a text."),
            ("/// @brief Sums all of the values here.", "Sums all of the values here."),
        ]:
            self.assertEqual(first_sentence(comment), expect)

    def test_prose(self):
        self.assertTrue(is_prose("Waits until the queue is empty."))
        for sentence in ["Too short.", "TODO: wait until the queue is empty.", "Copyright of the authors of this file.", "ждёт, пока очередь не опустеет совсем"]:
            self.assertFalse(is_prose(sentence), sentence)


class Words(unittest.TestCase):
    def test_identifiers_split(self):
        for text, expect in [("parseHTTPResponse2", ["parse", "http", "response", "2"]), ("get_user_by_id", ["get", "user", "by", "id"]), ("HTTPs", ["htt", "ps"]), ("größe", ["gr", "e"])]:
            self.assertEqual(words(text), expect)

    def test_heads(self):
        for text, expect in [
            (b"@cache\n# why\ndef parse(text,\n          base):\n    return 1", b"def parse(text,\n          base):"),
            (b"const parse = (text) => text.trim()", b"const parse = (text) ="),
            (b"static int\nparse(char *text)\n{\n", b"static int\nparse(char *text)"),
            (b"// only a comment", b""),
        ]:
            start, end = head(text)
            self.assertEqual(text[start:end], expect)


if __name__ == "__main__":
    unittest.main()
