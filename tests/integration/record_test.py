#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The record of a job that ended by itself: valid, complete, and in agreement with fio's statistics."""
import json
import os
import unittest

import lab
import schema


class Record(lab.Case):
    def check(self, record, complete=True):
        self.assertEqual([], schema.faults(record, schema.RECORD)[:5])
        self.assertIs(complete, record["complete"])

    def check_sums(self, record, job):
        # The record counts verify reads where fio does, too; syncs apart.
        self.assertEqual(lab.fio_sums(job), lab.record_sums(record))
        self.assertEqual(lab.fio_sums(job), lab.record_sums(record, "response"))
        for direction in lab.DIRECTIONS:
            response = record["results"]["response"][direction]
            if response["count"]:
                self.assertEqual(job[direction]["io_bytes"], response["bytes"])
                self.assertEqual(response["count"], sum(count for _, count in response["buckets"]))

    def run_with_record(self, *options, target=None, **how):
        target = target or self.target()
        return self.measure("--mpath_log=record", "--bs=4k", "--iodepth=8", *options, paths=target.paths, **how)


class Sums(Record):
    def test_of_every_kind_of_job(self):
        for options in (["--rw=randrw", "--size=4M"], ["--rw=randrw", "--size=4M", "--thread"],
                        ["--rw=randwrite", "--size=4M", "--verify=crc32c"],
                        ["--rw=randwrite", "--size=2M", "--fsync=8"], ["--rw=randtrim", "--size=4M"]):
            with self.subTest(options):
                run = self.run_with_record(*options)
                self.assertEqual([1], list(run.records()))
                self.check(run.record())
                self.check_sums(run.record(), run.jobs[0])

    def test_after_a_ramp(self):
        run = self.run_with_record("--rw=randread", "--ramp_time=1", "--runtime=1", "--time_based")
        self.check(run.record())
        sums = lab.record_sums(run.record())
        # fio throws its statistics away in the middle of a batch of completions.
        self.assertAlmostEqual(lab.fio_sums(run.jobs[0])["read"], sums["read"], delta=8)
        self.assertEqual(sums, lab.our_sums(run.jobs[0]))

    def test_of_several_jobs(self):
        for mode in ("--thread=0", "--thread=1"):
            with self.subTest(mode):
                run = self.run_with_record("--rw=randrw", "--size=2M", "--numjobs=4", mode)
                records = run.records()
                self.assertEqual([1, 2, 3, 4], sorted(records))
                for number, job in enumerate(run.jobs, 1):
                    self.check(records[number])
                    self.check_sums(records[number], job)

    def test_of_jobs_reported_together(self):
        run = self.run_with_record("--rw=randrw", "--size=2M", "--numjobs=4", "--group_reporting")
        records = run.records().values()
        self.assertEqual(4, len(records))
        sums = [lab.record_sums(record) for record in records]
        self.assertEqual(lab.fio_sums(run.jobs[0]), {op: sum(each[op] for each in sums) for op in lab.OPERATIONS})


class Content(Record):
    def test_conditions(self):
        target = self.target("--mdts=64k", "--in-capsule=4k", "--max-h2c-data=32k", "--firmware=F7", "--serial=S1",
                             "--model=M", listeners=("name=a", "name=b,ana=non-optimized"))
        run = self.run_with_record("--rw=randwrite", "--size=1M", "--verify=crc32c", "--iopolicy=queue-depth",
                                   "--keep_alive_tmo=7", "--rate_iops=5000", target=target)
        conditions = run.record()["conditions"]
        self.assertEqual("fio-3.33", conditions["fio_version"])
        forced = os.environ.get("MPATH_NET", "auto")
        self.assertIn(conditions["net_backend"], ("io_uring", "poll") if forced == "auto" else (forced,))
        self.assertEqual("queue-depth", conditions["iopolicy"])
        self.assertIn("job", conditions["iopolicy_scope"])
        workload = conditions["workload"]
        self.assertEqual(("randwrite", 8, "crc32c", 5000), (workload["rw"], workload["iodepth"], workload["verify"],
                                                            workload["rate_iops_write"]))
        self.assertEqual({"min": 4096, "max": 4096}, workload["write_blocks"])
        first, second = conditions["paths"]
        expected = {"name": "a", "address": target.listeners["a"], "subsystem": lab.NQN, "model": "M", "serial": "S1",
                    "firmware": "F7", "device_bytes": 64 * lab.MIB, "block_bytes": 4096, "state_at_start": "optimized",
                    "state_at_end": "optimized", "io_queues": 1, "max_transfer_bytes": 64 * lab.KIB,
                    "in_capsule_bytes": 4096, "max_h2c_data_bytes": 32 * lab.KIB, "header_digest": False,
                    "data_digest": False, "keep_alive_ms": 7000}
        self.assertEqual(expected, {name: first[name] for name in expected})
        self.assertEqual("non-optimized", second["state_at_start"])
        self.assertEqual(first["device"], second["device"])

    def test_what_nobody_measured_is_null(self):
        run = self.run_with_record("--rw=randread", "--number_ios=100")
        response = run.record()["results"]["response"]
        self.assertEqual(100, response["read"]["count"])
        for name in ("min_ns", "max_ns", "mean_ns", "p50_ns", "p99_ns", "p999_ns"):
            self.assertIsNotNone(response["read"][name])
            self.assertIsNone(response["trim"][name])

    def test_bytes_written(self):
        run = self.run_with_record("--rw=write", "--bs=128k", "--size=4M", "--iodepth=1")
        written = run.record()["results"]["written"]
        self.assertEqual(4 * lab.MIB, written["total_bytes"])
        self.assertEqual(0, written["small_random_bytes"])

    def test_reads_of_blocks_never_written_are_told(self):
        run = self.run_with_record("--rw=randread", "--number_ios=5000")
        paths = run.record()["results"]["paths"]
        self.assertGreater(sum(path["sampled_reads"] for path in paths), 0)
        self.assertEqual([path["sampled_reads"] for path in paths], [path["all_zero_reads"] for path in paths])

    def test_a_run_without_trouble_has_no_events(self):
        self.assertEqual([], self.run_with_record("--rw=read", "--number_ios=10").record()["results"]["events"])

    def test_no_record_unless_asked_for(self):
        run = self.measure("--rw=read", "--bs=4k", "--number_ios=10", paths=self.target().paths)
        self.assertEqual([], list(run.folder.iterdir()))


class Intervals(Record):
    def test_a_line_an_interval(self):
        run = self.run_with_record("--rw=randrw", "--runtime=2", "--time_based", "--mpath_interval=200ms")
        record = run.record()
        lines = (run.folder / record["intervals_file"]).read_text().splitlines()
        intervals = [json.loads(line) for line in lines][1:]
        self.assertGreater(len(intervals), 3)
        for interval in intervals:
            self.assertEqual([], schema.faults(interval, schema.INTERVAL, "interval")[:5])
        for operation in ("read", "write"):
            total = sum(path["operations"][operation]["count"] for interval in intervals for path in interval["paths"])
            self.assertEqual(lab.record_sums(record)[operation], total)


if __name__ == "__main__":
    unittest.main()
