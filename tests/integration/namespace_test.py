#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a namespace announces is respected: its block size, its boundaries, its write protection, what it can do."""
import unittest

import lab

VERIFY = ("--verify=crc32c", "--verify_fatal=1")


def total(served, counter):
    return sum(listener[counter] for listener in served.values())


class Blocks(lab.Case):
    def test_of_every_size(self):
        for size in (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536):
            with self.subTest(size):
                target = self.target(f"--block-size={size}")
                run = self.measure("--mpath_log=record", "--rw=randwrite", f"--bssplit={size}/50:{4 * size}/30:{16 * size}/20", "--iodepth=4",
                                   "--size=4M", *VERIFY, paths=target.paths)
                self.assertEqual(size, run.record()["conditions"]["paths"][0]["block_bytes"])

    def test_a_boundary_splits_what_would_cross_it(self):
        target = self.target("--noiob=8", "--block-size=4096")  # 32 KiB
        run = self.measure("--rw=write", "--bs=32k", "--offset=16k", "--size=1M", "--iodepth=4", *VERIFY,
                           paths=target.paths)
        served = target.stop()
        self.assertEqual(2 * 32, total(served, "writes"), str(run))
        self.assertEqual(2 * 32, total(served, "reads"), str(run))

    def test_a_boundary_does_not_split_what_lies_between(self):
        target = self.target("--noiob=8", "--block-size=4096")
        self.measure("--rw=write", "--bs=32k", "--size=1M", "--iodepth=4", paths=target.paths)
        self.assertEqual(32, total(target.stop(), "writes"))

    def test_limits_of_trim_and_write_zeroes(self):
        target = self.target("--max-trim=16", "--max-write-zeroes=65536", "--block-size=4096")
        self.measure("--rw=trim", "--bs=256k", "--size=1M", paths=target.paths)
        self.measure("--rw=write", "--bs=256k", "--size=1M", "--write_mode=zeroes", paths=target.paths)
        served = target.stop()
        self.assertEqual(16, total(served, "deallocates"))
        self.assertEqual(16, total(served, "write_zeroes"))


class Writes(lab.Case):
    def test_protected_ones_are_refused(self):
        target = self.target("--read-only")
        for rw in ("write", "randtrim", "randrw"):
            run = self.run_fio(f"--rw={rw}", "--bs=4k", "--size=1M", paths=target.paths)
            self.assertNotEqual(0, run.returncode)
            self.assertIn("is write protected; use rw=read or rw=randread", run.text)
        self.succeed("--rw=randread", "--bs=4k", "--size=1M", paths=target.paths)

    def test_synchronous_ones_force_unit_access(self):
        for option in ("--sync=1", "--sync=sync", "--sync=dsync"):
            with self.subTest(option):
                target = self.target()
                self.measure("--rw=randrw", "--bs=4k", "--size=1M", option, paths=target.paths)
                served = target.stop()
                self.assertGreater(total(served, "writes"), 0)
                self.assertEqual(total(served, "writes"), total(served, "fua_writes"))

    def test_others_do_not(self):
        target = self.target()
        self.measure("--rw=randwrite", "--bs=4k", "--size=1M", paths=target.paths)
        self.assertEqual(0, total(target.stop(), "fua_writes"))

    def test_zeroes_replace_what_was_there(self):
        target = self.target()
        self.measure("--rw=write", "--bs=64k", "--size=2M", "--buffer_pattern=0xa5", paths=target.paths)
        self.measure("--rw=randwrite", "--bs=16k", "--size=2M", "--write_mode=zeroes", "--iodepth=8",
                     paths=target.paths)
        self.measure("--rw=read", "--bs=64k", "--size=2M", "--verify=pattern", "--verify_pattern=0x00",
                     "--verify_fatal=1", paths=target.paths)
        served = target.stop()
        self.assertEqual(128, total(served, "write_zeroes"))
        self.assertEqual(32, total(served, "writes"))

    def test_zeroes_are_refused_where_they_are_unknown_or_in_vain(self):
        target = self.target("--no-write-zeroes")
        run = self.run_fio("--rw=write", "--bs=4k", "--size=1M", "--write_mode=zeroes", paths=target.paths)
        self.assertNotEqual(0, run.returncode)
        self.assertIn("does not know Write Zeroes", run.text)
        target = self.target()
        run = self.run_fio("--rw=write", "--bs=4k", "--size=1M", "--write_mode=zeroes", *VERIFY, paths=target.paths)
        self.assertNotEqual(0, run.returncode)
        self.assertIn("write_mode=zeroes does not write what verify= looks for", run.text)

    def test_trims_are_refused_where_they_are_unknown(self):
        target = self.target("--no-trim")
        run = self.run_fio("--rw=trim", "--bs=4k", "--size=1M", paths=target.paths)
        self.assertNotEqual(0, run.returncode)
        self.assertIn("can't trim", run.text)


class Sockets(lab.Case):
    """host_traddr, host_iface, tos, busy_poll."""

    def test_each_works(self):
        target = self.target()
        source = lab.own_address()
        for option in (f"--host_traddr={source}", "--host_iface=lo", "--tos=32", "--busy_poll=1"):
            with self.subTest(option):
                run = self.measure("--mpath_log=record", "--rw=randread", "--bs=4k", "--size=1M", "--iodepth=4", option,
                                   paths=target.paths)
                if "traddr" in option:
                    self.assertIn(source, run.record()["conditions"]["paths"][0]["local_address"])

    def test_each_is_refused_by_a_sentence(self):
        target = self.target()
        for option, words in (("--host_traddr=203.0.113.9", "host_traddr"), ("--host_traddr=name", "host_traddr"),
                              ("--host_iface=none0", "host_iface")):
            with self.subTest(option):
                run = self.run_fio("--rw=randread", "--bs=4k", "--size=1M", option, paths=target.paths)
                self.assertNotEqual(0, run.returncode)
                self.assertIn(words, run.text)


if __name__ == "__main__":
    unittest.main()
