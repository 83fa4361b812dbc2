#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A running target does what fio-mpath target-ctl says, or nothing, and says why."""
import os
import subprocess
import unittest

import lab


class TargetCtl(lab.Case):
    def setUp(self):
        super().setUp()
        # A folder of its own, where no other test's targets are found.
        os.environ["XDG_RUNTIME_DIR"] = str(self.folder)
        self.addCleanup(os.environ.pop, "XDG_RUNTIME_DIR")

    def ctl(self, *words, stdin=""):
        return subprocess.run([lab.COMMAND, "target-ctl", *words], input=stdin, capture_output=True, text=True,
                              timeout=lab.SECONDS, check=False)

    def states(self):
        """{listener: {key: value}}, of what `status` says."""
        lines = [line.split(" ", 2) for line in self.ctl("status").stdout.splitlines() if line.startswith("state ")]
        return {name: dict(word.split("=", 1) for word in rest.split(" ", 5)) for _, name, rest in lines}

    def succeed_ctl(self, *words, **how):
        run = self.ctl(*words, **how)
        self.assertEqual((0, ""), (run.returncode, run.stderr), run)

    def test_the_only_target_is_found(self):
        self.target()
        self.succeed_ctl("on", "a", "delay", "5ms")
        self.assertEqual("delay 5ms", self.states()["a"]["faults"])
        self.assertEqual("none", self.states()["b"]["faults"])

    def test_statements_come_as_words_in_quotes_in_a_file_or_from_standard_input(self):
        self.target()
        file = self.folder / "some.script"
        file.write_text("# one\non a ana inaccessible\n")
        for words, stdin, a, b in (((), "on a ana change\non b ana optimized\n", "change", "optimized"),
                                   (("-f", str(file)), "", "inaccessible", "optimized"),
                                   (("on b ana change", "on", "a", "ana", "optimized"), "", "optimized", "change"),
                                   (("forget", "on all heal"), "", "optimized", "optimized")):
            with self.subTest(words):
                self.succeed_ctl(*words, stdin=stdin)
                self.assertEqual((a, b), tuple(state["ana"] for state in self.states().values()))

    def test_a_bad_statement_is_refused_and_nothing_done(self):
        self.target()
        run = self.ctl("on a mute", "on a dorp")
        self.assertEqual(1, run.returncode)
        self.assertRegex(run.stderr, r"^fio-mpath: statement:2: expected an action \(.*\), not 'dorp'\n$")
        self.assertEqual("none", self.states()["a"]["faults"])

    def test_nobody_and_several_are_said(self):
        run = self.ctl("status")
        self.assertEqual(1, run.returncode)
        self.assertIn("no target of this user runs", run.stderr)
        targets = [self.target(), self.target(f"--control={self.folder}/mine")]
        run = self.ctl("status")
        self.assertEqual(1, run.returncode)
        for target in targets:
            self.assertIn(f"target.{target.process.pid}", run.stderr)
        self.assertEqual(f"{self.folder}/mine", targets[1].control)
        self.assertEqual({"a", "b"}, set(targets[1].counters()))

    def test_a_bad_script_keeps_the_target_from_starting(self):
        file = self.folder / "bad.script"
        file.write_text("on a drop\nat noon on a drop\n")
        with self.assertRaisesRegex(AssertionError, "bad.script:2: expected a time such as 500ms.*not 'noon'"):
            self.target("--script", str(file))


if __name__ == "__main__":
    unittest.main()
