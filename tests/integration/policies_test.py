#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Which path an I/O takes: iopolicy=, path= and the path states, seen from the end of a run and from the target."""
import unittest

import lab

IOS = 2000


class PathOfAnIo(lab.Case):
    def reads(self, target, *options):
        """{path: reads}, by our results; the target must have seen the same."""
        run = self.measure("--rw=randread", "--bs=4k", f"--number_ios={IOS}", *options, paths=target.paths)
        counts = {path: operations["read"] for path, operations in lab.ios(run.jobs[0]).items()}
        self.assertEqual(IOS, sum(counts.values()), str(run))
        served = target.stop()
        self.assertEqual(counts, {name: served[name]["reads"] for name in counts})
        return counts


class Policies(PathOfAnIo):
    def test_round_robin_halves_between_optimized_paths(self):
        for depth in (1, 16):
            with self.subTest(depth):
                counts = self.reads(self.target(), "--iopolicy=round-robin", f"--iodepth={depth}")
                self.assertLessEqual(abs(counts["a"] - counts["b"]), 1)

    def test_round_robin_is_the_default(self):
        counts = self.reads(self.target())
        self.assertLessEqual(abs(counts["a"] - counts["b"]), 1)

    def test_round_robin_leaves_non_optimized_paths_alone(self):
        target = self.target(listeners=("name=a", "name=b,ana=non-optimized", "name=c"))
        counts = self.reads(target)
        self.assertEqual(0, counts["b"])
        self.assertLessEqual(abs(counts["a"] - counts["c"]), 1)

    def test_round_robin_uses_non_optimized_paths_where_there_are_no_others(self):
        target = self.target("--ana=non-optimized")
        counts = self.reads(target)
        self.assertLessEqual(abs(counts["a"] - counts["b"]), 1)

    def test_numa_stays_on_one_path(self):
        self.assertEqual({"a": IOS, "b": 0}, self.reads(self.target(), "--iopolicy=numa", "--iodepth=16"))

    def test_numa_prefers_the_optimized_path(self):
        target = self.target(listeners=("name=a,ana=non-optimized", "name=b"))
        self.assertEqual({"a": 0, "b": IOS}, self.reads(target, "--iopolicy=numa"))

    def test_queue_depth_prefers_the_fast_path(self):
        target = self.target(listeners=("name=a,delay=5ms", "name=b"))
        counts = self.reads(target, "--iopolicy=queue-depth", "--iodepth=8")
        self.assertGreater(counts["b"], 2 * counts["a"])
        self.assertGreater(counts["a"], 0)

    def test_queue_depth_of_one_goes_to_the_first_path(self):
        self.assertEqual({"a": IOS, "b": 0}, self.reads(self.target(), "--iopolicy=queue-depth", "--iodepth=1"))

    def test_service_time_takes_turns_where_nothing_is_outstanding(self):
        self.assertEqual({"a": IOS / 2, "b": IOS / 2},
                         self.reads(self.target(), "--iopolicy=service-time", "--iodepth=1"))

    def test_service_time_and_latency_prefer_the_fast_path(self):
        for policy in ("service-time", "latency"):
            with self.subTest(policy):
                target = self.target(listeners=("name=a,delay=50ms", "name=b"))
                counts = self.reads(target, f"--iopolicy={policy}", "--iodepth=8")
                self.assertGreater(counts["b"], 2 * counts["a"])
                self.assertGreater(counts["a"], 0)

    def test_preferred_keeps_to_its_path_though_it_is_non_optimized(self):
        target = self.target(listeners=("name=a", "name=b,ana=non-optimized"))
        self.assertEqual({"a": 0, "b": IOS}, self.reads(target, "--iopolicy=preferred:b", "--iodepth=16"))

    def test_preferred_goes_to_the_next_path_and_comes_back(self):
        # At 1 ms an I/O and depth 4, the 300 ms are over long before the 1500 I/Os behind them are.
        target = self.target(listeners=("name=a,delay=1ms", "name=b,delay=1ms"))
        target.tell("after 500 reads for 300ms on b ana inaccessible")
        run = self.measure("--rw=randread", "--bs=4k", f"--number_ios={IOS}", "--iodepth=4",
                           "--iopolicy=preferred:b", paths=target.paths)
        counts = {path: operations["read"] for path, operations in lab.ios(run.jobs[0]).items()}
        self.assertEqual(IOS, sum(counts.values()))
        self.assertGreater(counts["a"], 0)
        self.assertGreater(counts["b"], 500)


class States(PathOfAnIo):
    def test_unusable_paths_get_no_io(self):
        for state in ("inaccessible", "persistent-loss", "change"):
            with self.subTest(state):
                target = self.target(listeners=(f"name=a,ana={state}", "name=b"))
                self.assertEqual({"a": 0, "b": IOS}, self.reads(target))


class Choice(PathOfAnIo):
    """path= names the paths of a job; others are not even connected."""

    def test_by_name_and_by_place(self):
        for value in ("b", "1"):
            with self.subTest(value):
                target = self.target()
                self.assertEqual({"b": IOS}, self.reads(target, f"--path={value}"))
                self.assertEqual(0, target.served["a"]["connections"])

    def test_several(self):
        target = self.target(listeners=("name=a", "name=b", "name=c"))
        counts = self.reads(target, "--path=c,a")
        self.assertEqual(["a", "c"], list(counts), "the order is that of paths=")
        self.assertLessEqual(abs(counts["a"] - counts["c"]), 1)

    def test_by_state(self):
        for value, expected in (("optimized", {"a": IOS, "b": 0}), ("non-optimized", {"a": 0, "b": IOS})):
            with self.subTest(value):
                target = self.target(listeners=("name=a", "name=b,ana=non-optimized"))
                self.assertEqual(expected, self.reads(target, f"--path={value}"))

    def test_jobs_pinned_to_different_paths_run_side_by_side(self):
        target = self.target()
        run = self.measure(paths=target.paths, job_file="rw=randread\nbs=4k\nnumber_ios=1000\n"
                                                        "[first]\npath=0\n[second]\npath=b\n[both]\npath=a,b\n")
        self.assertEqual([{"a": 1000}, {"b": 1000}, {"a": 500, "b": 500}],
                         [{path: counts["read"] for path, counts in lab.ios(job).items()} for job in run.jobs])

    def test_unnamed_paths_are_called_by_their_place(self):
        target = self.target()
        run = self.measure("--rw=read", "--bs=4k", "--number_ios=10", paths=",".join(target.uris.values()))
        self.assertEqual(["p0", "p1"], list(lab.ios(run.jobs[0])))


if __name__ == "__main__":
    unittest.main()
