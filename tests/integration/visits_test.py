#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What is told of a steered job: each of its I/Os is in exactly one visit, setting and interval, and all of them
together are fio's own counts."""
import collections
import csv
import json
import os
import signal
import subprocess
import unittest

import lab
import schema

SECOND = 1_000_000_000
TRANSITION = "transition"
NONE = dict.fromkeys(lab.OPERATIONS, 0)


def add(*sums):
    return {operation: sum(each[operation] for each in sums) for operation in lab.OPERATIONS}


def counts(operations):
    return {operation: operations[operation]["count"] for operation in lab.OPERATIONS}


class Visits:
    """A visits file."""

    def __init__(self, file):
        first, *lines = [json.loads(line) for line in file.read_text().splitlines()]
        self.head = first
        self.folded = lines.pop() if lines and "folded_visits" in lines[-1] else None
        self.lines = lines

    def sums(self, part, setting=None):
        """I/Os in that part of all visits, or of those to one setting."""
        return add(NONE, *(counts(visit[part]) for visit in self.lines if setting in (None, visit["setting"])))

    def folded_sums(self, part):
        return counts(self.folded[part]) if self.folded else NONE

    def steady_ns(self, setting):
        return sum(visit["ended_ns"] - visit["settled_ns"] for visit in self.lines
                   if visit["setting"] == setting and visit["settled_ns"] is not None)


class Steered(lab.Case):
    def run_steered(self, *options, target=None, **how):
        target = target or self.target()
        return self.measure("--mpath_log=record", "--bs=4k", "--iodepth=8", *options, paths=target.paths, **how)

    def visits(self, run, number=1):
        name = run.record(number)["visits_file"]
        self.assertEqual(f"record_mpath.{number}.visits.jsonl", name)
        visits = Visits(run.folder / name)
        self.assertEqual({"format": "fio-mpath visits", "version": 3}, visits.head)
        for visit in visits.lines:
            self.assertEqual([], schema.faults(visit, schema.VISIT, "visit")[:5])
        if visits.folded:
            self.assertEqual([], schema.faults(visits.folded, schema.FOLDED, "folded")[:5])
        return visits

    def check(self, run, job, number=1, slack=0):
        """`slack`: I/Os by which fio's counts may differ, because it throws them away at the end of a ramp."""
        record = run.record(number)
        self.assertEqual([], schema.faults(record, schema.RECORD)[:5])
        self.assertTrue(record["complete"])
        visits = self.visits(run, number)
        parts = {part: add(visits.sums(part), visits.folded_sums(part)) for part in ("transition", "steady")}
        of_paths = lab.record_sums(record)
        self.assertEqual(of_paths, add(*parts.values()))
        self.assertEqual(of_paths, lab.record_sums(record, "response"))
        for operation, count in lab.fio_sums(job).items():
            self.assertAlmostEqual(count, of_paths[operation], delta=slack)
        settings = collections.defaultdict(lambda: NONE)
        for path in record["results"]["paths"]:
            for setting in path["settings"]:
                settings[setting["name"]] = add(settings[setting["name"]], counts(setting["operations"]))
        self.assertEqual(parts["transition"], settings[TRANSITION])
        for setting in record["results"]["settings"]:
            if not visits.folded:
                self.assertEqual(visits.sums("steady", setting["name"]), settings[setting["name"]])
                self.assertEqual(visits.steady_ns(setting["name"]), setting["steady_ns"])
                self.assertEqual(sum(visit["setting"] == setting["name"] for visit in visits.lines),
                                 setting["visits"])
        return record, visits


class Sums(Steered):
    def test_of_a_schedule(self):
        for options in (["--rw=randrw"], ["--rw=randrw", "--thread"], ["--rw=randrw", "--fsync=8"]):
            with self.subTest(options):
                run = self.run_steered("--time_based", "--runtime=2", "--steer=round-robin@200ms,queue-depth@300ms",
                                       "--steer_settle=50ms", "--mpath_interval=100ms", *options)
                record, visits = self.check(run, run.jobs[0])
                self.assertIsNone(visits.folded)
                self.assertGreater(len(visits.lines), 5)
                names = [setting["name"] for setting in record["results"]["settings"]]
                self.assertEqual(["round-robin", "queue-depth"], names)
                steering = {"schedule": "round-robin@200ms,queue-depth@300ms", "order": "abba",
                            "settle_ns": SECOND // 20, "seed": None}
                self.assertEqual(steering, record["conditions"]["steering"])
                self.assertEqual("start", visits.lines[0]["cause"])
                self.assertEqual({"schedule"}, {visit["cause"] for visit in visits.lines[1:]})

    def test_after_a_ramp(self):
        run = self.run_steered("--rw=randread", "--ramp_time=1", "--runtime=1", "--time_based",
                               "--steer=round-robin@200ms,queue-depth@200ms", "--steer_settle=20ms")
        self.check(run, run.jobs[0], slack=8)

    def test_of_several_jobs(self):
        for mode in ("--thread=0", "--thread=1"):
            with self.subTest(mode):
                run = self.run_steered("--rw=randrw", "--time_based", "--runtime=2", "--numjobs=3", mode,
                                       "--steer=round-robin@200ms,queue-depth@200ms", "--steer_settle=20ms",
                                       "--steer_order=shuffle")
                seeds = set()
                for number, job in enumerate(run.jobs, 1):
                    record, _ = self.check(run, job, number)
                    seeds.add(record["conditions"]["steering"]["seed"])
                self.assertEqual(1, len(seeds), "jobs that start together are shuffled alike")

    def test_of_more_visits_than_a_job_keeps(self):
        run = self.run_steered("--rw=randrw", "--time_based", "--runtime=4", "--mpath_interval=1s",
                               "--steer=round-robin@2ms,queue-depth@2ms", "--steer_settle=0")
        record, visits = self.check(run, run.jobs[0])
        self.assertIsNotNone(visits.folded, "500 visits a second, of which 256 are kept")
        told = len(visits.lines) + visits.folded["folded_visits"]
        self.assertEqual(sum(setting["visits"] for setting in record["results"]["settings"]), told)

    def test_of_switches_by_command(self):
        target = self.target()
        fio = self.start_fio("--mpath_log=record", "--bs=4k", "--iodepth=8", "--rw=randrw", "--time_based",
                             "--runtime=4", "--output-format=json", paths=target.paths)
        lab.wait_until(lambda: any(served["reads"] for served in target.counters().values()), "the job does I/O")
        for policy in ("queue-depth", "round-robin", "queue-depth"):
            done = subprocess.run([lab.COMMAND, "policy", "--run", str(fio.pid), policy], capture_output=True,
                                  text=True, timeout=lab.SECONDS, check=False)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        run = self.finish(fio)
        record, visits = self.check(run, run.jobs[0])
        self.assertEqual(["start"] + 3 * ["command"], [visit["cause"] for visit in visits.lines])
        self.assertEqual(["round-robin", "queue-depth", "round-robin", "queue-depth"],
                         [visit["setting"] for visit in visits.lines])
        self.assertEqual(3, record["results"]["switch_delay"]["count"])
        self.assertIsNone(record["conditions"]["steering"])


class Settings(Steered):
    def test_share_the_paths_as_their_policy_says(self):
        run = self.run_steered("--rw=randread", "--time_based", "--runtime=2", "--steer=round-robin@200ms,path:a@200ms",
                               "--steer_settle=20ms")
        paths = {path["name"]: {setting["name"]: setting["operations"]["read"]["count"] for setting in path["settings"]}
                 for path in run.record()["results"]["paths"]}
        self.assertEqual({"round-robin", "path:a", TRANSITION}, set(paths["a"]))
        both = paths["a"]["round-robin"] + paths["b"]["round-robin"]
        self.assertAlmostEqual(0.5, paths["a"]["round-robin"] / both, delta=0.01)
        self.assertGreater(paths["a"]["path:a"], 0)
        self.assertEqual(0, paths["b"]["path:a"])

    def test_are_told_apart_below_fios_statistics(self):
        run = self.succeed("--rw=randread", "--bs=4k", "--iodepth=8", "--time_based", "--runtime=2", "--numjobs=2",
                           "--group_reporting", "--steer=round-robin@200ms,path:a@200ms", "--steer_settle=20ms",
                           paths=self.target().paths)
        self.assertRegex(run.stdout, r"mpath: job: 2 paths, 2 settings, 2 jobs, ")
        self.assertRegex(run.stdout, r"setting path:a: \d+ visits, \S+ steady in each of 2 jobs\n"
                                     r"a +100.0% +read .*\nb +0.0% +read .*\nall +read .*\n")
        self.assertRegex(run.stdout, r"transition: .*\n")
        self.assertRegex(run.stdout, r"all settings and transitions together:\n")
        self.assertRegex(run.stdout, r"\d+ switches: asked for to first I/O p50 \S+, max \S+\n")

    def test_disturbed_visits_are_counted(self):
        target = self.target()
        target.tell("after 1000 reads on a ana inaccessible")
        run = self.run_steered("--rw=randread", "--time_based", "--runtime=2", "--steer_settle=20ms",
                               "--steer=round-robin@500ms,queue-depth@500ms", target=target)
        record, visits = self.check(run, run.jobs[0])
        disturbed = [visit for visit in visits.lines if visit["disturbances"]]
        self.assertGreater(len(disturbed), 0)
        self.assertEqual(len(disturbed), sum(setting["disturbed_visits"] for setting in record["results"]["settings"]))
        self.assertLess(len(disturbed), len(visits.lines))

    def test_of_a_job_that_is_not_steered_is_one(self):
        run = self.run_steered("--rw=randread", "--number_ios=1000")
        record = run.record()
        self.assertEqual([], schema.faults(record, schema.RECORD)[:5])
        self.assertIsNone(record["visits_file"])
        self.assertFalse(list(run.folder.glob("*visits*")))
        (setting,) = record["results"]["settings"]
        self.assertEqual(("round-robin", 1), (setting["name"], setting["visits"]))
        self.assertEqual([["round-robin"]] * 2, [[each["name"] for each in path["settings"]]
                                                 for path in record["results"]["paths"]])
        self.assertEqual(0, record["results"]["switch_delay"]["count"])


class PathLog(Steered):
    def rows(self, run):
        with open(run.folder / "record_path.1.log", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, strict=True))
        for row in rows:
            self.assertNotIn(None, row, "a row has more fields than the header")
            self.assertNotIn(None, row.values(), "a row has fewer")
        return rows

    def test_adds_up_and_is_in_the_order_of_time(self):
        target = self.target()
        target.tell("after 1000 reads on a ana inaccessible")
        run = self.run_steered("--rw=randrw", "--time_based", "--runtime=2", "--steer_settle=20ms",
                               "--steer=round-robin@300ms,queue-depth@300ms", "--mpath_interval=200ms", target=target)
        record = run.record()
        rows = self.rows(run)
        times = [float(row["time_ms"]) for row in rows]
        self.assertEqual(sorted(times), times)
        intervals = [row for row in rows if row["what"] == "interval"]
        for operation in ("read", "write"):
            total = sum(int(row[f"{operation}_count"]) for row in intervals)
            self.assertEqual(lab.fio_sums(run.jobs[0])[operation], total)
            size = sum(int(row[f"{operation}_bytes"]) for row in intervals)
            self.assertEqual(run.jobs[0][operation]["io_bytes"], size)
        self.assertEqual({"round-robin", "queue-depth"}, {row["setting"] for row in intervals})
        switches = [row for row in rows if row["what"] == "switch"]
        self.assertEqual(sum(setting["visits"] for setting in record["results"]["settings"]) - 1, len(switches))
        for before, after in zip(switches, switches[1:]):
            self.assertEqual(before["setting"], after["from"])
        events = [(row["path"], row["cause"], row["text"]) for row in rows if row["what"] == "event"]
        self.assertEqual([("ab"[event["path"]], event["kind"], event["text"])
                          for event in record["results"]["events"]], events)
        self.assertGreater(len(events), 0)

    def test_leaves_empty_what_was_not_measured(self):
        run = self.run_steered("--rw=randread", "--number_ios=1000")
        rows = self.rows(run)
        self.assertGreater(len(rows), 0)
        for row in rows:
            self.assertEqual(("interval", "0", ""), (row["what"], row["trim_count"], row["trim_max_ns"]))
        self.assertEqual("", rows[0]["delay_ns"])


class Killed(Steered):
    def test_leaves_whole_visits_and_a_whole_record(self):
        target = self.target()
        fio = self.start_fio("--mpath_log=record", "--bs=4k", "--iodepth=8", "--rw=randrw", "--time_based",
                             "--runtime=60", "--steer=round-robin@50ms,queue-depth@50ms", "--steer_settle=10ms",
                             "--mpath_interval=100ms", paths=target.paths)
        file = fio.folder / "record_mpath.1.visits.jsonl"

        def steady_visits_are_written():
            lines = file.read_text().splitlines(keepends=True)[1:] if file.exists() else []
            whole = [json.loads(line) for line in lines if line.endswith("\n")]
            return len(whole) > 5 and any(visit["steady"]["read"]["count"] for visit in whole)

        lab.wait_until(steady_visits_are_written, "some visits that settled are written")
        for pid in lab.children_of(fio.pid):
            os.kill(pid, signal.SIGKILL)
        run = self.finish(fio)
        record = run.record()
        self.assertFalse(record["complete"])
        self.assertEqual([], schema.faults(record, schema.RECORD)[:5])
        visits = self.visits(run)
        self.assertIsNone(visits.folded)
        for visit in visits.lines:
            self.assertIsNotNone(visit["ended_ns"], "only visits that are over are written before the end")
        self.assertGreater(sum(visits.sums("steady").values()), 0)


if __name__ == "__main__":
    unittest.main()
