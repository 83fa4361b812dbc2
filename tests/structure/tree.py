# SPDX-License-Identifier: GPL-2.0-only
"""The files of the repository, as the structure tests see them."""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def files():
    """Every file that is tracked, or new and not ignored, as a path relative to ROOT."""
    # The clone may belong to another user than the one who runs the tests.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    names = sorted(set(filter(None, listed.split("\0"))))
    return [pathlib.PurePosixPath(name) for name in names if (ROOT / name).is_file()]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def includes(path):
    """Pairs (quoted, name) of what the file includes."""
    return [(match[1] == '"', match[2]) for match in INCLUDE.finditer(text(path))]


def main():
    unittest.main(argv=sys.argv[:1])
