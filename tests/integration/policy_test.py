#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fio-mpath policy and fio-mpath path: running jobs do what they are asked for, and nothing hangs whoever dies."""
import os
import pathlib
import random
import signal
import struct
import subprocess
import time
import unittest

import lab
import steering


class Switches(steering.Case):
    def test_policy_of_all_jobs_and_of_one(self):
        fio = self.start_jobs(self.target(), "[one]\nnumjobs=2\n[two]\nthread\n", "one#1", "one#2", "two")
        lines = self.steer(fio, "policy", "numa")
        self.assertEqual({"one#1", "one#2", "two"}, set(lines))
        for line in lines.values():
            self.assert_followed("round-robin", "numa", line)
        self.assert_followed("numa", "preferred:b", self.steer(fio, "policy", "preferred:b", "--job", "one#2")["one#2"])
        self.assertEqual({"one#1", "one#2"}, set(self.steer(fio, "policy", "latency", "--job", "one")))
        settings = {label: job["setting"] for label, job in steering.jobs_of(fio).items()}
        self.assertEqual({"one#1": "latency", "one#2": "latency", "two": "numa"}, settings)

    def test_a_disabled_path_gets_no_io_until_it_is_enabled(self):
        target = self.target()
        fio = self.start_jobs(target, "[job]\n", "job")

        def reads_of(name, more_than, other):
            """Of the target's listener, when the other one has served so many."""
            lab.wait_until(lambda: target.counters()[other]["reads"] > more_than, f"I/O on {other}")
            return target.counters()[name]["reads"]

        self.assert_followed("round-robin", "path:a", self.steer(fio, "path", "disable", "b")["job"])
        settled = reads_of("b", target.counters()["a"]["reads"] + 1000, "a")
        self.assertEqual(settled, reads_of("b", target.counters()["a"]["reads"] + 1000, "a"))
        self.assert_followed("path:a", "round-robin", self.steer(fio, "path", "enable", "1")["job"])
        self.assertGreater(reads_of("b", target.counters()["a"]["reads"] + 1000, "a"), settled)

    def test_back_to_the_schedule(self):
        fio = self.start_jobs(self.target(), "[job]\nsteer=numa@50ms,path:b@50ms\nsteer_settle=10ms\n[other]\n", "job", "other")
        self.wait_for_job(fio, "job", cause="schedule")
        self.steer(fio, "policy", "latency")
        self.assertEqual("command", self.wait_for_job(fio, "job", policy="latency")["cause"])
        lines = self.steer(fio, "policy", "--schedule")
        self.assertRegex(lines["job"], "-> its schedule, followed in")
        self.assertEqual("left alone, it has no schedule", lines["other"])
        self.wait_for_job(fio, "job", cause="schedule")
        self.assertIn("job other: it has no schedule (steer=) to go back to",
                      self.refuse("policy", "--schedule", "--job", "other", "--run", str(fio.pid)))

    def test_commands_side_by_side(self):
        fio = self.start_jobs(self.target(), "[job]\nnumjobs=2\n", "job#1", "job#2")
        words = [["policy", "numa"], ["policy", "latency"], ["path", "disable", "b"], ["path", "enable", "b"]] * 3
        commands = [self.start([str(lab.COMMAND), *some, "--run", str(fio.pid)]) for some in words]
        for some in commands:
            run = self.finish(some)
            self.assertEqual((0, ""), (run.returncode, run.stderr), str(run))
            self.assertEqual(["job#1", "job#2"], sorted(line.partition(":")[0] for line in run.stdout.splitlines()))
        one, two = (job["setting"] for job in steering.jobs_of(fio).values())
        self.assertEqual(one, two, "the last one won in both jobs")


class Standings(steering.Case):
    def test_a_job_that_has_not_started_begins_with_it_and_an_ended_one_is_left_out(self):
        fio = self.start_fio(
            "--output-format=json", f"--trigger-file={self.folder / 'stop'}", "--trigger=true", paths=self.target().paths,
            job_file="rw=randread\nbs=4k\n[first]\ntime_based\nruntime=5\n[second]\nstonewall\nnumber_ios=200\n"
                     "[third]\nstonewall\ntime_based\nruntime=100\n")
        self.wait_for_job(fio, "first", standing="running")
        lines = self.steer(fio, "policy", "preferred:b")
        self.assert_followed("round-robin", "preferred:b", lines["first"])
        self.assertEqual("has not started: begins with preferred:b", lines["second"])
        self.wait_for_job(fio, "third", standing="running")
        self.assertEqual({"third"}, set(self.steer(fio, "policy", "numa")))
        self.assertIn("every job that is meant has ended",
                      self.refuse("policy", "numa", "--job", "second", "--run", str(fio.pid)))
        (self.folder / "stop").touch()
        run = self.finish(fio)
        self.assertEqual({"a": 0, "b": 200}, {path: counts["read"] for path, counts in lab.ios(run.jobs[1]).items()})

    def test_a_job_that_sleeps_is_named_and_follows_later(self):
        fio = self.start_jobs(self.target(), "[job]\n", "job")
        pids = lab.stop_processes(fio)
        line = self.steer(fio, "policy", "numa", "--wait", "0.1")["job"]
        self.assertEqual("has not followed within 100ms: asleep (thinktime= or rate=); it goes to numa with its next I/O",
                         line)
        self.assertTrue(steering.jobs_of(fio)["job"]["asked"])
        # What comes on top of it is built on it.
        self.assertIn("it goes to path:a with", self.steer(fio, "path", "disable", "b", "--wait", "0")["job"])
        lab.continue_processes(pids)
        self.assertEqual("numa", self.wait_for_job(fio, "job", setting="path:a", asked=False)["policy"])


class Deaths(steering.Case):
    @lab.needs_processes
    def test_of_a_job(self):
        fio = self.start_jobs(self.target(), "[job]\nnumjobs=2\n", "job#1", "job#2")
        victim = lab.children_of(fio.pid)[0]
        os.kill(fio.pid, signal.SIGSTOP)  # it would end itself for the job's sake
        os.kill(victim, signal.SIGKILL)
        lab.wait_until(lambda: "killed" in {job["standing"] for job in steering.jobs_of(fio).values()}, "it is killed")
        lines = self.steer(fio, "policy", "numa")
        self.assertIn(f"was killed: its process {victim} is gone", lines.values())
        self.assertEqual(1, sum("followed in" in line for line in lines.values()), lines)

    @lab.needs_processes
    def test_of_the_last_job(self):
        fio = self.start_jobs(self.target(), "[job]\n", "job")
        os.kill(fio.pid, signal.SIGSTOP)
        os.kill(lab.children_of(fio.pid)[0], signal.SIGKILL)
        self.wait_for_job(fio, "job", standing="killed")
        self.assertRegex(self.refuse("policy", "numa", "--run", str(fio.pid)), "nobody to ask: job: was killed")

    @lab.needs_processes
    def test_of_a_job_while_it_is_waited_for(self):
        fio = self.start_jobs(self.target(), "[job]\n", "job")
        job = lab.children_of(fio.pid)[0]
        lab.stop_processes(fio)
        asker = self.start([str(lab.COMMAND), "policy", "numa", "--run", str(fio.pid), "--wait", str(lab.SECONDS)])
        lab.wait_until(lambda: steering.jobs_of(fio)["job"]["asked"], "it was asked")
        os.kill(job, signal.SIGKILL)
        run = self.finish(asker)
        self.assertEqual(f"job: was killed: its process {job} is gone\n", run.stdout)

    @lab.needs_processes
    def test_of_the_parent(self):
        target = self.target()
        fio = self.start_jobs(target, "[job]\n", "job")
        job = lab.children_of(fio.pid)[0]
        fio.kill()
        fio.wait()
        self.assertTrue(pathlib.Path(f"/proc/{job}").exists(), "the job goes on")
        self.assertIn(f"no fio with pid {fio.pid} runs", self.refuse("policy", "numa", "--run", str(fio.pid)))
        self.assertIn(f"no fio with pid {fio.pid} runs", self.refuse("top", "--run", str(fio.pid)))
        os.kill(job, signal.SIGKILL)
        self.succeed("--rw=randread", "--bs=4k", "--number_ios=100", paths=target.paths)
        self.assertEqual([], lab.blocks_of(fio.pid), "the next run clears it away")

    def test_of_who_asks_at_any_moment(self):
        fio = self.start_jobs(self.target(), "[job]\nnumjobs=2\n", "job#1", "job#2")
        for _ in range(30):
            asker = subprocess.Popen([str(lab.COMMAND), "policy", random.choice(("numa", "latency", "preferred:b")),
                                      "--run", str(fio.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0, 0.02))
            asker.kill()
            asker.wait()
        lines = self.steer(fio, "policy", "queue-depth")
        for line in lines.values():
            self.assertRegex(line, "queue-depth, followed in")

    def test_of_who_asks_before_the_job_has_followed(self):
        fio = self.start_jobs(self.target(), "[job]\n", "job")
        pids = lab.stop_processes(fio)
        asker = self.start([str(lab.COMMAND), "policy", "numa", "--run", str(fio.pid), "--wait", str(lab.SECONDS)])
        lab.wait_until(lambda: steering.jobs_of(fio)["job"]["asked"], "it was asked")
        asker.kill()
        asker.wait()
        self.assertIn("it goes to latency", self.steer(fio, "policy", "latency", "--wait", "0")["job"])
        lab.continue_processes(pids)
        self.wait_for_job(fio, "job", setting="latency", asked=False)


class Choice(steering.Case):
    def test_between_several_runs(self):
        target = self.target()
        one = self.start_jobs(target, "[choice-one]\n[choice-both]\n", "choice-one", "choice-both")
        two = self.start_jobs(target, "[choice-two]\n[choice-both]\n", "choice-two", "choice-both")
        for words in ((), ("--job", "choice-both")):
            sentence = self.refuse("policy", "numa", *words)
            self.assertRegex(sentence, f"choose one: .*--run {one.pid} .*--run {two.pid} ")
        done = steering.command("policy", "numa", "--job", "choice-two")
        self.assertRegex(done.stdout, "^choice-two: round-robin -> numa, followed in [^\n]*\n$")
        self.assertEqual({"choice-one", "choice-both"}, set(self.steer(one, "policy", "numa")))

    def test_bad_words_ask_nobody(self):
        fio = self.start_jobs(self.target(), "[job]\n", "job")
        run = ("--run", str(fio.pid))
        for words, sentence in (
                (("policy", "best"), "iopolicy=best is not a policy; known are round-robin, "),
                (("policy", "preferred:z"), "names none of the job's paths, which are a, b"),
                (("policy",), "say which policy, round-robin, "),
                (("policy", "numa", "--schedule"), "say which policy"),
                (("policy", "--schedule"), "no job has a schedule"),
                (("policy", "numa", "--job", "nosuch"), "no running fio has a job 'nosuch'; there are job"),
                (("path", "disable", "z"), "no job uses a path 'z'; the paths of job are a, b"),
                (("path", "disable", "2"), "no job uses a path '2'"),
                (("path", "disable", "a", "b"), "paths a, b are the last that it may use"),
                (("path", "enable", "z", "--job", "job"), "job job: it does not use a path 'z'; its paths are a, b")):
            with self.subTest(words):
                self.assertIn(sentence, self.refuse(*words, *run))
        self.assertEqual(1, steering.jobs_of(fio)["job"]["visit"], "nobody was asked")
        self.steer(fio, "path", "disable", "a")
        self.assertIn("path b is the last that it may use; enable another path first",
                      self.refuse("path", "disable", "b", *run))

    def fake_block(self, content=b"", uid=None):
        """A control block that this process seems to own."""
        stat = pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        file = pathlib.Path(f"/dev/shm/fio-mpath.{os.stat('/proc/self/ns/pid').st_ino}.{os.getpid()}.{stat[19]}")
        file.write_bytes(content)
        self.addCleanup(file.unlink)
        if uid is not None:
            os.chown(file, uid, uid)

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file to another user")
    def test_another_users_run_is_not_touched(self):
        self.fake_block(uid=12345)
        for words in (("policy", "numa"), ("path", "enable", "a"), ("top", "--once")):
            self.assertIn(f"fio {os.getpid()} belongs to user 12345; only that user can watch and steer it",
                          self.refuse(*words, "--run", str(os.getpid())))

    def test_another_versions_run_is_named(self):
        self.fake_block(struct.pack("<QII", 0x314B4C425041504D, 9999, 4096) + bytes(4096))
        self.assertIn(f"fio {os.getpid()} runs another version of fio-mpath.so",
                      self.refuse("policy", "numa", "--run", str(os.getpid())))

    def test_a_run_that_is_about_to_begin_is_not_there_yet(self):
        self.fake_block()
        self.assertIn(f"no fio with pid {os.getpid()} runs", self.refuse("policy", "numa", "--run", str(os.getpid())))


if __name__ == "__main__":
    unittest.main()
