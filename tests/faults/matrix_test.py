#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every fault (matrix.py) x 1, 2, 4 paths x read, write, verify x depth 1, 32 x both backends, as a table.

Environment:
    MPATH_MATRIX       "all": every row; a number: about that many, at random, of each fault at least one
    MPATH_SEED         the seed that was printed: the same choice again
    MPATH_FAULT        only faults whose name has this in it
"""
import collections
import json
import os
import random
import unittest

import faults
import lab
import matrix

ROWS = os.environ.get("MPATH_MATRIX", "1" if lab.SANITIZE else "100")
SEED = int(os.environ.get("MPATH_SEED", random.SystemRandom().randrange(1 << 31)))
FAULT = os.environ.get("MPATH_FAULT", "")
AT_ONCE = 12

HEAD = f"{'fault':<46} paths rw     depth backend  requeues exposed  held      gap errors verdict"


def time_text(nanoseconds):
    return "–" if nanoseconds is None else f"{nanoseconds / 1e6:.1f}ms"


def ended(outcome):
    """I/Os that failed and were not sent again."""
    return sum(sum(path["errors"].values()) - path["requeues"] - path["retries"] for path in outcome.results["paths"])


class OtherEvents(Exception):
    """I/O and data are as they must be, but something else has happened to paths than was done to them."""


class Matrix(faults.Case):
    def test_every_row_comes_out_as_it_must(self):
        chosen = matrix.rows() if ROWS == "all" else matrix.slice_of(random.Random(SEED), int(ROWS))
        chosen = [row for row in chosen if FAULT in row.fault.name]
        random.Random(SEED).shuffle(chosen)  # neither all long ones at once nor all that compute
        print(f"MPATH_SEED={SEED}: {len(chosen)} rows", flush=True)
        lines, failed = [], []
        self.again = []
        running = collections.deque()
        try:
            for row in chosen:
                if len(running) == AT_ONCE:
                    self.end_row(*running.popleft(), lines, failed)
                running.append((row, self.start_row(row)))
            while running:
                self.end_row(*running.popleft(), lines, failed)
            # A machine that stands still for a second loses further paths, or has no I/O for a fault to hit. Alone, it
            # does not; what is wrong with I/O or data is wrong the first time.
            alone, self.again = self.again, None
            for row in alone:
                self.end_row(row, self.start_row(row), lines, failed)
        finally:
            print(HEAD, *sorted(lines), sep="\n", flush=True)
        self.assertFalse(failed, "\n".join(["", *failed]))

    def start_row(self, row):
        os.environ["MPATH_NET"] = row.backend
        return self.start_trouble(faults.Trouble(row.fault.script, fio=row.job, target=row.fault.target,
                                                 listeners=row.listeners, protocol=row.fault.protocol))

    def end_row(self, row, started, lines, failed):
        _, target, fio = started
        outcome = None
        try:
            run = self.finish(fio)
            log = target.fault_log.read_text().splitlines()
            outcome = faults.Outcome(run, target.stop(), [json.loads(line) for line in log])
            self.check_row(row, outcome)
            verdict = "ok"
        except OtherEvents as wrong:
            if self.again is not None:
                print(f"\n{row}: once more, alone: {wrong}", flush=True)
                self.again.append(row)
                return
            verdict = str(wrong)
            failed.append(f"{row}: {verdict}\n{outcome}")
        except AssertionError as wrong:
            verdict = str(wrong).splitlines()[0]
            failed.append(f"{row}: {verdict}")
            print(f"\n{failed[-1]}\n{outcome or wrong}\n", flush=True)
        lines.append(f"{row} {self.numbers(outcome) if outcome else '':<38} {verdict}")

    @staticmethod
    def numbers(outcome):
        results = outcome.results
        exposed = sum(path["exposed_writes"] for path in results["paths"])
        held = results["held"]["count"] if results["held"] else 0
        gap = max((event["gap_ns"] for event in outcome.events() if event["gap_ns"] is not None), default=None)
        return (f"{sum(outcome.requeues().values()):>8} {exposed:>7} {held:>5} {time_text(gap):>8} "
                f"{ended(outcome):>6}")

    def check_row(self, row, outcome):
        run = outcome.run
        if not outcome.faults:
            raise OtherEvents("the script did nothing")
        if row.must_fail:
            self.assertNotEqual(0, run.returncode, "fio did not fail")
            self.assertGreater(ended(outcome), 0, "no I/O failed")
            self.check_books(outcome, None)
        elif row.fault.io == matrix.MAY_FAIL and run.returncode != 0:
            self.assertGreater(ended(outcome), 0, "fio failed, and no I/O")
            self.check_books(outcome, None)
        else:
            self.assertEqual(0, run.returncode, "fio failed")
            self.check_books(outcome, 0)
            self.assertEqual([0], [job["error"] for job in outcome.jobs], "the job failed")
        exposed = sum(path["exposed_writes"] for path in outcome.results["paths"])
        if row.operation != matrix.WRITE:
            self.assertEqual(0, exposed, "exposed writes though there are none, or all are held")
        if run.returncode == 0 or row.must_fail:
            try:
                self.check_events(row, outcome)
            except AssertionError as wrong:
                raise OtherEvents(str(wrong).splitlines()[0]) from wrong

    def check_events(self, row, outcome):
        others = [event for name in outcome.names[1:] for event in outcome.events(path=name)]
        if " on all " not in row.fault.script[0]:
            self.assertEqual([], others, "events of paths that nothing was done to")
        if row.fault.event is None:
            self.assertEqual([], outcome.kinds("a"), "events, though nothing happened to the path itself")
        elif row.fault.event and row.operation in row.fault.harms:
            self.assertIn(row.fault.event, outcome.kinds("a"), "the event that tells of it")


if __name__ == "__main__":
    unittest.main()
