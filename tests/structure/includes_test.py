#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Includes follow the table of docs/architecture.md."""
import fnmatch
import unittest

import tree

EVERYTHING = ["*/*.h"]

# Folder -> what of other folders it may include, as patterns; its own and base/ come on top.
MAY_USE = {
    "base": [],
    "path": [],
    "net": [],
    "record": ["path/*.h"],
    "nvme": ["path/*.h", "net/*.h"],
    # What initiator and target share, and therefore free of both.
    "nvme/wire": [],
    "iscsi": ["path/*.h", "net/*.h"],
    "iscsi/wire": [],
    "multipath": ["path/*.h", "record/*.h"],
    "live": ["path/*.h", "record/*.h"],
    "report": ["path/*.h", "record/*.h"],
    # The bridge is the C face of job/, declared where C can see it and implemented in job/.
    "job": ["path/*.h", "net/*.h", "nvme/*.h", "iscsi/*.h", "multipath/*.h", "record/*.h", "live/*.h",
            "plugin/bridge.h"],
    "plugin": [],
    "target": ["net/*.h", "nvme/wire/*.h", "iscsi/wire/*.h"],
    "run": [],
    "cli": EVERYTHING,
}

# Header of a library -> folders that may include it.
LIBRARY_FOLDERS = {
    "isa-l*": ["base"],
    "liburing*": ["net"],
    "libnvme*": ["nvme"],
    "CLI/*": ["cli"],
    "boost/*": ["report"],
    "openssl/*": ["iscsi", "target"],
}

CODE = (".h", ".c", ".cc")


def row_of(path):
    """The row of the table that a file belongs to: that of its innermost folder."""
    return next((str(parent) for parent in path.parents if str(parent) in MAY_USE), None)


def product_files():
    return [path for path in tree.files() if path.parts[0] in MAY_USE and path.suffix in CODE]


class Includes(unittest.TestCase):
    def test_every_folder_with_code_has_a_row_in_the_table(self):
        outside = {"tests", "bench"} | set(MAY_USE)
        strangers = [path for path in tree.files() if path.suffix in CODE and path.parts[0] not in outside]
        self.assertEqual([], strangers)

    def test_folders_use_only_what_the_table_allows(self):
        wrong = []
        for path in product_files():
            folder = row_of(path)
            allowed = [f"{folder}/*", "base/*.h"] + MAY_USE[folder]
            for quoted, name in tree.includes(path):
                ours = quoted and (tree.ROOT / name).is_file()
                if ours and not any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed):
                    wrong.append(f"{path} includes {name}")
        self.assertEqual([], wrong)

    def test_own_headers_are_included_from_the_repository_root(self):
        wrong = []
        for path in product_files():
            for quoted, name in tree.includes(path):
                # Fio's headers are no package: plugin/ quotes them, and its include path finds them.
                if quoted and not (tree.ROOT / name).is_file() and path.parts[0] != "plugin":
                    wrong.append(f'{path} includes "{name}"')
        self.assertEqual([], wrong)

    def test_libraries_stay_in_the_folders_they_are_for(self):
        wrong = []
        for path in tree.files():
            if path.suffix not in CODE or path.parts[0] in ("tests", "bench"):
                continue
            for _, name in tree.includes(path):
                for pattern, folders in LIBRARY_FOLDERS.items():
                    if fnmatch.fnmatchcase(name, pattern) and path.parts[0] not in folders:
                        wrong.append(f"{path} includes {name}")
        self.assertEqual([], wrong)

    def test_fio_is_included_by_the_plugin_alone(self):
        wrong = [
            str(path)
            for path in tree.files()
            if path.suffix in CODE and path.parts[0] != "plugin"
            and any(name == "fio.h" for _, name in tree.includes(path))
        ]
        self.assertEqual([], wrong)


if __name__ == "__main__":
    tree.main()
