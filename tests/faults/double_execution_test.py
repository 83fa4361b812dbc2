#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A write that the target executes a second time, over newer data: what retry_hold= is for."""
import unittest

import faults
import lab


class DoubleExecution(faults.Case):
    """Old data on the device where newer was written meanwhile: what the count of exposed writes warns of."""
    OLD, NEW = "0xaaaa", "0xbbbb"
    AREA = ("--bs=4k", "--size=64k", "--iodepth=8", "--verify=pattern")

    def differing_blocks(self, hold, seconds):
        """Of those 16 that hold the newer data: some of the old ones were late."""
        target = self.target()
        target.tell(f"on a hold-writes {seconds}s", "at 300ms on a drop", "at 300ms on a heal")
        old = self.measure("--rw=write", *self.AREA, f"--verify_pattern={self.OLD}", "--do_verify=0",
                           "--keep_alive_tmo=2", f"--retry_hold={hold}", "--reconnect_delay=30", "--mpath_log=record",
                           paths=target.paths)
        self.assertEqual(8, target.counters()["a"]["held_writes"])
        self.measure("--rw=write", *self.AREA, f"--verify_pattern={self.NEW}", "--do_verify=0", "--path=b",
                     paths=target.paths)
        early = target.counters()["a"]["late_writes"]
        self.assertEqual(8 if hold == "kato" else 0, early, "the machine is too slow for this test")
        lab.wait_until(lambda: target.counters()["a"]["late_writes"] == 8, "the late writes")
        check = self.run_fio("--output-format=json", "--rw=read", *self.AREA, f"--verify_pattern={self.NEW}",
                             "--continue_on_error=verify", "--path=b", paths=target.paths)
        outcome = faults.Outcome(old, target.stop(), [])
        differing = check.stderr.count("verify: bad") or check.stderr.count("bad pattern")
        return outcome.path("a")["exposed_writes"], differing

    def test_none_exposes_as_many_as_there_then_are(self):
        self.assertEqual((8, 8), self.differing_blocks("none", 4))

    def test_kato_leaves_none(self):
        self.assertEqual((0, 0), self.differing_blocks("kato", 2))


if __name__ == "__main__":
    unittest.main()
