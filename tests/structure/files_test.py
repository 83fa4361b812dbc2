#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every source file says its licence, stays short, and headers are guarded."""
import unittest

import tree

SPDX = "SPDX-License-Identifier: GPL-2.0-only"
MAX_LINES = 600
CODE = {".h", ".c", ".cc", ".py", ".sh", ".cmake", ".fio"}
# Text without a place for a comment, or prose.
NO_SOURCE = {".md", ".json", ".html", ".svg", ".png"}


def is_source(path):
    if path.suffix in CODE or path.name == "CMakeLists.txt":
        return True
    if "corpus" in path.parts:  # a fuzzer's seeds: bytes
        return False
    return path.suffix not in NO_SOURCE and tree.text(path).startswith("#!")


class Files(unittest.TestCase):
    def setUp(self):
        self.sources = [path for path in tree.files() if path.suffix not in NO_SOURCE and is_source(path)]

    def test_there_are_sources(self):
        self.assertGreater(len(self.sources), 10)

    def test_every_source_starts_with_its_licence(self):
        # In the first line, or in the second after the interpreter's.
        silent = [str(p) for p in self.sources if not any(SPDX in line for line in tree.text(p).splitlines()[:2])]
        self.assertEqual([], silent)

    def test_no_source_is_longer_than_600_lines(self):
        lengths = {str(path): len(tree.text(path).splitlines()) for path in self.sources}
        self.assertEqual({}, {name: lines for name, lines in lengths.items() if lines > MAX_LINES})

    def test_headers_are_guarded_by_pragma_once(self):
        open_headers = [str(p) for p in self.sources if p.suffix == ".h" and "\n#pragma once\n" not in tree.text(p)]
        self.assertEqual([], open_headers)


if __name__ == "__main__":
    tree.main()
