#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""reconnect_delay, ctrl_loss_tmo, fast_io_fail_tmo: what a job does whose path is away, and never before its time."""
import errno

import faults
from faults import ENDLESS, ONE_PATH, SECOND, Trouble

GONE = ("at 300ms on a down",)
REFUSED = "no connection to .*: Connection refused"


class Timers(faults.Case):
    def check_order(self, outcome, kinds, path="a"):
        """The events of the path, and between which there are so many seconds at least."""
        self.assertEqual([kind for kind, _ in kinds], outcome.kinds(path), str(outcome))
        events = outcome.events(path=path)
        for (_, seconds), event in zip(kinds, events):
            self.assertGreaterEqual(event["monotonic_ns"] - events[0]["monotonic_ns"], seconds * SECOND, str(outcome))

    def check_failed(self, outcome, after):
        """All of a job's I/O, having waited so many seconds."""
        held = outcome.results["held"]
        self.assertEqual(8, held["failed"], str(outcome))
        if after:
            self.assertEqual(8, held["count"], str(outcome))
        self.assertGreaterEqual(held["max_ns"], after * SECOND * 99 // 100, str(outcome))
        self.assertEqual(errno.EIO, outcome.jobs[0]["error"], str(outcome))
        self.assertRegex(outcome.run.stderr, r"no usable path in this job's set \(a not connected\)")
        self.assertEqual({"a": 0}, outcome.requeues(), str(outcome))


class OnlyPath(Timers):
    def failing(self, *options):
        return Trouble(GONE, fio=(*ENDLESS, "--runtime=8", *options), listeners=ONE_PATH, exits=1)

    def test_io_fails_at_the_documented_moment(self):
        outcomes = self.together({
            "at once": self.failing("--ctrl_loss_tmo=0"),
            "after the last attempt": self.failing("--ctrl_loss_tmo=2"),
            "rounded up to whole delays": self.failing("--ctrl_loss_tmo=3", "--reconnect_delay=2"),
            "as fast_io_fail_tmo says": self.failing("--ctrl_loss_tmo=6", "--fast_io_fail_tmo=1",
                                                     "--reconnect_delay=2"),
            "as fast_io_fail_tmo=0 says": self.failing("--ctrl_loss_tmo=6", "--fast_io_fail_tmo=0"),
            "when refused for good": Trouble(
                ("at 300ms on a reject-connects connect-invalid-host dnr", "at 300ms on a drop"),
                fio=(*ENDLESS, "--runtime=8"), listeners=ONE_PATH, exits=1),
        })
        for label, kinds, after in (
                ("at once", [("lost", 0), ("given_up", 0)], 0),
                ("after the last attempt", [("lost", 0), ("refused", 1), ("given_up", 2)], 2),
                ("rounded up to whole delays", [("lost", 0), ("refused", 2), ("given_up", 4)], 4),
                ("as fast_io_fail_tmo says", [("lost", 0), ("failing", 1)], 1),
                ("as fast_io_fail_tmo=0 says", [("lost", 0), ("failing", 0)], 0),
                ("when refused for good", [("lost", 0), ("refused", 1), ("given_up", 1)], 1)):
            with self.subTest(label):
                self.check_order(outcomes[label], kinds)
                self.check_failed(outcomes[label], after)
        self.assertIn("(ctrl_loss_tmo=0)", outcomes["at once"].event("given_up", "a")["text"])
        self.assertIn("and 2 attempts (ctrl_loss_tmo)",
                      outcomes["after the last attempt"].event("given_up", "a")["text"])
        self.assertIn("(fast_io_fail_tmo)", outcomes["as fast_io_fail_tmo says"].event("failing", "a")["text"])
        self.assertIn("final", outcomes["when refused for good"].event("given_up", "a")["text"])

    def test_io_waits_for_a_path_that_returns_and_nothing_is_lost(self):
        outcomes = self.together({
            "in time": Trouble(faults.when_stuck("for 1500ms on a down"), fio=(*faults.VERIFIED, "--ctrl_loss_tmo=5"),
                               listeners=ONE_PATH),
            "for ever": Trouble(faults.when_stuck("for 2500ms on a down"), fio=(*faults.VERIFIED, "--ctrl_loss_tmo=-1"),
                                listeners=ONE_PATH),
            "before fast_io_fail_tmo": Trouble(faults.when_stuck("for 500ms on a down"), listeners=ONE_PATH,
                                               fio=(*faults.VERIFIED, "--fast_io_fail_tmo=4")),
        })
        for label, outcome in outcomes.items():
            with self.subTest(label):
                event = outcome.event("lost", "a")
                self.assertEqual(8, event["requeues"], str(outcome))
                self.assertEqual({"a": 8}, outcome.requeues(), str(outcome))
                # A gap is measured between answers; the last one may have come a little late.
                begin, end = outcome.fault_times("down")[0], outcome.fault_times("down", "end")[0]
                self.assertGreater(event["gap_ns"], (end - begin) // 2, str(outcome))
                self.assertEqual("connected", outcome.kinds("a")[-1], str(outcome))

    def test_io_that_fails_meanwhile_does_not_end_the_attempts(self):
        # fio goes on in spite of errors, about one every 100 ms.
        outcome = self.run_trouble("at 300ms for 1500ms on a down", listeners=ONE_PATH, lost_io=None,
                                   fio=(*ENDLESS, "--runtime=4", "--fast_io_fail_tmo=1", "--continue_on_error=io",
                                        "--thinktime=100ms", "--thinktime_blocks=8"))
        self.check_order(outcome, [("lost", 0), ("failing", 1), ("refused", 1), ("connected", 2)])
        self.assertGreater(outcome.results["held"]["failed"], 0, str(outcome))


class OneOfTwo(Timers):
    """The other one takes the I/O, and the job succeeds."""

    def test_whatever_becomes_of_the_path(self):
        run = (*ENDLESS, "--runtime=4")
        outcomes = self.together({
            "given up": Trouble(GONE, fio=(*run, "--ctrl_loss_tmo=2")),
            "busy": Trouble(("at 300ms for 1500ms on a reject-connects", "at 300ms on a drop"), fio=run),
            "busy, with DNR": Trouble(("at 300ms for 1500ms on a reject-connects connect-busy dnr",
                                       "at 300ms on a drop"), fio=run),
            "out of queues": Trouble(("at 300ms for 1500ms on a queue 1 reject-connects", "at 300ms on a drop"),
                                     fio=run),
            "refused": Trouble(("at 300ms for 1500ms on a reject-connects connect-invalid-host", "at 300ms on a drop"),
                               fio=run),
            "refused for good": Trouble(("at 300ms for 1500ms on a reject-connects connect-invalid-host dnr",
                                         "at 300ms on a drop"), fio=run),
            "nobody there": Trouble(("at 300ms for 1500ms on a refuse-connects", "at 300ms on a drop"), fio=run),
            "silent": Trouble(("at 300ms for 1500ms on a mute", "at 300ms on a drop"), fio=run),
        })
        comes_back = {
            "busy": "the target is out of controllers", "busy, with DNR": "the target is out of controllers",
            "out of queues": "the target is out of queues", "refused": "does not let host", "nobody there": REFUSED,
        }
        for label, outcome in outcomes.items():
            with self.subTest(label):
                self.check_untouched(outcome, "b")
                self.assertEqual(0, outcome.results["held"]["count"], str(outcome))
                if label in comes_back:
                    self.check_order(outcome, [("lost", 0), ("refused", 1), ("connected", 2)])
                    self.assertRegex(outcome.event("refused", "a")["text"], comes_back[label])
        self.check_order(outcomes["given up"], [("lost", 0), ("refused", 1), ("given_up", 2)])
        self.check_order(outcomes["refused for good"], [("lost", 0), ("refused", 1), ("given_up", 1)])

    def test_a_path_that_was_not_there_joins_later(self):
        causes = {"refuse-connects": REFUSED, "reject-connects": "the target is out of controllers",
                  "queue 1 reject-connects": "the target is out of queues"}
        outcomes = self.together({why: Trouble((f"on b {why}", "at 500ms on b heal"), fio=(*ENDLESS, "--runtime=3"))
                                  for why in causes})
        for why, outcome in outcomes.items():
            with self.subTest(why):
                self.assertRegex(outcome.event("refused", "b")["text"], causes[why])
                self.assertEqual("connected", outcome.kinds("b")[-1], str(outcome))
                self.assertGreater(outcome.served["b"]["writes"], 0, str(outcome))
                self.check_untouched(outcome, "a")


if __name__ == "__main__":
    faults.main()
