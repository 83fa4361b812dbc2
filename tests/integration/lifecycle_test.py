#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""However a run ends, what it measured is in a valid record, and nothing of it is in the way of the next."""
import json
import os
import pathlib
import signal
import time
import unittest

import lab
import schema
import server

SHAPE = ("--rw=randrw", "--bs=4k", "--iodepth=8", "--time_based", "--mpath_log=record", "--mpath_interval=200ms")


class Lifecycle(lab.Case):
    def start_job(self, target, *options, runtime=50):
        """An fio whose job has written its first checkpoint; the process of the job, None for a thread."""
        fio = self.start_fio(*SHAPE, f"--runtime={runtime}", *options, paths=target.paths)
        lab.wait_until(lambda: lab.does_io(fio, target), "the job does I/O")
        lab.wait_until(lambda: self.reads_in(fio) > 0, "a checkpoint with I/O")
        return fio, next(iter(lab.children_of(fio.pid)), None)

    def reads_in(self, fio):
        file = fio.folder / "record_mpath.1.json"
        return lab.record_sums(json.loads(file.read_text()))["read"] if file.exists() else 0

    def check_record(self, folder, complete, name="1"):
        record = json.loads((folder / f"record_mpath.{name}.json").read_text())
        self.assertEqual([], schema.faults(record, schema.RECORD)[:5])
        self.assertGreater(lab.record_sums(record)["read"], 0)
        self.assertGreater(lab.record_sums(record)["write"], 0)
        self.assertIs(complete, record["complete"])
        return record

    def check_next_run(self, target, pid):
        """Works as ever, and clears away the control block of the fio with that pid."""
        self.succeed("--rw=randread", "--bs=4k", "--number_ios=100", paths=target.paths)
        self.assertEqual([], lab.blocks_of(pid))


class EndedFromOutside(Lifecycle):
    @lab.needs_processes
    def test_killed_job(self):
        target = self.target()
        fio, job = self.start_job(target)
        os.kill(job, signal.SIGKILL)
        # Nothing is said about fio's return code: it aborts itself when a job of an engine with options is killed.
        self.finish(fio)
        self.check_record(fio.folder, complete=False)
        self.check_next_run(target, fio.pid)

    @lab.needs_processes
    def test_one_of_two_killed_jobs_leaves_the_other_alone(self):
        target = self.target()
        fio, job = self.start_job(target, "--numjobs=2", runtime=4)
        os.kill(job, signal.SIGKILL)
        run = self.finish(fio)
        complete = sorted(record["complete"] for record in run.records().values())
        self.assertEqual([False, True], complete, str(run))
        self.check_next_run(target, fio.pid)

    @lab.needs_processes
    def test_killed_parent(self):
        target = self.target()
        fio, job = self.start_job(target, runtime=3)
        fio.kill()
        fio.wait()
        lab.wait_until(lambda: not pathlib.Path(f"/proc/{job}").exists(), "the job runs to its end")
        self.check_record(fio.folder, complete=True)
        self.check_next_run(target, fio.pid)

    @lab.needs_processes
    def test_killed_parent_and_job(self):
        target = self.target()
        fio, job = self.start_job(target)
        fio.kill()
        os.kill(job, signal.SIGKILL)
        fio.wait()
        lab.wait_until(lambda: not pathlib.Path(f"/proc/{job}").exists(), "the job is gone")
        self.check_record(fio.folder, complete=False)
        self.check_next_run(target, fio.pid)

    def test_killed_fio_with_threads(self):
        target = self.target()
        fio = self.start_fio(*SHAPE, "--runtime=50", "--thread", paths=target.paths)
        lab.wait_until(lambda: self.reads_in(fio) > 0, "a checkpoint with I/O")
        fio.kill()
        fio.wait()
        self.check_record(fio.folder, complete=False)
        self.check_next_run(target, fio.pid)

    def test_interrupted(self):
        # As Ctrl-C does it. Jobs are in sessions of their own, so it reaches fio alone.
        target = self.target()
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                fio, _ = self.start_job(target)
                fio.send_signal(number)
                run = self.finish(fio)
                self.assertIn("mpath: job: 2 paths", run.stdout, str(run))
                self.check_record(run.folder, complete=True)
                self.assertEqual([], lab.blocks_of(fio.pid))

    def test_interrupted_while_the_target_is_silent(self):
        target = self.target()
        fio, _ = self.start_job(target, "--keep_alive_tmo=0")
        target.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(0.5)
            fio.send_signal(signal.SIGINT)
            self.finish(fio)
        finally:
            target.process.send_signal(signal.SIGCONT)
        self.check_record(fio.folder, complete=True)


class LostTarget(Lifecycle):
    def test_ends_the_job_with_an_error(self):
        for mode in ("--thread=0", "--thread=1"):
            with self.subTest(mode):
                target = self.target()
                fio = self.start_fio(*SHAPE, "--runtime=50", "--ctrl_loss_tmo=0", mode, paths=target.paths)
                lab.wait_until(lambda: self.reads_in(fio) > 0, "a checkpoint with I/O")
                target.kill()
                run = self.finish(fio)
                self.assertEqual(1, run.returncode, str(run))
                self.assertRegex(run.stderr, "fio: (read|write) of 4096 bytes at offset [0-9]+: no usable path in "
                                             r"this job's set \(a not connected, b not connected\)")
                record = self.check_record(run.folder, complete=True)
                self.assertIn("lost", [event["kind"] for event in record["results"]["events"]])


class Server(Lifecycle):
    def test_leaves_a_record_where_the_server_runs(self):
        target = self.target()
        fio_server = server.start(self)
        run = server.run_client(self, fio_server, f"ioengine=external:{lab.ENGINE}\npaths={target.paths}\n"
                                "mpath_log=record\nrw=randrw\nbs=4k\nsize=2M\niodepth=8\n[job]\n",
                                "--output-format=json")
        self.assertEqual(0, run.returncode, str(run))
        job = server.results_of(run)
        self.assertEqual(lab.fio_sums(job), lab.our_sums(job))
        # Named after the server: another one on this host would number its jobs from 1, too.
        port = fio_server.at.partition(",")[2]
        record = self.check_record(fio_server.folder, complete=True, name=f"{os.uname().nodename}-{port}.1")
        self.assertEqual(int(port), record["conditions"]["server_port"])
        self.assertEqual(lab.fio_sums(job), lab.record_sums(record))
        self.assertEqual([], list(run.folder.glob("*.json")))

    def test_serves_run_after_run(self):
        target = self.target()
        fio_server = server.start(self)
        for rw in ("read", "randwrite"):
            run = server.run_client(self, fio_server, f"ioengine=external:{lab.ENGINE}\npaths={target.paths}\n"
                                    f"rw={rw}\nbs=4k\nsize=1M\n[job]\n")
            self.assertEqual(0, run.returncode, str(run))
            self.assertNotIn("error", run.text.lower(), str(run))

    def test_sentence_reaches_the_client(self):
        fio_server = server.start(self)
        run = server.run_client(self, fio_server, f"ioengine=external:{lab.ENGINE}\nrw=read\npaths=here\n[job]\n")
        self.assertRegex(run.text, "mpath: job: paths= entry 1: 'here' has no scheme")


if __name__ == "__main__":
    unittest.main()
