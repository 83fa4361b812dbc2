#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`fio-mpath run`: job files that were written for other engines, as they are, on the paths of the target."""
import json
import os
import pathlib
import re
import signal
import unittest
from unittest import mock

import lab
import server

JOB_FILES = pathlib.Path(__file__).with_name("jobfiles")


class RunCase(lab.Case):
    def start_run(self, *words, **popen):
        engine = [] if "--engine" in words else ["--engine", lab.ENGINE]
        return self.start([str(word) for word in (lab.COMMAND, "run", *engine, *words)], **popen)

    def run_file(self, name, *words, fio=(), target=None, **popen):
        """A job file of ours on a target's paths."""
        target = target or self.target()
        paths = ["--paths", target.paths] if "--map" not in words else []
        tail = ["--", *fio] if fio else []
        return self.finish(self.start_run(*paths, *words, JOB_FILES / name, *tail, **popen))

    def succeed_with(self, name, *words, **how):
        run = self.run_file(name, *words, **how)
        self.assertEqual(0, run.returncode, str(run))
        return run

    def run_text(self, text, *words, paths="nvme+tcp://127.0.0.1:1/nqn.2014-08.org.example:x/1"):
        file = self.folder / "job.fio"
        file.write_text(text)
        return self.finish(self.start_run("--paths", paths, *words, file))

    def report_of(self, run):
        """Titles of our blocks, and our text behind fio's."""
        _, _, report = run.stdout.rpartition("\nhost ")
        return re.findall("(?m)^mpath: (.*)", report), "host " + report


class JobFiles(RunCase):
    def test_sections_and_numjobs(self):
        run = self.succeed_with("oltp.fio")
        titles, report = self.report_of(run)
        self.assertRegex(titles[0], "^pages: 2 paths, round-robin, 3 jobs, ")
        self.assertRegex(titles[1], "^log: 2 paths, ")
        self.assertRegex(titles[2], "^all of group 0: .* 4 jobs, ")
        self.assertIn("randrw of 8192 bytes, depth 16, round-robin (linux-6.11 round-robin, per job)\n", report)

    def test_includes(self):
        run = self.succeed_with("includes.fio")
        self.assertIn("randread of 4096 bytes, depth 4", self.report_of(run)[1])

    def test_several_devices(self):
        target = self.target("--namespaces=2")
        second = re.sub("/1(?=,|$)", "/2", target.paths)
        run = self.succeed_with("two-devices.fio", "--map", f"/dev/fio-mpath-a={target.paths}", "--map",
                                f"/dev/fio-mpath-b={second}", target=target)
        titles, report = self.report_of(run)
        self.assertEqual(["source", "destination"], [title.partition(":")[0] for title in titles])
        self.assertEqual(2, len(set(re.findall("device uuid [-0-9a-f]+", report))))

    def test_several_devices_are_never_guessed(self):
        run = self.run_file("two-devices.fio")
        self.assertEqual(1, run.returncode)
        self.assertIn("works on several devices (/dev/fio-mpath-a, /dev/fio-mpath-b)", run.stderr)
        self.assertEqual("", run.stdout)

    def test_a_later_global_section(self):
        _, report = self.report_of(self.succeed_with("two-globals.fio"))
        self.assertIn("randread of 4096 bytes, depth 1,", report)
        self.assertIn("randread of 65536 bytes, depth 8,", report)

    def test_verify_at_depth_one(self):
        run = self.succeed_with("verify.fio")
        self.assertIn("iodepth=16 is 1, because its ioengine is synchronous", run.stderr)
        titles, report = self.report_of(run)
        self.assertEqual(["write", "read-back"], [title.partition(":")[0] for title in titles])
        self.assertIn("depth 1, verify crc32c", report)

    def test_environment_and_logs_where_the_user_is(self):
        with mock.patch.dict(os.environ, DISK="/dev/fio-mpath-a", SIZE="1M"):
            run = self.succeed_with("environment.fio")
        self.assertTrue(list(run.folder.glob("lat_lat.1.log")), str(run))

    def test_options_of_other_engines_are_left_out_with_a_note(self):
        run = self.succeed_with("io-uring.fio")
        for option in ("hipri", "registerfiles=1", "fixedbufs", "sqthread_poll=1", "ioscheduler=none"):
            self.assertRegex(run.stderr, rf"note: .*io-uring.fio:\d+: \[global\] {option}.* is left out")

    def test_spdk(self):
        run = self.succeed_with("spdk.fio")
        self.assertRegex(self.report_of(run)[0][0], "^job: 2 paths")
        self.assertIn("mem_size_mb=512 is left out", run.stderr)

    def test_our_own(self):
        target = self.target()
        run = self.run_text("[global]\nioengine=mpath\npaths=ignored\nrw=read\nbs=4k\nsize=1M\n[one]\npath=b\n",
                            "--iopolicy=numa", paths=target.paths)
        self.assertEqual(0, run.returncode, str(run))
        self.assertRegex(self.report_of(run)[0][0], "^one: 1 path, numa")

    def test_steered(self):
        run = self.run_text("[one]\nioengine=libaio\nfilename=/dev/sdx\nrw=randread\nbs=4k\ntime_based\nruntime=2\n",
                            "--steer=round-robin@700ms,path:b@700ms", paths=self.target().paths)
        self.assertEqual(0, run.returncode, str(run))
        title, report = self.report_of(run)
        self.assertRegex(title[0], "^one: 2 paths, 2 settings")
        self.assertRegex(report, r"setting path:b: \d+ visits?, ")


class Refused(RunCase):
    def test_with_the_place_in_the_file(self):
        (self.folder / "file").write_text("x")
        cases = {
            "[a]\nrw=read\n": ":1: [a] has no filename=, so fio would make files for it",
            "[a]\nrw=read\ndirectory=/tmp\n": ":3: [a] has directory=/tmp, so it works on files",
            "[a]\nfilename=/dev/x\nnrfiles=2\n": ":3: [a] has nrfiles=2, so it works on files",
            f"[a]\nfilename={self.folder}/file\n": "/file, a file; a file job is not run on a device",
            f"[a]\nfilename={self.folder}\n": ", a directory; a file job is not run on a device",
            "[a]\nfilename=/dev/zero\n": "has filename=/dev/zero, which is no disk",
            "[a]\nfilename=/dev/x:/dev/y\n": ":2: [a] works on 2 devices at once (/dev/x, /dev/y)",
            "[a]\nfilename=/dev/x\nioengine=net\n": ":3: [a] has ioengine=net, which does not stand for",
            "[a]\ninclude nosuch\n": ":2: include nosuch: ",
            "rw=read\n": ":1: 'rw=read' stands before the first [section]",
        }
        for text, sentence in cases.items():
            with self.subTest(text):
                run = self.run_text(text)
                self.assertEqual((1, ""), (run.returncode, run.stdout), str(run))
                self.assertRegex(run.stderr, "^fio-mpath: ")
                self.assertIn(sentence, run.stderr)

    def test_without_fio_or_engine_or_job_file(self):
        run = self.run_text("[a]\nfilename=/dev/x\n", "--fio", "/nosuch/fio")
        self.assertEqual(1, run.returncode)
        self.assertIn("/nosuch/fio can't be run: No such file or directory", run.stderr)
        run = self.run_text("[a]\nfilename=/dev/x\n", "--engine", "/nosuch.so")
        self.assertIn("--engine /nosuch.so: No such file or directory", run.stderr)
        run = self.finish(self.start_run("--paths", "x", "/nosuch.fio"))
        self.assertIn("/nosuch.fio can't be opened: No such file or directory", run.stderr)

    def test_engine_sentences_and_statuses_come_through(self):
        run = self.run_text("[a]\nfilename=/dev/x\nrw=read\n", paths="here")
        self.assertEqual(1, run.returncode, str(run))
        self.assertIn("mpath: a: paths= entry 1: 'here' has no scheme", run.text)


class Output(RunCase):
    def test_fio_prints_its_own_and_no_second_table(self):
        run = self.succeed_with("includes.fio")
        before, _, report = run.stdout.rpartition("\nhost ")
        self.assertIn("Run status group 0", before)
        self.assertNotIn("mpath: ", before)
        self.assertEqual([], [line for line in report.splitlines() if len(line) > 100])

    def test_json_stays_json(self):
        run = self.succeed_with("includes.fio", fio=["--output-format=json"])
        self.assertEqual("reader", run.json["jobs"][0]["jobname"])
        self.assertIn("mpath: reader: 2 paths", run.stderr)

    def test_options_of_engine_and_fio_behind_the_dashes(self):
        run = self.succeed_with("includes.fio", fio=["--keep_alive_tmo=7", "--mpath_log=mine", "--section=reader"])
        self.assertEqual(7000, run.record(prefix="mine")["conditions"]["paths"][0]["keep_alive_ms"])
        self.assertIn("mpath: reader: 2 paths", run.stdout)

    def test_parsing_alone_reports_nothing(self):
        run = self.succeed_with("includes.fio", fio=["--parse-only"])
        self.assertEqual("", run.stdout, str(run))

    def test_nothing_is_left_behind_unless_kept(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        with mock.patch.dict(os.environ, TMPDIR=str(temporary)):
            run = self.succeed_with("includes.fio")
        self.assertEqual([], list(temporary.iterdir()) + list(run.folder.iterdir()))
        run = self.succeed_with("includes.fio", "--keep", "kept")
        self.assertEqual(1, len(list((run.folder / "kept").glob("includes-*_mpath.1.json"))))
        self.assertEqual(1, len(list((run.folder / "kept").glob("includes-*.fio"))))

    def test_a_job_that_did_nothing_is_an_error(self):
        target = self.target()
        run = self.run_text("[a]\nioengine=libaio\nfilename=/dev/x\nrw=read\nsize=1M\n"
                            "ramp_time=5\n", paths=target.paths)
        self.assertEqual(1, run.returncode, str(run))
        self.assertIn("job a did no I/O: nothing was measured", run.stderr)


class Repeat(RunCase):
    def test_shows_the_spread(self):
        run = self.succeed_with("includes.fio", "--repeat", "3", "--keep", "kept")
        _, report = self.report_of(run)
        self.assertIn("reader: spread over 3 repeats\n", report)
        self.assertEqual(2, len(re.findall("(?m)^ +median +[0-9.]+", report)))
        records = [json.loads(file.read_text()) for file in (run.folder / "kept").glob("*.json")]
        self.assertEqual(3, len(records))
        self.assertEqual(1, len(re.findall("(?m)^mpath: reader: ", report)))

    def test_ends_with_the_first_that_fails(self):
        run = self.run_text("[a]\nfilename=/dev/x\nrw=read\n", "--repeat", "3", paths="here")
        self.assertEqual(1, run.returncode)
        self.assertEqual(1, run.text.count("has no scheme"), str(run))


class Signals(RunCase):
    LONG = "[a]\nioengine=libaio\nfilename=/dev/x\nrw=randread\nbs=4k\ntime_based\nruntime=50\n"

    def start_long(self):
        target = self.target()
        file = self.folder / "long.fio"
        file.write_text(self.LONG)
        command = self.start_run("--paths", target.paths, file, start_new_session=True)
        fio = lab.wait_until(lambda: next(iter(lab.children_of(command.pid)), None), "fio runs")
        lab.wait_until(lambda: len(lab.connections_to(target.port("a"))) >= 2, "the job is connected")
        return command, fio

    def test_an_interrupt_ends_fio_and_is_reported_on(self):
        command, _ = self.start_long()
        os.kill(command.pid, signal.SIGINT)
        run = self.finish(command)
        self.assertEqual(128, run.returncode, str(run))
        self.assertEqual(1, run.stdout.count("terminating on signal 2"), str(run))
        self.assertIn("mpath: a: 2 paths", run.stdout)

    def test_a_killed_fio_is_told_by_the_status(self):
        command, fio = self.start_long()
        jobs = lab.children_of(fio)
        os.kill(fio, signal.SIGKILL)
        for job in jobs:
            os.kill(job, signal.SIGKILL)
        self.assertEqual(128 + signal.SIGKILL, self.finish(command).returncode)


class Servers(RunCase):
    def test_of_one_machine_are_merged(self):
        target = self.target()
        servers = [server.start(self), server.start(self)]
        file = self.folder / "job.fio"
        file.write_text("[job]\nioengine=libaio\nfilename=/dev/x\nrw=randread\nbs=4k\niodepth=4\nnumber_ios=500\n")
        clients = [word for one in servers for word in ("--client", one.at)]
        run = self.finish(self.start_run("--paths", target.paths, *clients, "--keep", "kept", file))
        self.assertEqual(0, run.returncode, str(run))
        host = os.uname().nodename
        for one in servers:
            self.assertIn(f"mpath: job on {host},{one.at.partition(',')[2]}: 2 paths", run.stdout)
        self.assertRegex(run.stdout, r"mpath: all of group 0 on all hosts: 2 paths, round-robin, 2 jobs")
        records = [json.loads(record.read_text()) for record in (run.folder / "kept").glob("*_mpath.*.json")]
        self.assertEqual([500, 500], [lab.record_sums(record)["read"] for record in records])
        self.assertEqual({int(one.at.partition(",")[2]) for one in servers},
                         {record["conditions"]["server_port"] for record in records})

    def test_of_other_machines_need_a_shared_folder(self):
        run = self.run_text("[a]\nfilename=/dev/x\n", "--client", "192.0.2.7,8765")
        self.assertEqual(1, run.returncode)
        self.assertIn("name a folder that all of them share with --keep", run.stderr)


if __name__ == "__main__":
    unittest.main()
