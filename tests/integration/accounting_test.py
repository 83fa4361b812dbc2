#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The numbers per path add up to fio's own, in every way a job can run."""
import unittest

import lab


class SumOverPathsEqualsFio(lab.Case):
    """Per direction: I/Os over all paths and fio's lat_ns.N; syncs and trims apart, as fio keeps them."""

    def check(self, *options, jobs=1, expect=("read",), target_options=(), **how):
        target = self.target(*target_options, size="32M")
        run = self.measure("--size=100%", "--iodepth=8", "--bs=4k", *options, paths=target.paths, **how)
        self.assertEqual(jobs, len(run.jobs), str(run))
        for job in run.jobs:
            self.assertEqual(lab.fio_sums(job), lab.our_sums(job), job["jobname"])
            for operation in expect:
                self.assertGreater(lab.our_sums(job)[operation], 0, f"no {operation} in {run}")
            for path, counts in lab.ios(job).items():
                self.assertGreater(sum(counts.values()), 0, f"path {path} had none")
        return run

    def test_in_a_process(self):
        self.check("--rw=randread", "--time_based", "--runtime=1")

    def test_in_a_thread(self):
        self.check("--rw=randread", "--time_based", "--runtime=1", "--thread")

    def test_with_four_processes(self):
        self.check("--rw=randread", "--time_based", "--runtime=1", "--numjobs=4", jobs=4)

    def test_with_four_threads(self):
        self.check("--rw=randread", "--time_based", "--runtime=1", "--numjobs=4", "--thread", jobs=4)

    def test_with_four_processes_reported_together(self):
        self.check("--rw=randrw", "--time_based", "--runtime=1", "--numjobs=4", "--group_reporting",
                   expect=("read", "write"))

    def test_with_four_threads_reported_together(self):
        self.check("--rw=randrw", "--time_based", "--runtime=1", "--numjobs=4", "--group_reporting", "--thread",
                   expect=("read", "write"))

    def test_when_reads_and_writes_are_mixed(self):
        self.check("--rw=randrw", "--number_ios=20000", expect=("read", "write"))

    def test_when_jobs_wait_for_others(self):
        run = self.check(job_file="size=4M\nbs=4k\nrw=read\n[first]\n[second]\nstonewall\nrw=randwrite\n"
                                  "[third]\nstonewall\n", jobs=3, expect=())
        self.assertEqual([{"read": 1024}, {"write": 1024}, {"read": 1024}],
                         [{k: v for k, v in lab.our_sums(job).items() if v} for job in run.jobs])

    def test_of_writes_that_are_verified(self):
        run = self.check("--rw=randwrite", "--verify=crc32c", "--size=8M", expect=("read", "write"))
        self.assertEqual(2048, lab.our_sums(run.jobs[0])["write"])
        self.assertEqual(2048, lab.our_sums(run.jobs[0])["read"])

    def test_of_trims(self):
        self.check("--rw=randtrim", expect=("trim",))

    def test_of_trims_beside_writes(self):
        self.check("--rw=trimwrite", "--size=4M", expect=("trim", "write"))

    def test_of_syncs(self):
        self.check("--rw=randwrite", "--fsync=4", "--size=4M", expect=("write", "sync"))

    def test_of_data_syncs(self):
        self.check("--rw=randwrite", "--fdatasync=4", "--size=4M", expect=("write", "sync"))

    def test_at_a_limited_rate(self):
        self.check("--rw=randrw", "--rate_iops=500", "--time_based", "--runtime=1", expect=("read", "write"))

    def test_with_several_block_sizes(self):
        self.check("--rw=randrw", "--bssplit=4k/40:16k/40:128k/20", "--io_size=64M", expect=("read", "write"))

    def test_when_io_is_larger_than_a_command(self):
        run = self.check("--rw=write", "--bs=1M", "--size=32M", expect=("write",), target_options=("--mdts=64k",))
        self.assertEqual(32, lab.our_sums(run.jobs[0])["write"])

    def test_bytes_as_well(self):
        job = self.check("--rw=randrw", "--bssplit=4k/50:64k/50", "--io_size=64M", expect=("read", "write")).jobs[0]
        for direction in ("read", "write"):
            ours = sum(path[direction]["bytes"] for path in lab.path_results(job).values())
            self.assertEqual(job[direction]["io_bytes"], ours)


class Ramp(lab.Case):
    """What ends during ramp_time= counts for nobody."""

    def test_sum_over_paths_equals_fio(self):
        target = self.target()
        for mode in ("--thread=0", "--thread=1"):
            with self.subTest(mode):
                run = self.measure("--rw=randrw", "--bs=4k", "--iodepth=32", "--ramp_time=1", "--runtime=1",
                                   "--time_based", mode, paths=target.paths)
                job = run.jobs[0]
                self.assertGreater(lab.our_sums(job)["read"], 0)
                for direction in ("read", "write"):
                    # fio throws its statistics away in the middle of a batch of completions.
                    self.assertAlmostEqual(lab.fio_sums(job)[direction], lab.our_sums(job)[direction], delta=32)

    def test_io_of_the_ramp_is_not_counted(self):
        target = self.target()
        run = self.measure("--rw=randread", "--bs=4k", "--iodepth=32", "--ramp_time=1", "--runtime=1",
                           "--time_based", paths=target.paths)
        served = sum(listener["reads"] for listener in target.stop().values())
        self.assertLess(lab.our_sums(run.jobs[0])["read"], served)


class Errors(lab.Case):
    """Failed I/Os have no response time, in fio's statistics and in ours; they are counted apart."""

    def test_io_of_a_lost_path_is_an_error_and_a_requeue_of_that_path(self):
        kept = self.target("--device-id=one")
        # A slow path has I/O outstanding at any moment, so also at its last one.
        lost = self.target("--device-id=one", listeners=("name=a,delay=50ms",))
        paths = f"lost={lost.uris['a']},kept={kept.uris['a']}"
        fio = self.start_fio("--rw=randrw", "--bs=4k", "--iodepth=8", "--time_based", "--runtime=3",
                             "--output-format=json", paths=paths)
        lab.wait_until(lambda: lab.does_io(fio, lost), "I/O on the path")
        lost.kill()
        run = self.finish(fio)
        self.assertEqual(0, run.returncode, str(run))
        job = run.jobs[0]
        self.assertEqual(lab.fio_sums(job), lab.our_sums(job), str(run))
        facts = lab.path_facts(job)
        self.assertGreater(facts["lost"]["requeues"], 0, str(run))
        self.assertEqual(facts["lost"]["requeues"], facts["lost"]["errors"], str(run))
        self.assertEqual((0, 0), (facts["kept"]["requeues"], facts["kept"]["errors"]), str(run))

    def test_io_of_the_last_path_is_an_error_of_the_job(self):
        target = self.target(listeners=("name=a,delay=50ms",))
        # Of itself, continue_on_error= means EIO and EILSEQ only; EIO is what a job without a path gets.
        fio = self.start_fio("--rw=randread", "--bs=4k", "--iodepth=8", "--continue_on_error=io", "--time_based",
                             "--runtime=2", "--rate_iops=100", "--ctrl_loss_tmo=0", "--output-format=json",
                             paths=target.paths)
        lab.wait_until(lambda: lab.does_io(fio, target), "I/O on the path")
        target.kill()
        run = self.finish(fio)
        job = run.jobs[0]
        self.assertGreater(job["total_err"], 0, str(run))
        self.assertEqual(lab.fio_sums(job), lab.our_sums(job), str(run))

    def test_data_that_fails_to_verify_is_no_error_of_a_path(self):
        target = self.target()
        shape = ("--bs=4k", "--size=1M", "--verify=crc32c")
        self.succeed("--rw=write", *shape, "--do_verify=0", paths=target.paths)
        self.succeed("--rw=write", "--bs=4k", "--size=64k", "--offset=256k", paths=target.paths)
        run = self.run_fio("--rw=read", *shape, "--continue_on_error=verify", "--output-format=json",
                           paths=target.paths)
        job = run.jobs[0]
        self.assertEqual(16, job["total_err"], str(run))
        self.assertEqual(lab.fio_sums(job), lab.our_sums(job), str(run))
        self.assertEqual([0, 0], [facts["errors"] for facts in lab.path_facts(job).values()])


if __name__ == "__main__":
    unittest.main()
