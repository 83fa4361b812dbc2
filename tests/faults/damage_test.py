#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Bytes that arrive damaged, in pieces or late: found where they can be, survived, and no wrong data."""
import faults
from faults import LARGE, VERIFIED, Trouble


class Digests(faults.Case):
    def test_a_wrong_data_digest_fails_that_command_alone(self):
        outcomes = self.together({count: Trouble((f"after 300 reads on a flip data count {count}",),
                                                 fio=(*VERIFIED, "--data_digest=1")) for count in (1, 7)})
        for count, outcome in outcomes.items():
            with self.subTest(count):
                self.assertEqual({"transport_error": count}, outcome.errors("a"), str(outcome))
                self.assertEqual(count, outcome.path("a")["retries"], str(outcome))
                self.assertEqual(count, outcome.path("a")["traffic"]["data_digest_errors"], str(outcome))
                self.assertEqual([], outcome.events(), str(outcome))

    def test_a_wrong_header_digest_ends_the_connection_and_no_io(self):
        # Of an R2T, a response, and data.
        troubles = {label: Trouble((f"{after} on a flip header",), fio=(*size, "--hdr_digest=1"))
                    for label, after, size in (("R2T", "after 100 writes", LARGE),
                                               ("response", "after 100 writes", VERIFIED),
                                               ("data", "after 100 reads", VERIFIED))}
        for label, outcome in self.together(troubles).items():
            with self.subTest(label):
                self.check_lost_for(outcome, "a", "it sent a PDU whose header digest is wrong$")
                self.check_untouched(outcome, "b")
                self.assertEqual(1, outcome.path("a")["traffic"]["header_digest_errors"], str(outcome))
                served = outcome.served["a"]
                if served["host_term_reqs"] != 0:  # none while a batch is on its way
                    self.assertEqual((1, 3), (served["host_term_reqs"], served["host_fes"]), str(outcome))

    def test_without_digests_verify_finds_it(self):
        # The control: the bit is really wrong.
        outcome = self.run_trouble("after 100 reads on a flip data", exits=1)
        self.assertRegex(outcome.run.stderr, "verify: bad (magic )?header")
        self.assertEqual({}, outcome.errors("a"), str(outcome))


class Legal(faults.Case):
    """What a target may do at any time."""

    def test_pieces_and_order_change_nothing(self):
        outcomes = self.together({
            "split 1": Trouble(("at 200ms for 300ms on a split 1",)),
            "split 100, with digests": Trouble(("on all split 100",),
                                               fio=(*VERIFIED, "--data_digest=1", "--hdr_digest=1")),
            "split-data 512": Trouble(("on all split-data 512",), fio=LARGE),
            "reorder": Trouble(("on all reorder",), fio=LARGE),
            "all of them": Trouble(("on all reorder", "on all split 1000", "on all split-data 4096"),
                                   fio=(*LARGE, "--data_digest=1", "--hdr_digest=1")),
        })
        for label, outcome in outcomes.items():
            with self.subTest(label):
                self.assertEqual({}, outcome.errors("a"), str(outcome))
                self.assertEqual([], outcome.events("lost"), str(outcome))
                self.check_untouched(outcome, "b")

    def test_a_slow_path_is_only_slow(self):
        outcome = self.run_trouble("at 200ms for 300ms on a delay 300ms")
        self.assertEqual({}, outcome.errors("a"), str(outcome))
        self.assertEqual([], outcome.events(), str(outcome))
        slowest = {path: max(setting["operations"]["write"]["max_ns"] for setting in outcome.path(path)["settings"])
                   for path in "ab"}
        self.assertGreaterEqual(slowest["a"], 300 * 10**6, str(outcome))

    def test_a_stall_in_the_middle_of_a_write_is_ended_by_its_deadline(self):
        outcome = self.run_trouble("at 200ms for 3s on a stall-reading", target=("--r2t-size=64k",),
                                   fio=("--rw=write", "--bs=1M", "--size=64M", "--verify=crc32c", "--io_timeout=1s",
                                        "--keep_alive_tmo=10"))
        self.check_lost_for(outcome, "a", "no answer to an I/O within 1000 ms")
        self.check_untouched(outcome, "b")
        self.assertEqual(outcome.errors("a")["path_down"], outcome.event("lost", "a")["requeues"], str(outcome))


if __name__ == "__main__":
    faults.main()
