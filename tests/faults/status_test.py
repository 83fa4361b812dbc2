#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A status of the target on an I/O: sent on another path, again on the same one, or the end of it; counted as what it
was, exactly. And of what was written nothing is lost."""
import errno

import faults
from faults import ENDLESS, ONE_PATH, VERIFIED, Trouble

COUNT = 7
# One write after the other, so that all refusals meet the same one.
ONE_BY_ONE = ("--rw=write", "--bs=4k", "--size=400k", "--iodepth=1", "--verify=crc32c")
AFTER_SOME = "after 20 writes on a"


class Status(faults.Case):
    def check_counts(self, outcome, error, count, again):
        """`again`: "requeues" or "retries"."""
        self.assertEqual({error: count}, outcome.errors("a"), str(outcome))
        self.assertEqual(count, outcome.path("a")[again], str(outcome))
        self.assertEqual(count, outcome.served["a"]["failed"], str(outcome))
        self.assertEqual({}, outcome.errors("b"), str(outcome))
        self.assertEqual(0, outcome.path("a")["exposed_writes"], str(outcome))

    def check_failure(self, outcome, number, sentence):
        """fio says what, where and why, and fails."""
        self.assertEqual(number, outcome.jobs[0]["error"], str(outcome))
        self.assertRegex(outcome.run.stderr, f"fio: (write|read) of .* bytes at offset .* on path a: {sentence}")


class OtherPath(Status):
    CLASSES = {
        "internal-path-error": "path_error",
        "controller-pathing-error": "path_error",
        "host-pathing-error": "path_error",
        "aborted-by-host": "path_error",
        "internal-path-error crd 1": "path_error",  # the delay is for those who come back to this path
        "ana-persistent-loss": "ana_loss",
        "ana-inaccessible": "ana_inaccessible",
        "ana-transition": "ana_transition",
        "abort-requested": "aborted",
        "aborted-sq-deletion": "aborted",
    }

    def test_takes_what_the_path_was_to_blame_for(self):
        troubles = {status: Trouble((f"after 100 writes on a fail {status} count {COUNT}",), target=("--crdt=2s",))
                    for status in self.CLASSES}
        for status, outcome in self.together(troubles).items():
            with self.subTest(status):
                self.check_counts(outcome, self.CLASSES[status], COUNT, "requeues")
                self.assertEqual([], outcome.events(), str(outcome))  # no path was lost, and the log knew better

    def test_with_do_not_retry_only_if_told_so(self):
        outcomes = self.together({(status, dnr): Trouble((f"after 100 writes on a fail {status} dnr count {COUNT}",),
                                                         fio=(*VERIFIED, f"--dnr={dnr}"), exits=int(dnr == "fail"))
                                  for status in ("3/00", "302h") for dnr in ("fail", "failover")})
        for (status, dnr), outcome in outcomes.items():
            with self.subTest(status=status, dnr=dnr):
                if dnr == "failover":
                    self.check_counts(outcome, "path_error_dnr", COUNT, "requeues")
                else:
                    self.assertEqual({"a": 0, "b": 0}, outcome.requeues(), str(outcome))
                    self.check_failure(outcome, errno.ENOLINK, "the target reported an error of the path and forbade a "
                                       r"retry, status 30[02]h \(.*\), do not retry")

    def test_is_not_asked_for_ever_when_all_refuse(self):
        # Without ANA there is no state that would say when to come back.
        outcomes = self.together({status: Trouble((f"at 200ms on all command io fail {status}",), exits=1,
                                                  fio=(*VERIFIED, "--iodepth=1"), target=("--ana=none",))
                                  for status in ("302h", "3/00")})
        for status, outcome in outcomes.items():
            with self.subTest(status):
                self.assertEqual(errno.ENOLINK, outcome.jobs[0]["error"], str(outcome))
                self.assertRegex(outcome.run.stderr, "on path [ab]: the (path's group is inaccessible|target reported "
                                 "an error of the path), status 30")
                refusals = sum(sum(outcome.errors(path).values()) for path in "ab")
                self.assertEqual(sum(listener["failed"] for listener in outcome.served.values()), refusals)
                self.assertLessEqual(refusals, 2 * 17, str(outcome))  # by each path, between each of 16 pauses


class SamePath(Status):
    def test_after_a_damaged_transfer_or_while_it_is_busy(self):
        classes = {"data-transfer-error": "transport_error", "transient-transport-error": "transport_error",
                   "command-interrupted": "busy", "namespace-not-ready": "busy", "internal-error crd 1": "busy"}
        troubles = {status: Trouble((f"after 100 writes on a fail {status} count {COUNT}",), target=("--crdt=100ms",))
                    for status in classes}
        for status, outcome in self.together(troubles).items():
            with self.subTest(status):
                self.check_counts(outcome, classes[status], COUNT, "retries")
                self.assertEqual([], outcome.events(), str(outcome))

    def test_waits_as_long_as_the_target_asked(self):
        outcomes = self.together({number: Trouble((f"{AFTER_SOME} busy crd {number} count 1",), fio=ONE_BY_ONE,
                                                  target=("--crdt=300ms,700ms",)) for number in (1, 2)})
        for number, asked in ((1, 300), (2, 700)):
            with self.subTest(asked):
                slowest = outcomes[number].results["response"]["write"]["max_ns"]
                self.assertGreaterEqual(slowest, asked * 10**6, str(outcomes[number]))

    def test_five_times(self):
        troubles = {count: Trouble((f"{AFTER_SOME} fail 22h count {count}",), fio=ONE_BY_ONE, listeners=ONE_PATH,
                                   exits=int(count == 6)) for count in (5, 6)}
        outcomes = self.together(troubles)
        self.assertEqual((5, 5), tuple(outcome.path("a")["retries"] for outcome in outcomes.values()))
        self.check_failure(outcomes[6], errno.EIO, r"the transfer was damaged, status 022h")
        self.assertEqual({"transport_error": 6}, outcomes[6].errors("a"))


class NoPath(Status):
    """The device itself refused it."""

    def test_takes_what_the_device_refused(self):
        sentences = {"internal-error": "006h", "write-protected": "020h", "lba-out-of-range": "080h",
                     "invalid-field dnr": "002h"}
        outcomes = self.together({status: Trouble((f"{AFTER_SOME} fail {status} count 1",), exits=1)
                                  for status in sentences})
        for status, outcome in outcomes.items():
            with self.subTest(status):
                self.assertEqual({"io_error": 1}, outcome.errors("a"), str(outcome))
                self.assertEqual({"a": 0, "b": 0}, outcome.requeues(), str(outcome))
                self.check_failure(outcome, errno.EIO, f"the device refused it, status {sentences[status]}")

    def test_and_fio_may_go_on(self):
        outcome = self.run_trouble(f"at 200ms on a fail internal-error count {COUNT}", lost_io=COUNT,
                                   fio=(*ENDLESS, "--runtime=1", "--continue_on_error=io"))
        self.assertEqual({"io_error": COUNT}, outcome.errors("a"), str(outcome))
        self.assertEqual(COUNT, outcome.jobs[0]["total_err"], str(outcome))


if __name__ == "__main__":
    faults.main()
