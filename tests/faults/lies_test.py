#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A target that breaks the protocol while fio verifies: named, survived on the other path, and no wrong data."""
import re

import faults
from faults import LARGE, Trouble


class Lies(faults.Case):
    SENTENCES = {
        "r2t-empty": "R2T that asks for nothing",
        "r2t-beyond": "R2T beyond the end of the command's buffer",
        "r2t-overlap": "R2T out of order",
        "r2t-too-many": "more R2Ts outstanding than MAXR2T allows",
        "data-beyond": "C2HData beyond the end of the command's buffer",
        "data-out-of-order": "C2HData out of order",
        "data-empty": "C2HData without data",
        "success-not-last": "C2HData with SUCCESS but without LAST_PDU",
        "plen-huge": "C2HData beyond the end of the command's buffer",
        "pdo-unaligned": "a PDU whose data offset is impossible",
        "unknown-cid": "a completion for a command that is not outstanding",
        "stale-cid": "a completion for a command that is not outstanding",
        "unknown-type": "a PDU of unknown type",
        "plen-0": "a PDU with an impossible length",
        "hlen": "a PDU with a wrong header length",
    }

    def test_each_ends_the_connection_by_name_and_no_io(self):
        for lie, outcome in self.together({lie: Trouble((f"after 100 writes on a lie {lie}",), fio=LARGE)
                                           for lie in self.SENTENCES}).items():
            with self.subTest(lie):
                self.check_lost_for(outcome, "a", f"broke the protocol: it sent {re.escape(self.SENTENCES[lie])}")
                self.check_untouched(outcome, "b")
                self.assertEqual(1, outcome.path("a")["traffic"]["protocol_violations"], str(outcome))
                self.check_noticed(outcome, outcome.event("lost", "a"))

    def test_the_target_may_end_the_connection_itself(self):
        outcome = self.run_trouble("after 100 writes on a lie term-req", fio=LARGE)
        self.check_lost_for(outcome, "a", r"the controller ended the connection: PDU sequence error \(FES 2, FEI 0\)")
        self.check_untouched(outcome, "b")
        self.assertEqual(0, outcome.path("a")["traffic"]["protocol_violations"], str(outcome))

    def test_success_for_half_of_the_data_is_read_again(self):
        outcome = self.run_trouble("after 100 writes on a lie short-success", fio=LARGE)
        self.assertEqual({"transport_error": 1}, outcome.errors("a"), str(outcome))
        self.assertEqual([], outcome.events(), str(outcome))

    def test_an_error_before_all_data_was_sent_is_the_error_of_that_write(self):
        outcome = self.run_trouble("after 20 writes on a lie early-error", target=("--r2t-size=64k",), lost_io=1,
                                   fio=("--rw=write", "--bs=1M", "--size=48M", "--continue_on_error=io",
                                        "--verify=crc32c", "--do_verify=0"))
        self.assertEqual({"io_error": 1}, outcome.errors("a"), str(outcome))
        self.assertEqual([], outcome.events(), str(outcome))


if __name__ == "__main__":
    faults.main()
