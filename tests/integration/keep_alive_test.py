#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A target that drops whoever is silent for 2 s never drops us, whatever fio is busy with."""
import unittest

import lab

SLEEPING = {
    "fio sleeps for 10 s": ("--rw=randread", "--bs=4k", "--number_ios=2", "--thinktime=10s"),
    "a thread, at a low rate": ("--rw=randread", "--bs=4k", "--rate_iops=1", "--number_ios=6", "--thread"),
}
BUSY = {
    "fio keeps the core busy for 6 s": ("--rw=randread", "--bs=4k", "--number_ios=2", "--thinktime=8s",
                                        "--thinktime_spin=6s"),
    "fio computes checksums for 6 s": ("--rw=write", "--bs=1M", "--size=16M", "--verify=sha512", "--loops=1000",
                                       "--runtime=6"),
}


class KeepAlive(lab.Case):
    def check(self, shapes):
        # All at once: together they take as long as the longest.
        running = {}
        for shape, options in shapes.items():
            target = self.target()
            running[shape] = target, self.start_fio("--keep_alive_tmo=2", "--output-format=json", *options,
                                                    paths=target.paths)
        for shape, (target, fio) in running.items():
            with self.subTest(shape):
                run = self.finish(fio)
                self.assertEqual(0, run.returncode, str(run))
                self.assertEqual([0, 0], [facts["errors"] for facts in lab.path_facts(run.jobs[0]).values()])
                self.assertGreater(sum(lab.our_sums(run.jobs[0]).values()), 1)
                self.assertEqual([0, 0], [listener["expired"] for listener in target.stop().values()])

    def test_no_drop_while_fio_sleeps(self):
        self.check(SLEEPING)

    def test_no_drop_while_fio_is_busy(self):
        self.check(BUSY)

    def test_the_target_does_drop_who_is_silent(self):
        # The control: a stopped fio can't send anything.
        target = self.target()
        fio = self.start_fio("--keep_alive_tmo=4", "--ctrl_loss_tmo=0", "--rw=randread", "--bs=4k", "--time_based",
                             "--runtime=60", paths=target.paths)
        lab.wait_until(lambda: lab.does_io(fio, target), "I/O")
        stopped = lab.stop_processes(fio)
        lab.wait_until(lambda: not lab.connections_to(target.port("a")), "the target drops the association")
        lab.continue_processes(stopped)
        run = self.finish(fio)
        self.assertEqual(1, run.returncode, str(run))


if __name__ == "__main__":
    unittest.main()
