#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fio's own output stays as it is; the table comes after it, and the results are in its JSON."""
import json
import re
import unittest

import lab

NUMBER = r"[0-9.]+[kMG]?"
LONGEST_NAME = "a-path-name-of-32-characters.abc"


def table_of(run):
    """The lines from "mpath: " on, and what stands before them."""
    before, _, table = run.stdout.partition("mpath: ")
    return before, ("mpath: " + table).splitlines()


class Table(lab.Case):
    def table(self, *options, paths=None, target=None, **how):
        target = target or self.target()
        run = self.succeed("--bs=4k", *options, paths=paths or target.paths, **how)
        return table_of(run)[1]

    def test_has_a_row_for_each_path_and_one_for_all(self):
        lines = self.table("--rw=randread", "--number_ios=1000")
        self.assertRegex(lines[0], "^mpath: job: 2 paths, round-robin, ")
        heading = next(i for i, line in enumerate(lines) if line.startswith("path "))
        self.assertEqual(["path", "state", "op", "IOPS", "BW", "mean", "p50", "p99", "p99.9", "max", "depth", "requeues",
                          "errors"], lines[heading].split())
        rows = [line.split() for line in lines[heading + 1:heading + 4]]
        self.assertEqual(["a", "b", "all"], [row[0] for row in rows])
        for row in rows[:2]:
            self.assertEqual(["optimized", "read"], row[1:3])
            self.assertRegex(row[3], f"^{NUMBER}$")

    def test_names_the_device_and_where_each_path_leads(self):
        target = self.target("--model=M1", "--serial=S1")
        text = "\n".join(self.table("--rw=randread", "--number_ios=100", target=target))
        for words in (target.listeners["a"], target.listeners["b"], "serial S1", "M1", "uuid", "optimized (group 1)"):
            self.assertIn(words, text)

    def test_has_a_row_for_each_operation(self):
        lines = self.table("--rw=randrw", "--number_ios=1000", "--fsync=8")
        rows = [line.split() for line in lines if re.match("(a|b|all)? +.*(read|write|sync) ", line)]
        self.assertEqual(3, len([row for row in rows if "sync" in row]))
        self.assertEqual(3, len([row for row in rows if "write" in row]))

    def test_shows_what_was_not_measured_as_a_dash(self):
        lines = self.table("--rw=randread", "--number_ios=100", "--iopolicy=numa")
        row = next(line for line in lines if line.startswith("b ") and "–" in line)
        self.assertIn("–", row)

    def test_fits_into_100_columns(self):
        target = self.target("--model=" + 40 * "M", "--serial=" + 20 * "S", listeners=("name=a", "name=b"))
        paths = f"{LONGEST_NAME}={target.uris['a']},{LONGEST_NAME[:-1]}x={target.uris['b']}"
        for options in (["--rw=randrw", "--fsync=8"], ["--rw=randtrim"], ["--rw=write", "--verify=crc32c"]):
            with self.subTest(options):
                lines = self.table("--size=1M", *options, target=target, paths=paths)
                self.assertEqual([], [line for line in lines if len(line) > 100])

    def test_is_one_for_jobs_reported_together(self):
        lines = self.table("--rw=randread", "--number_ios=100", "--numjobs=3", "--group_reporting")
        self.assertEqual(1, len([line for line in lines if line.startswith("mpath: ")]))
        lines = self.table("--rw=randread", "--number_ios=100", "--numjobs=3")
        self.assertEqual(3, len([line for line in lines if line.startswith("mpath: ")]))

    def test_goes_where_fio_writes(self):
        run = self.succeed("--rw=randread", "--bs=4k", "--number_ios=100", "--output=out.txt", paths=self.target().paths)
        self.assertEqual("", run.text)
        self.assertIn("mpath: job: 2 paths", (run.folder / "out.txt").read_text())


class FioText(lab.Case):
    def test_stands_before_the_table_untouched(self):
        run = self.succeed("--rw=randread", "--bs=4k", "--number_ios=1000", paths=self.target().paths)
        before, table = table_of(run)
        self.assertEqual("", run.stderr)
        for words in ("job: (g=0): rw=randread", "Starting 1 process", "clat percentiles", "issued rwts: total=1000,0,0,0",
                      "Run status group 0 (all jobs):"):
            self.assertIn(words, before)
        # The engine's name in the first line, and nothing else of ours.
        self.assertEqual(1, before.count("mpath"))
        self.assertNotIn("Run status", "\n".join(table))

    def test_terse_output_has_no_table(self):
        run = self.succeed("--rw=randread", "--bs=4k", "--number_ios=100", "--output-format=terse",
                           paths=self.target().paths)
        self.assertNotIn("mpath: ", run.text)
        self.assertEqual(1, len([line for line in run.stdout.splitlines() if line.startswith("3;fio-3.33;job;")]))


class Json(lab.Case):
    def test_is_valid_in_every_form(self):
        target = self.target()
        for options in (["--output-format=json"], ["--output-format=json+"], ["--output-format=json", "--thread"],
                        ["--output-format=json", "--numjobs=3"],
                        ["--output-format=json", "--numjobs=3", "--group_reporting"]):
            with self.subTest(options):
                run = self.succeed("--rw=randrw", "--bs=4k", "--number_ios=1000", *options, paths=target.paths)
                for job in run.jobs:
                    self.assertEqual(["a", "b"], list(lab.path_results(job)))
                self.assertEqual("", run.stderr)

    def test_is_valid_in_a_file(self):
        run = self.succeed("--rw=randread", "--bs=4k", "--number_ios=100", "--output-format=json", "--output=out.json",
                           paths=self.target().paths)
        self.assertEqual("", run.text)
        self.assertIn("jobs", json.loads((run.folder / "out.json").read_text()))

    def test_stays_valid_when_a_job_is_refused(self):
        run = self.run_fio("--rw=read", "--path=c", "--output-format=json", "--output=out.json",
                           paths=self.target().paths)
        self.assertEqual(1, run.returncode)
        self.assertIn("'c' is no path", run.stderr)

    def test_has_the_table_beside_it_when_both_are_asked_for(self):
        run = self.succeed("--rw=randread", "--bs=4k", "--number_ios=100", "--output-format=normal,json",
                           paths=self.target().paths)
        self.assertIn("mpath: job: 2 paths", run.stdout)
        self.assertIn('"mpath.a.read"', run.stdout)

    def test_shows_null_for_what_was_not_measured(self):
        run = self.measure("--rw=randread", "--bs=4k", "--number_ios=100", "--iopolicy=numa", paths=self.target().paths)
        results = lab.path_results(run.jobs[0])
        self.assertEqual(["ios", "bytes", "mean", "p50", "p99", "p999", "max"], list(results["a"]["read"]))
        for operation in ("write", "trim", "sync"):
            self.assertIsNone(results["a"][operation])
        self.assertIsNone(results["b"]["read"])

    def test_says_that_no_path_gave_trouble(self):
        run = self.measure("--rw=randread", "--bs=4k", "--number_ios=100", paths=self.target().paths)
        options = run.jobs[0]["job options"]
        self.assertEqual({"gap": None, "requeues": 0, "exposed": 0, "held": 0, "held_max": 0, "no_path": 0, "events": 0},
                         json.loads(options["mpath"]))
        self.assertEqual("null", options["mpath.a.requeue"])
        self.assertEqual((0, 0), tuple(lab.path_facts(run.jobs[0])["a"][name] for name in ("retries", "exposed")))

    def test_response_times_agree_with_fio(self):
        run = self.measure("--rw=randread", "--bs=4k", "--number_ios=2000", "--iodepth=4", "--iopolicy=numa",
                           paths=self.target().paths)
        ours = lab.path_results(run.jobs[0])["a"]["read"]
        theirs = run.jobs[0]["read"]["lat_ns"]
        # Ours end at the arrival of the completion, fio's when it reaps it.
        self.assertLessEqual(ours["mean"], theirs["mean"] * 1.01)
        self.assertLessEqual(ours["max"], theirs["max"] * 1.01)
        self.assertGreaterEqual(ours["mean"], theirs["min"] * 0.5)


if __name__ == "__main__":
    unittest.main()
