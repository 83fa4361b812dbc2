#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`fio-mpath report`: what records say, merged and compared."""
import csv
import json
import re
import unittest

import lab
import steering


class ReportCase(lab.Case):
    def report(self, *words):
        """Of records, as an object."""
        done = steering.command("report", "--json", "-", *words)
        self.assertEqual("", done.stderr)
        return done.returncode, json.loads(done.stdout)

    def start_steered(self, target, schedule, order, prefix, seconds):
        return self.start_fio("--rw=randread", "--bs=4k", "--iodepth=4", "--time_based", f"--runtime={seconds}s",
                              f"--steer={schedule}", f"--steer_order={order}", "--steer_settle=100ms",
                              f"--mpath_log={self.folder / prefix}", paths=target.paths)


class Records(ReportCase):
    def setUp(self):
        super().setUp()
        self.device = self.target()
        self.read_500("good")
        self.good = self.folder / "good_mpath.1.json"

    def read_500(self, prefix):
        self.measure("--rw=randread", "--bs=4k", "--iodepth=4", "--number_ios=500", f"--mpath_log={self.folder / prefix}",
                     paths=self.device.paths)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def test_that_cannot_be_read_are_named_in_a_sentence_each(self):
        text = self.good.read_text()
        record = json.loads(text)
        files = {
            self.write("cut_mpath.1.json", text[:len(text) // 2]): "is no JSON, or was cut off",
            self.write("empty_mpath.1.json", ""): "is no JSON, or was cut off",
            self.write("foreign_mpath.1.json", '{"jobs": []}'): "is JSON, but no fio-mpath record",
            self.write("future_mpath.1.json", json.dumps({**record, "version": 99})): "use a newer one",
            self.write("broken_mpath.1.json", json.dumps({**record, "results": {}})): "is a broken record: results.",
            str(self.folder / "nosuch_mpath.1.json"): "can't be opened: No such file or directory",
        }
        done = steering.command("report", str(self.good), *files)
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        sentences = done.stderr.splitlines()
        self.assertEqual(len(files), len(sentences), done.stderr)
        for (file, why), sentence in zip(files.items(), sentences):
            self.assertRegex(sentence, f"^fio-mpath: {re.escape(file)} ")
            self.assertIn(why, sentence)

    def test_of_a_folder_without_any_are_missed(self):
        (self.folder / "empty").mkdir()
        done = steering.command("report", str(self.folder / "empty"))
        self.assertEqual(1, done.returncode)
        self.assertIn("has no record in it", done.stderr)

    def test_of_older_versions_are_read(self):
        record = json.loads(self.good.read_text())
        old = self.write("old_mpath.1.json", json.dumps({**record, "version": 1}))
        status, report = self.report(old)
        self.assertEqual((0, 1), (status, len(report["blocks"])))

    def test_without_their_time_series_say_so_and_are_told_all_the_same(self):
        record = json.loads(self.good.read_text())
        (self.folder / record["intervals_file"]).unlink()
        status, report = self.report(str(self.good))
        (finding,) = [each for each in report["blocks"][0]["findings"] if "time series" in each["text"]]
        self.assertEqual((0, "warning"), (status, finding["weight"]))

    def test_numbers_are_the_same_in_every_format_and_as_fio_counted(self):
        table = self.folder / "numbers.csv"
        status, report = self.report(str(self.good), "--csv", str(table))
        self.assertEqual(0, status)
        rows = list(csv.DictReader(table.read_text().splitlines()))
        numbers = report["blocks"][0]["numbers"]
        self.assertEqual([(row["path"], row["count"]) for row in rows],
                         [(row["path"], str(row["count"])) for row in numbers])
        self.assertEqual([500], [row["count"] for row in numbers if row["path"] == "all"])

    def test_repeats_are_added_up(self):
        self.read_500("again")
        status, report = self.report(str(self.folder))
        self.assertEqual((0, 1), (status, len(report["blocks"])))
        self.assertEqual(2, len(report["blocks"][0]["records"]))
        self.assertEqual([1000], [row["count"] for row in report["blocks"][0]["numbers"] if row["path"] == "all"])


class Settings(ReportCase):
    def test_that_were_never_visited_are_an_error(self):
        target = self.target()
        fio = self.start_steered(target, "path:a@1s,path:b@60s,round-robin@1s", "cycle", "short", 3)
        self.assertEqual(0, self.finish(fio).returncode)
        status, report = self.report(str(self.folder))
        self.assertEqual(1, status)
        errors = [each["text"] for each in report["blocks"][0]["findings"] if each["weight"] == "error"]
        self.assertRegex("\n".join(errors), "setting round-robin was never visited")

    def test_of_equal_speed_on_a_target_that_slows_down(self):
        """One half of the run after the other shows a difference that is not there; there and back does not."""
        slower = [f"at {second * 1000 + 500}ms on all delay {4000 + second * 500}us" for second in range(12)]
        runs = {}
        for name, schedule, order in (("abba", "path:a@500ms,path:b@500ms", "abba"),
                                      ("halves", "path:a@6s,path:b@6s", "cycle")):
            target = self.target(listeners=("name=a,delay=4ms", "name=b,delay=4ms"))
            target.tell(*slower)
            runs[name] = self.start_steered(target, schedule, order, name, 12)
        for fio in runs.values():
            self.assertEqual(0, self.finish(fio).returncode)

        _, halves = self.report(str(self.folder / "halves_mpath.1.json"))
        times = {row["setting"]: row["mean_ns"] for row in halves["blocks"][0]["numbers"]
                 if row["path"] == row["setting"].removeprefix("path:")}
        false_difference = times["path:b"] / times["path:a"] - 1
        self.assertGreater(false_difference, 0.15)

        _, abba = self.report(str(self.folder / "abba_mpath.1.json"))
        (time,) = [each for each in abba["blocks"][0]["comparisons"] if each["quantity"] == "response time"]
        self.assertTrue(time["drift_cancels"])
        self.assertGreaterEqual(time["units"], 3)
        self.assertLess(abs(time["ratio"] - 1), false_difference / 3)


if __name__ == "__main__":
    unittest.main()
