#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The scripts of jobfiles/faults with the job files beside them: each pair gives the answer it promises.

They run as they are, all at the same time, against targets that take 8 ms for an I/O so that two cores are enough.
"""
import errno
import json
import os
import unittest

import faults
import lab

FOLDER = lab.ROOT / "jobfiles/faults"
SECONDS = 120


class Outcome(faults.Outcome):
    """Of one job; its record has the job file's name."""

    def __init__(self, run, served, done, name, thread_number):
        self.run = run
        self.served = served
        self.faults = done
        self.record = run.record(thread_number, prefix=name)
        self.results = self.record["results"]
        self.names = [path["name"] for path in self.results["paths"]]


class Pair:
    """A script and its job file, running."""

    def __init__(self, case, name):
        self.case = case
        self.name = name
        self.log = case.folder / f"{name}.jsonl"
        text = (FOLDER / f"{name}.fio").read_text().replace("faults.jsonl", str(self.log))
        listeners = ("name=a,delay=8ms", "name=b,delay=8ms")
        offered = {"portals": listeners, "listeners": ()} if "--iscsi" in text else {"listeners": listeners}
        self.target = lab.Case.target(case, "--script", str(FOLDER / f"{name}.script"), "--fault-log", str(self.log),
                                      **offered)
        if lab.PRELOAD:
            text = text.replace("[global]", "[global]\nthread")
        job = case.folder / f"{name}.fio"
        job.write_text(text)
        os.environ |= {"FIO_MPATH": str(lab.ENGINE), "MPATH_PATHS": self.target.paths}
        self.fio = case.start(["fio", "--output-format=json", str(job)])

    def end(self):
        """{job: outcome}, in fio's order."""
        run = self.case.finish(self.fio, SECONDS)
        served = self.target.stop()
        done = [json.loads(line) for line in self.log.read_text().splitlines()]
        numbers = sorted(int(file.name.split(".")[-2]) for file in run.folder.glob(f"{self.name}_mpath.*.json"))
        outcomes = [Outcome(run, served, done, self.name, number) for number in numbers]
        return {job["jobname"]: outcome for job, outcome in zip(outcomes[0].jobs, outcomes)}


class JobFiles(faults.Case):
    def test_every_script_has_its_job_file_and_says_how_to_run_both(self):
        scripts = sorted(file.stem for file in FOLDER.glob("*.script"))
        self.assertEqual(scripts, sorted(file.stem for file in FOLDER.glob("*.fio")))
        for name in scripts:
            with self.subTest(name):
                script, job = ((FOLDER / f"{name}.{end}").read_text().splitlines() for end in ("script", "fio"))
                self.assertRegex(script[2], r"^# .*\?")
                self.assertEqual(script[2], job[2], "the question")
                self.assertIn(f"#     --script jobfiles/faults/{name}.script --fault-log faults.jsonl", job)
                self.assertIn(f"#   fio jobfiles/faults/{name}.fio", job)
                self.assertIn(f"mpath_log={name}", job)

    def test_each_gives_the_answer_it_promises(self):
        names = sorted(file.stem for file in FOLDER.glob("*.script"))
        running = {name: Pair(self, name) for name in names}
        again = []
        for name, pair in running.items():
            outcomes = pair.end()
            self.check_data(outcomes)
            try:
                self.check(name, outcomes)
            except AssertionError as otherwise:
                print(f"{name}: once more, alone: {str(otherwise).splitlines()[0]}", flush=True)
                again.append(name)
        # A machine that stands still for a while loses further paths. Alone, it does not; wrong data is wrong at once.
        for name in again:
            with self.subTest(name):
                self.check(name, Pair(self, name).end())

    def check(self, name, outcomes):
        getattr(self, "check_" + name.replace("-", "_"))(**{job.replace("-", "_"): outcome
                                                             for job, outcome in outcomes.items()})

    def check_data(self, outcomes):
        for job, outcome in outcomes.items():
            errors = {each["jobname"]: each["error"] for each in outcome.jobs}
            if job != "at-once":
                self.assertNotEqual(errno.EILSEQ, errors[job], str(outcome))

    # ---- what all of them promise

    def check_went_well(self, outcome):
        self.assertEqual(0, outcome.run.returncode, str(outcome))
        self.check_nothing_lost(outcome)

    def check_nothing_lost(self, outcome):
        """No I/O failed for good, and no write was in danger."""
        for path in outcome.results["paths"]:
            self.assertEqual(path["requeues"], sum(path["errors"].values()), str(outcome))
            self.assertEqual(0, path["exposed_writes"], str(outcome))
        self.assertFalse(outcome.results["held"] and outcome.results["held"]["failed"], str(outcome))

    def states(self, outcome, path):
        return [text for text in outcome.texts("state", path) if " -> " in text]

    # ---- and what each does

    def check_controlled_failover(self, failover):
        self.check_went_well(failover)
        self.assertEqual(["optimized -> change", "change -> inaccessible", "inaccessible -> change",
                          "change -> optimized"], self.states(failover, "a"), str(failover))
        self.assertEqual({"state"}, {event["kind"] for event in failover.events()}, str(failover))
        self.assertEqual([], failover.events(path="b"), str(failover))
        self.assertTrue(any(event["detection_ns"] is not None for event in failover.events()), str(failover))

    def check_alua_failover(self, failover):
        self.check_went_well(failover)
        self.assertEqual(["optimized -> inaccessible (standby)", "inaccessible -> optimized",
                          "optimized -> inaccessible (unavailable)", "inaccessible -> optimized"],
                         self.states(failover, "a"), str(failover))
        self.assertEqual({"state"}, {event["kind"] for event in failover.events()}, str(failover))
        self.assertEqual([], failover.events(path="b"), str(failover))

    def check_flap(self, flap):
        self.check_went_well(flap)
        kinds = [kind for kind in flap.kinds("a") if kind != "refused"]
        self.assertEqual(["lost", "connected"] * 5, kinds, str(flap))
        self.assertEqual([], flap.events(path="b"), str(flap))
        for event in flap.events("lost"):
            self.assertIsNotNone(event["detection_ns"], str(flap))
            self.assertIsNotNone(event["gap_ns"], str(flap))

    def check_slow_path(self, round_robin, queue_depth, numa):
        share = {}
        for name, outcome in (("round-robin", round_robin), ("queue-depth", queue_depth), ("numa", numa)):
            self.check_went_well(outcome)
            self.assertEqual([], outcome.events(), str(outcome))
            ios = {path: sum(faults.ios_of(interval, path) for interval in outcome.intervals()) for path in "ab"}
            share[name] = ios["a"] / (ios["a"] + ios["b"])
        self.assertAlmostEqual(0.5, share["round-robin"], delta=0.01)
        self.assertLess(share["queue-depth"], share["round-robin"] - 0.02)
        self.assertEqual(1, share["numa"])

    def check_silent_path(self, keep_alive, io_timeout):
        noticed = []
        for outcome, cause in ((keep_alive, "no answer to Keep Alive within 2.0 s"),
                               (io_timeout, "no answer to an I/O within 500 ms")):
            self.check_went_well(outcome)
            event = outcome.event("lost", "a", cause)
            self.assertEqual(16, event["requeues"], str(outcome))
            self.assertEqual("connected", outcome.kinds("a")[-1], str(outcome))
            self.assertEqual([], outcome.events(path="b"), str(outcome))
            noticed.append(event["detection_ns"])
        self.assertGreater(noticed[0], noticed[1])

    def check_all_paths_down(self, waits, fails):
        self.assertEqual(1, fails.run.returncode, str(fails))
        self.check_nothing_lost(waits)
        for path in "ab":
            self.assertEqual(["lost", "connected"], [kind for kind in waits.kinds(path) if kind != "refused"],
                             str(waits))
            self.assertIn("failing", fails.kinds(path), str(fails))
        self.assertEqual([0, errno.EIO], [job["error"] for job in fails.jobs], str(fails))
        self.assertGreater(waits.results["held"]["count"], 0, str(waits))
        self.assertEqual(16, fails.results["held"]["failed"], str(fails))

    def check_ana_ping_pong(self, ping_pong):
        self.check_went_well(ping_pong)
        there_and_back = ["optimized -> inaccessible", "inaccessible -> optimized"]
        self.assertEqual(there_and_back * 10, self.states(ping_pong, "a"), str(ping_pong))
        self.assertEqual(there_and_back[::-1] * 10, self.states(ping_pong, "b"), str(ping_pong))
        self.assertEqual({"state"}, {event["kind"] for event in ping_pong.events()}, str(ping_pong))

    def check_double_execution(self, held, at_once):
        for _ in range(2):
            self.check_nothing_lost(held)
            late = held.served["a"]["late_writes"]
            self.assertEqual(late, held.requeues()["a"] + at_once.requeues()["a"], str(at_once))
            self.assertEqual(at_once.requeues()["a"], at_once.path("a")["exposed_writes"], str(at_once))
            self.assertGreater(at_once.requeues()["a"], 0, str(at_once))
            errors = [job["error"] for job in at_once.jobs]
            if errors == [0, errno.EILSEQ]:
                break
            # One in 65: all late writes came when theirs were the blocks just verified or about to be written.
            self.assertEqual([0, 0], errors, str(at_once))
            held, at_once = Pair(self, "double-execution").end().values()
        self.assertEqual([0, errno.EILSEQ], errors, str(at_once))
        self.assertEqual(1, at_once.run.returncode, str(at_once))
        self.assertIn("verify: bad header", at_once.run.text)


if __name__ == "__main__":
    unittest.main()
