#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Moving data: everything that a target may choose, and what it must not do, each called by its name."""
import unittest

import lab

KIB, MIB = lab.KIB, lab.MIB
VERIFY = ("--verify=crc32c", "--verify_fatal=1")
SIZES = "--bssplit=4k/40:12k/20:64k/20:256k/15:1m/5"
DIGESTS = ("--hdr_digest=1", "--data_digest=1")


class Choices(lab.Case):
    """Legal all: the data is right and nobody complains."""

    def verifies(self, target_options, *options):
        target = self.target(*target_options)
        run = self.measure("--mpath_log=record", "--rw=randwrite", SIZES, "--iodepth=8", "--size=8M", *VERIFY, *options, paths=target.paths)
        record = run.record()
        for listener in target.stop().values():
            self.assertEqual(0, listener["violations"] + listener["refused"], str(run))
        for path in record["results"]["paths"]:
            traffic = path["traffic"]
            self.assertEqual([0, 0, 0], [traffic["protocol_violations"], traffic["header_digest_errors"],
                                         traffic["data_digest_errors"]], str(run))
        return record

    def test_digests(self):
        for options, header, data in ((["--hdr_digest=1"], True, False), (["--data_digest=1"], False, True),
                                      (DIGESTS, True, True)):
            with self.subTest(options):
                record = self.verifies([], *options)
                for path in record["conditions"]["paths"]:
                    self.assertEqual([header, data], [path["header_digest"], path["data_digest"]])

    def test_alignment_and_padding(self):
        for cpda, hpda in ((0, 31), (31, 0), (17, 5), (31, 31)):
            for digests in ((), DIGESTS):
                with self.subTest(cpda=cpda, hpda=hpda, digests=digests):
                    self.verifies([f"--cpda={cpda}"], f"--hpda={hpda}", *digests)

    def test_several_r2ts_at_a_time(self):
        for size in ("512", "4K", "65536", "random"):
            with self.subTest(size):
                self.verifies(["--max-r2t=16", f"--r2t-size={size}", "--in-capsule=0"], "--max_r2t=16")
        self.verifies(["--max-r2t=16", "--r2t-size=4K"], "--max_r2t=3", *DIGESTS)

    def test_h2c_data_of_the_smallest_limit(self):
        self.verifies(["--max-h2c-data=4096", "--in-capsule=0"])
        self.verifies(["--max-h2c-data=4096", "--mdts=0"], "--nr_io_queues=2", *DIGESTS)

    def test_no_room_in_capsules(self):
        self.verifies(["--in-capsule=0"])

    def test_read_data_in_odd_pieces(self):
        for size in ("1", "999", "65535", "random"):
            with self.subTest(size):
                options = ("--size=1M",) if size == "1" else ()
                self.verifies([f"--c2h-size={size}"], *options)
        self.verifies(["--c2h-size=999", "--no-success-flag"], *DIGESTS)

    def test_every_byte_in_a_segment_of_its_own(self):
        self.verifies(["--segment=1", "--c2h-size=999"], "--size=256k", "--bssplit=4k", *DIGESTS)

    def test_answers_in_any_order(self):
        self.verifies(["--reorder", "--c2h-size=4K"], "--iodepth=32", *DIGESTS)


class Faults(lab.Case):
    """What no controller may do: named in fio's error and in the record, counted, and the other path is none the worse."""

    BREAKS = (
        ("r2t-empty", "--rw=write", "R2T that asks for nothing"),
        ("r2t-beyond", "--rw=write", "R2T beyond the end of the command's buffer"),
        ("r2t-overlap", "--rw=write", "R2T out of order"),
        ("r2t-too-many", "--rw=write", "more R2Ts outstanding than MAXR2T allows"),
        ("data-beyond", "--rw=read", "C2HData beyond the end of the command's buffer"),
        ("data-out-of-order", "--rw=read", "C2HData out of order"),
        ("data-empty", "--rw=read", "C2HData without data"),
        ("success-not-last", "--rw=read", "C2HData with SUCCESS but without LAST_PDU"),
        ("plen-huge", "--rw=read", "C2HData beyond the end of the command's buffer"),
        ("plen-0", "--rw=read", "impossible length"),
        ("hlen", "--rw=read", "wrong header length"),
        ("pdo-unaligned", "--rw=read", "data offset"),
        ("unknown-cid", "--rw=read", "for a command that is not outstanding"),
        ("stale-cid", "--rw=read", "for a command that is not outstanding"),
        ("unknown-type", "--rw=read", "a PDU of unknown type"),
        ("term-req", "--rw=read", "the controller ended the connection"),
    )

    def test_each_is_named_and_counted(self):
        for what, rw, words in self.BREAKS:
            with self.subTest(what):
                target = self.target(f"--break={what}:3", "--in-capsule=0", listeners=("name=a",))
                run = self.run_fio(rw, "--bs=16k", "--iodepth=4", "--size=1M", "--mpath_log=record",
                                   "--ctrl_loss_tmo=0", paths=target.paths)
                self.assertNotEqual(0, run.returncode, str(run))
                record = run.record()
                texts = " ".join(event["text"] for event in record["results"]["events"])
                self.assertIn(words, texts, str(run))
                if what != "term-req":
                    (path,) = record["results"]["paths"]
                    self.assertEqual(1, path["traffic"]["protocol_violations"], str(run))

    def check_retried(self, run):
        """One command failed, and its I/O was sent again on the same path; what the path counted."""
        self.assertEqual(0, run.returncode, str(run))
        self.assertEqual(64, run.jobs[0]["read"]["total_ios"], str(run))
        (path,) = run.record()["results"]["paths"]
        self.assertEqual((1, 0), (path["retries"], path["requeues"]), str(run))
        self.assertEqual(0, path["traffic"]["protocol_violations"], str(run))
        return path

    def test_a_success_with_missing_data_fails_that_command(self):
        target = self.target("--break=short-success:3", listeners=("name=a",))
        self.check_retried(self.run_fio("--rw=read", "--bs=16k", "--iodepth=4", "--size=1M", "--output-format=json",
                                        "--mpath_log=record", paths=target.paths))

    def test_an_early_error_ends_only_its_write(self):
        target = self.target("--break=early-error:3", "--in-capsule=0", "--r2t-size=65536", listeners=("name=a",))
        run = self.run_fio("--rw=write", "--bs=1m", "--iodepth=4", "--size=8M", "--continue_on_error=io",
                           "--output-format=json", "--mpath_log=record", paths=target.paths)
        self.assertEqual(1, run.jobs[0]["total_err"], str(run))
        self.assertEqual(0, target.stop()["a"]["violations"], str(run))

    def test_wrong_data_fails_that_command_alone(self):
        # On the last PDU of a read with a response capsule as well: its success does not undo the error.
        for success_flag in ("--success-flag", "--no-success-flag"):
            with self.subTest(success_flag):
                target = self.target("--flip=data:5", success_flag, listeners=("name=a",))
                path = self.check_retried(self.run_fio("--rw=read", "--bs=16k", "--iodepth=4", "--size=1M",
                                                       "--output-format=json", "--mpath_log=record", "--data_digest=1",
                                                       paths=target.paths))
                self.assertEqual(1, path["traffic"]["data_digest_errors"])

    def test_an_error_is_told_by_its_name(self):
        target = self.target(listeners=("name=a",))
        target.tell("on a fail 022h")
        run = self.run_fio("--rw=read", "--bs=16k", "--size=1M", paths=target.paths)
        self.assertNotEqual(0, run.returncode, str(run))
        self.assertIn("on path a: the transfer was damaged, status 022h (", run.stderr)

    def test_wrong_data_goes_unnoticed_without_a_digest(self):
        target = self.target("--flip=data:5", listeners=("name=a",))
        self.succeed("--rw=read", "--bs=16k", "--size=1M", paths=target.paths)

    def test_a_wrong_header_ends_the_connection(self):
        for rw in ("--rw=read", "--rw=write"):
            with self.subTest(rw):
                target = self.target("--flip=header:5", "--in-capsule=0", listeners=("name=a",))
                run = self.run_fio(rw, "--bs=16k", "--iodepth=4", "--size=1M", "--mpath_log=record",
                                   "--hdr_digest=1", "--ctrl_loss_tmo=0", paths=target.paths)
                self.assertNotEqual(0, run.returncode, str(run))
                record = run.record()
                self.assertIn("header digest", " ".join(e["text"] for e in record["results"]["events"]), str(run))
                (path,) = record["results"]["paths"]
                self.assertEqual(1, path["traffic"]["header_digest_errors"], str(run))

    def test_digests_that_are_not_agreed_on(self):
        for option, words in (("--no-digests", "digest"), ("--force-digests", "digest")):
            with self.subTest(option):
                target = self.target(option, listeners=("name=a",))
                asked = DIGESTS if option == "--no-digests" else ()
                run = self.run_fio("--rw=read", "--bs=4k", "--size=1M", *asked, paths=target.paths)
                self.assertNotEqual(0, run.returncode, str(run))
                self.assertIn(words, run.text)


if __name__ == "__main__":
    unittest.main()
