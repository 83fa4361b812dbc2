#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A write that was lost with its path and may be executed all the same, later: held or counted, never ignored."""
import dataclasses

import faults
from faults import ONE_PATH, SECOND, VERIFIED, Trouble

HELD = ("after 100 writes on a hold-writes 1s count 8",)


class Counts(faults.Case):
    def together_dropped(self, troubles):
        return self.together({label: dataclasses.replace(trouble, when_held="on a drop")
                              for label, trouble in troubles.items()})

    def test_each_write_that_the_target_executed_late_was_held_or_counted(self):
        outcomes = self.together_dropped({
            "none": Trouble(HELD, fio=(*VERIFIED, "--retry_hold=none")),
            "kato": Trouble(HELD, fio=(*VERIFIED, "--retry_hold=kato")),
            "by verify=": Trouble(HELD),
            "without verify=": Trouble(HELD, fio=("--rw=randwrite", "--bs=4k", "--size=8000k")),
            "one path, none": Trouble(HELD, fio=(*VERIFIED, "--retry_hold=none"), listeners=ONE_PATH),
            "one path, kato": Trouble(HELD, fio=(*VERIFIED, "--retry_hold=kato"), listeners=ONE_PATH),
            "judged by traffic": Trouble(HELD, target=("--traffic-based-keep-alive",)),
        })
        for label, outcome in outcomes.items():
            with self.subTest(label):
                held = label in ("kato", "by verify=", "one path, kato", "judged by traffic")
                # All of the job's slots end on path a, and stay there.
                self.assertEqual(8, outcome.served["a"]["held_writes"], str(outcome))
                self.assertEqual(8, outcome.served["a"]["late_writes"], str(outcome))
                self.assertEqual({"path_down": 8}, outcome.errors("a"), str(outcome))
                self.assertEqual(8, outcome.requeues()["a"], str(outcome))
                self.assertEqual(0 if held else 8, outcome.path("a")["exposed_writes"], str(outcome))
                self.assertEqual(0 if held else 8, outcome.event("lost", "a")["exposed_writes"], str(outcome))
                # Twice the keep-alive timeout, or three times where it is looked at no more often than once.
                seconds = 0 if not held else 3 if label == "judged by traffic" else 2
                self.assertGreaterEqual(outcome.path("a")["requeue_delay"]["min_ns"], seconds * SECOND, str(outcome))
                self.assertGreaterEqual(outcome.event("lost", "a")["gap_ns"], seconds * SECOND, str(outcome))

    def test_what_modifies_is_exposed_and_what_reads_is_not(self):
        script = faults.when_stuck("on a queue 1 drop", count="commands", where="a queue 1")
        troubles = {(rw, hold): Trouble(script, fio=(f"--rw={rw}", "--bs=4k", "--size=4000k", f"--retry_hold={hold}"))
                    for rw in ("randread", "randwrite", "randtrim") for hold in ("none", "kato")}
        for (rw, hold), outcome in self.together(troubles).items():
            with self.subTest(rw=rw, hold=hold):
                self.assertEqual({"path_down": 8}, outcome.errors("a"), str(outcome))
                exposed = 8 if rw != "randread" and hold == "none" else 0
                self.assertEqual(exposed, outcome.path("a")["exposed_writes"], str(outcome))
                if rw == "randread" or hold == "none":
                    self.assertEqual(0, outcome.path("a")["requeue_delay"]["max_ns"], str(outcome))


class Buffers(faults.Case):
    """Nothing leaves a buffer that was given back to fio: the target that reads on later finds no newer bytes."""

    def test_a_target_that_reads_again_after_the_path_was_given_up_gets_what_was_meant_for_it(self):
        # Every block is written once, so that only bytes of another block could differ; and long enough that the
        # target has read on by then. Keep-alives are no help to either side.
        options = ("--rw=randwrite", "--verify=crc32c", "--io_timeout=1s", "--retry_hold=none", "--keep_alive_tmo=10")
        troubles = {label: Trouble(("at 200ms for 2s on a stall-reading",), fio=(*options, *size), target=target)
                    for label, size, target in (("in capsules", ("--bs=16k", "--size=32M"), ("--in-capsule=16k",)),
                                                ("asked for", ("--bs=16k", "--size=32M"), ()),
                                                ("in pieces", ("--bs=16k", "--size=32M"), ("--r2t-size=4k",)),
                                                ("small", ("--bs=4k", "--size=8M"), ()))}
        for label, outcome in self.together(troubles).items():
            with self.subTest(label):
                event = outcome.event("lost", "a", "no answer to an I/O within 1000 ms")
                self.assertEqual(8, event["requeues"], str(outcome))
                self.assertEqual(outcome.path("a")["exposed_writes"], event["exposed_writes"], str(outcome))
                self.assertEqual(1, len(outcome.fault_times("stall-reading", "end")), str(outcome))


if __name__ == "__main__":
    faults.main()
