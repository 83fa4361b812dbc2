#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Everything fio asks of an engine works, and the data is right: what is written is verified by reading it back."""
import unittest

import lab

KIB, MIB = lab.KIB, lab.MIB
MIXED_SIZES = "--bssplit=4k/50:12k/20:64k/20:256k/10"


class Operations(lab.Case):
    def works(self, target, *options, expect=(), **how):
        """The one job's JSON. Its I/O must have gone well and add up over the paths."""
        run = self.measure(*options, paths=target.paths, **how)
        self.assertEqual(1, len(run.jobs), str(run))
        job = run.jobs[0]
        self.assertEqual(lab.fio_sums(job), lab.our_sums(job), str(run))
        for operation in expect:
            self.assertGreater(lab.our_sums(job)[operation], 0, f"no {operation} in {run}")
        return job


class Directions(Operations):
    def test_every_rw(self):
        target = self.target(size="16M")
        for rw, expect in (("read", ["read"]), ("write", ["write"]), ("randread", ["read"]), ("randwrite", ["write"]),
                           ("rw", ["read", "write"]), ("randrw", ["read", "write"]), ("trim", ["trim"]),
                           ("randtrim", ["trim"]), ("trimwrite", ["trim", "write"])):
            with self.subTest(rw):
                self.works(target, f"--rw={rw}", "--bs=4k", "--iodepth=8", "--size=2M", expect=expect)

    def test_syncs_are_flushes(self):
        target = self.target()
        for option in ("--fsync=8", "--fdatasync=8"):
            with self.subTest(option):
                self.works(target, "--rw=randwrite", "--bs=4k", "--iodepth=4", "--size=1M", option,
                           expect=["write", "sync"])
        self.assertGreater(sum(listener["flushes"] for listener in target.stop().values()), 0)

    def test_every_io_reaches_the_target_once(self):
        target = self.target()
        self.works(target, "--rw=write", "--bs=4k", "--iodepth=8", "--size=4M")
        served = target.stop()
        self.assertEqual(1024, sum(listener["writes"] for listener in served.values()))
        self.assertEqual(4 * MIB, sum(listener["write_bytes"] for listener in served.values()))
        self.assertEqual(0, sum(listener["violations"] + listener["refused"] for listener in served.values()))

    def test_trimmed_blocks_are_deallocated(self):
        target = self.target()
        self.works(target, "--rw=trim", "--bs=64k", "--size=4M", expect=["trim"])
        self.assertGreater(sum(listener["deallocates"] for listener in target.stop().values()), 0)


class Verify(Operations):
    def test_every_way_to_verify(self):
        target = self.target()
        for options in (["--verify=crc32c"], ["--verify=md5"], ["--verify=crc32c", "--verify_async=2"],
                        ["--verify=crc32c", "--verify_backlog=64"], ["--verify=pattern", "--verify_pattern=0xdeadbeef"],
                        ["--verify=sha256", "--verify_fatal=1", "--verify_interval=512"]):
            with self.subTest(options):
                self.works(target, "--rw=randwrite", "--bs=8k", "--iodepth=16", "--size=4M", *options,
                           expect=["read", "write"])

    def test_what_one_run_wrote_over_both_paths_another_reads_over_each(self):
        target = self.target()
        shape = ("--bs=16k", "--size=8M", "--verify=crc32c", "--iodepth=16")
        self.works(target, "--rw=write", "--do_verify=0", *shape)
        for path in ("a", "b"):
            self.works(target, "--rw=read", f"--path={path}", *shape, expect=["read"])

    def test_mixed_sizes(self):
        target = self.target()
        self.works(target, "--rw=randwrite", "--size=16M", "--verify=crc32c", "--iodepth=16", MIXED_SIZES,
                   expect=["read", "write"])

    def test_in_a_thread(self):
        target = self.target()
        self.works(target, "--rw=randwrite", "--bs=4k", "--size=4M", "--verify=crc32c", "--iodepth=16", "--thread",
                   expect=["read", "write"])


class Pace(Operations):
    def test_rates(self):
        target = self.target()
        for option in ("--rate=2m", "--rate_iops=300", "--rate_iops=300,300", "--rate_process=poisson --rate_iops=300"):
            with self.subTest(option):
                job = self.works(target, "--rw=randrw", "--bs=4k", "--iodepth=4", "--time_based", "--runtime=1",
                                 *option.split(), expect=["read", "write"])
                self.assertLess(lab.our_sums(job)["read"], 2000)

    def test_thinktime(self):
        target = self.target()
        job = self.works(target, "--rw=randread", "--bs=4k", "--thinktime=10ms", "--thinktime_blocks=4",
                         "--number_ios=100")
        self.assertEqual(100, lab.our_sums(job)["read"])

    def test_latency_target(self):
        target = self.target()
        self.works(target, "--rw=randread", "--bs=4k", "--iodepth=32", "--latency_target=50ms", "--latency_window=100ms",
                   "--latency_percentile=90", "--time_based", "--runtime=1")

    def test_batches(self):
        target = self.target()
        self.works(target, "--rw=randwrite", "--bs=4k", "--size=4M", "--verify=crc32c", "--iodepth=32",
                   "--iodepth_batch=8", "--iodepth_batch_complete_min=4", "--iodepth_batch_complete_max=16",
                   "--iodepth_low=8", expect=["read", "write"])

    def test_loops(self):
        target = self.target()
        job = self.works(target, "--rw=read", "--bs=64k", "--size=1M", "--loops=3")
        self.assertEqual(48, lab.our_sums(job)["read"])


class Place(Operations):
    """size=, offset= and their kin, on a device of 64 MiB."""

    def test_parts_of_the_device(self):
        target = self.target(size="64M")
        for options, expected in ((["--size=100%"], 64 * MIB), (["--size=25%"], 16 * MIB),
                                  (["--offset=50%", "--size=25%"], 16 * MIB), (["--offset=75%"], 16 * MIB),
                                  (["--size=1G"], 64 * MIB), (["--io_size=8M", "--size=50%"], 8 * MIB), ([], 64 * MIB)):
            with self.subTest(options):
                job = self.works(target, "--rw=read", "--bs=1M", "--iodepth=4", *options)
                self.assertEqual(expected, job["read"]["io_bytes"])

    def test_jobs_side_by_side(self):
        target = self.target(size="16M")
        run = self.measure("--rw=write", "--bs=64k", "--iodepth=4", "--size=4M", "--offset_increment=4M", "--numjobs=4",
                           "--verify=crc32c", paths=target.paths)
        self.assertEqual([64] * 4, [lab.our_sums(job)["write"] for job in run.jobs])


class Depth(Operations):
    def test_every_depth(self):
        target = self.target(size="16M")
        for depth in (1, 2, 127, 128, 129, 1024):
            with self.subTest(depth):
                self.works(target, "--rw=randwrite", "--bs=4k", f"--iodepth={depth}", "--size=8M", "--verify=crc32c",
                           expect=["read", "write"])

    def test_more_io_than_the_queue_has_entries(self):
        target = self.target(size="16M")
        self.works(target, "--rw=randwrite", "--bs=4k", "--iodepth=256", "--size=8M", "--queue_size=16",
                   "--verify=crc32c", expect=["read", "write"])

    def test_several_queues(self):
        target = self.target(size="16M")
        self.works(target, "--rw=randwrite", "--bs=4k", "--iodepth=64", "--size=8M", "--nr_io_queues=4",
                   "--queue_size=16", "--verify=crc32c", expect=["read", "write"])
        # Per path: the probe's and the job's admin queue and four I/O queues each.
        self.assertGreaterEqual(target.stop()["a"]["connections"], 2 + 4)

    def test_a_target_that_grants_less_than_asked_for(self):
        target = self.target("--io-queues=2", "--queue-size=32", size="16M")
        self.works(target, "--rw=randwrite", "--bs=4k", "--iodepth=256", "--size=8M", "--nr_io_queues=4",
                   "--queue_size=512", "--verify=crc32c", expect=["read", "write"])


class Sizes(Operations):
    """From one LBA to 16 MiB, split by what one command may transfer."""

    def test_every_block_size(self):
        for lba, mdts in ((512, "8k"), (512, "128k"), (4096, "8k"), (4096, "64k"), (4096, "1M"), (4096, "0")):
            with self.subTest(f"LBA {lba}, MDTS {mdts}"):
                target = self.target(f"--block-size={lba}", f"--mdts={mdts}", size="48M")
                sections = [(lba, 0, 64 * lba), (3 * lba, MIB, 192 * lba), (64 * KIB, 2 * MIB, 2 * MIB),
                            (MIB, 4 * MIB, 4 * MIB), (16 * MIB, 16 * MIB, 32 * MIB)]
                text = "rw=randwrite\nverify=crc32c\niodepth=4\n"
                for size, offset, length in sections:
                    text += f"[bs{size}]\nstonewall\nbs={size}\noffset={offset}\nsize={length}\n"
                run = self.measure(paths=target.paths, job_file=text)
                for job, (size, _, length) in zip(run.jobs, sections, strict=True):
                    self.assertEqual(length // size, lab.our_sums(job)["write"], str(run))
                    self.assertEqual(lab.fio_sums(job), lab.our_sums(job), str(run))
                self.release(target)


class Transport(Operations):
    """Every way a target may cut the data up."""

    def check(self, *target_options, options=()):
        target = self.target(*target_options, size="16M")
        self.works(target, "--rw=randwrite", "--size=8M", "--iodepth=16", "--verify=crc32c", MIXED_SIZES, *options,
                   expect=["read", "write"])
        self.assertEqual([0, 0], [listener["violations"] for listener in target.stop().values()])

    def test_data_in_capsules(self):
        for size in ("0", "4k", "8k", "256k"):
            with self.subTest(size):
                self.check(f"--in-capsule={size}")

    def test_r2t_of_a_part_at_a_time(self):
        for size in ("4k", "20k"):
            with self.subTest(size):
                self.check(f"--r2t-size={size}", "--in-capsule=0")

    def test_small_h2c_data(self):
        self.check("--max-h2c-data=4096", "--in-capsule=0")
        self.check("--max-h2c-data=4096", "--in-capsule=0", "--r2t-size=20k")

    def test_c2h_data_in_any_split(self):
        for size in ("512", "4k", "20k"):
            with self.subTest(size):
                self.check(f"--c2h-size={size}")

    def test_without_the_success_flag(self):
        self.check("--no-success-flag")
        self.check("--no-success-flag", "--c2h-size=4k")

    def test_data_alignment(self):
        for cpda in ("1", "15", "31"):
            with self.subTest(cpda):
                self.check(f"--cpda={cpda}")

    def test_everything_small_at_once(self):
        self.check("--in-capsule=0", "--r2t-size=4k", "--max-h2c-data=4096", "--c2h-size=4k", "--mdts=8k", "--cpda=31",
                   "--no-success-flag", options=("--queue_size=16", "--nr_io_queues=2"))


if __name__ == "__main__":
    unittest.main()
