#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Jobs that are steered together, by commands at random moments and by a common schedule."""
import json
import os
import random
import subprocess
import time
import unittest

import lab

SWITCHES = int(os.environ.get("MPATH_SWITCHES", "20" if lab.SANITIZE else "100"))
SEED = int(os.environ.get("MPATH_SEED", random.SystemRandom().randrange(1 << 31)))
POLICIES = ("round-robin", "queue-depth", "numa", "service-time", "latency", "preferred:b")
JOBS = 8


def visits_of(run, number):
    name = run.record(number)["visits_file"]
    return [json.loads(line) for line in (run.folder / name).read_text().splitlines()[1:]]


class ByCommand(lab.Case):
    # The jobs last until the file is there that their trigger waits for.
    JOB = """
        bs=4k
        iodepth=8
        size=1m
        rw=randwrite
        verify=crc32c
        verify_backlog=32
        verify_fatal=1
        time_based
        runtime=600
        offset_increment=1m
        numjobs=4
        mpath_log=record
        [forked]
        [threaded]
        offset=4m
        thread
        """

    def steer(self, fio, *words):
        done = subprocess.run([lab.COMMAND, *words, "--run", str(fio.pid), "--wait", str(lab.SECONDS)],
                              capture_output=True, text=True, timeout=2 * lab.SECONDS, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        return done.stdout

    def test_a_hundred_switches_lose_nothing(self):
        """Every job follows each of them, verify finds nothing, and every I/O is in exactly one visit."""
        print(f"MPATH_SEED={SEED}")
        chance = random.Random(SEED)
        target = self.target()
        stop = self.folder / "stop"
        fio = self.start_fio("--output-format=json", f"--trigger-file={stop}", "--trigger=true",
                             paths=target.paths, job_file=self.JOB)
        lab.wait_until(lambda: len(list(self.folder.glob("**/record_mpath.*.json"))) == JOBS, "all jobs do I/O")
        disabled = None
        for _ in range(SWITCHES):
            time.sleep(chance.uniform(0, 0.03))
            if disabled or chance.random() < 0.3:
                name = disabled or chance.choice("ab")
                said = self.steer(fio, "path", "enable" if disabled else "disable", name)
                disabled = None if disabled else name
            else:
                said = self.steer(fio, "policy", chance.choice(POLICIES))
            self.assertEqual(JOBS, len(said.splitlines()), said)
        stop.touch()
        run = self.finish(fio)
        self.assertEqual(0, run.returncode, str(run))
        for number, job in enumerate(run.jobs, start=1):
            record = run.record(number)
            self.assertEqual(0, job["error"], str(run))
            self.assertEqual(0, sum(sum(path["errors"].values()) for path in record["results"]["paths"]))
            visits = visits_of(run, number)
            self.assertEqual(list(range(1, SWITCHES + 2)), [visit["number"] for visit in visits])
            self.assertEqual(SWITCHES, record["results"]["switch_delay"]["count"])
            for operation in lab.OPERATIONS:
                in_visits = sum(visit[part][operation]["count"] for visit in visits for part in ("transition", "steady"))
                self.assertEqual(lab.fio_sums(job)[operation], in_visits, operation)


class BySchedule(lab.Case):
    def test_jobs_that_start_together_switch_together(self):
        job = """
            rw=randread
            bs=4k
            iodepth=4
            time_based
            runtime=2
            steer=round-robin@200ms,path:a@100ms,numa@300ms
            steer_settle=20ms
            mpath_log=record
            [short]
            ramp_time=300ms
            [long]
            ramp_time=800ms
            [threaded]
            thread
            """
        run = self.measure(paths=self.target().paths, job_file=job)
        asked = []
        for number in (1, 2, 3):
            stops = [visit for visit in visits_of(run, number) if visit["cause"] == "schedule"]
            self.assertGreater(len(stops), 3)
            asked.append({visit["asked_ns"]: (visit["setting"], visit["unit"]) for visit in stops})
        for one in asked:
            for other in asked:
                for when in one.keys() & other.keys():
                    self.assertEqual(one[when], other[when])
                self.assertGreater(len(one.keys() & other.keys()), 1)

    def test_a_later_set_of_jobs_has_a_clock_of_its_own(self):
        job = """
            rw=randread
            bs=4k
            time_based
            runtime=1
            steer=round-robin@200ms,numa@200ms
            steer_settle=20ms
            mpath_log=record
            [first]
            [second]
            stonewall
            """
        run = self.measure(paths=self.target().paths, job_file=job)
        for number in (1, 2):
            stops = [visit for visit in visits_of(run, number) if visit["cause"] == "schedule"]
            self.assertEqual((0, "round-robin"), (stops[0]["unit"], stops[0]["setting"]))

    def test_shuffles_all_jobs_alike(self):
        run = self.measure("--rw=randread", "--bs=4k", "--time_based", "--runtime=1", "--numjobs=2", "--randseed=42",
                           "--steer=round-robin@100ms,numa@100ms,path:a@100ms", "--steer_order=shuffle", "--steer_settle=20ms",
                           "--mpath_log=record", paths=self.target().paths)
        seeds = {run.record(number)["conditions"]["steering"]["seed"] for number in (1, 2)}
        self.assertEqual(1, len(seeds))
        orders = [{visit["asked_ns"]: visit["setting"] for visit in visits_of(run, number) if visit["cause"] == "schedule"}
                  for number in (1, 2)]
        common = orders[0].keys() & orders[1].keys()
        self.assertGreater(len(common), 2)
        self.assertEqual([orders[0][when] for when in common], [orders[1][when] for when in common])


class Refused(lab.Case):
    def test_schedules_that_are_none(self):
        for steer, sentence in (("numa", "is not SETTING@DURATION"), ("best@1s", "is not a policy"),
                                ("path:z@1s", "'z' is not one of the job's paths; they are a, b"),
                                ("numa@100ms", "steer_settle= shorter")):
            with self.subTest(steer):
                run = self.run_fio("--rw=read", "--size=4k", f"--steer={steer}", paths=self.target().paths)
                self.assertNotEqual(0, run.returncode, str(run))
                self.assertIn(sentence, run.text)


if __name__ == "__main__":
    unittest.main()
