#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Several jobs in the same trouble: each has paths, counts and events of its own."""
import faults
from faults import VERIFIED, Trouble


class Together(faults.Case):
    """Four jobs that write and verify a part of their own each."""
    JOBS = (*VERIFIED, "--size=4000k", "--offset_increment=8M", "--numjobs=4", "--group_reporting=0")
    LISTENERS = ("name=a,delay=16ms", "name=b,delay=16ms")
    SCRIPTS = {
        "lost": ("at 1s for 500ms on a down",),
        "silent": ("at 1s for 1500ms on a mute",),
        "told by the I/O": ("at 1s on a ana inaccessible no-event",),
        "to and fro": ("on b ana inaccessible", "at 1s every 200ms times 5 for 100ms on a ana inaccessible",
                       "at 1s every 200ms times 5 for 100ms on b ana optimized"),
        "refused": ("at 1s on any of a+b fail 3/00 count 20",),
    }
    # Of path a, in each job that had begun by then.
    EVENTS = {"lost": ("lost", "Connection reset"), "silent": ("lost", "no answer to Keep Alive"),
              "told by the I/O": ("state", "optimized -> inaccessible")}

    def check(self, mode):
        running = {label: self.start_trouble(Trouble(script, fio=(*self.JOBS, f"--thread={mode}"),
                                                    listeners=self.LISTENERS))
                   for label, script in self.SCRIPTS.items()}
        for label, (_, target, fio) in running.items():
            with self.subTest(label):
                run = self.finish(fio)
                served = target.stop()
                outcomes = [faults.Outcome(run, served, [], number) for number in (1, 2, 3, 4)]
                self.assertEqual(0, run.returncode, "\n".join(map(str, outcomes)))
                for outcome in outcomes:
                    self.check_books(outcome)
                    self.assertEqual(0, outcome.results["held"]["failed"], str(outcome))
                if label in self.EVENTS:
                    kind, text = self.EVENTS[label]
                    told = [sum(text in each for each in outcome.texts(kind, "a")) for outcome in outcomes]
                    self.assertEqual(1, max(told), "\n".join(map(str, outcomes)))
                if label == "refused":
                    refused = sum(listener["failed"] for listener in served.values())
                    self.assertEqual(20, refused)
                    self.assertEqual(refused, sum(sum(outcome.requeues().values()) for outcome in outcomes))

    def test_threads(self):
        self.check(1)

    def test_processes(self):
        self.check(0)


if __name__ == "__main__":
    faults.main()
