#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fio-mpath top: lines, JSON, and a screen whose keys steer and that leaves the terminal as it was."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import unittest

import lab
import steering

ENDED = "fio-mpath: no fio with the engine mpath runs any more\n"


class Lines(steering.Case):
    def top(self, fio, *words):
        return self.start([str(lab.COMMAND), "top", "--run", str(fio.pid), *words])

    def test_json_once(self):
        target = self.target(listeners=("name=a", "name=b,ana=non-optimized"))
        fio = self.start_jobs(target, "[job]\nnumjobs=2\n[late]\nstonewall\n", "job#1", "job#2")
        self.steer(fio, "path", "disable", "b", "--job", "job#2")
        run = self.finish(self.top(fio, "--once", "--json", "--interval", "500ms"))
        self.assertEqual((0, ""), (run.returncode, run.stderr), str(run))
        one, two, late = (json.loads(line) for line in run.stdout.splitlines())
        self.assertEqual(("job", 1, fio.pid, "running"), tuple(one[key] for key in ("job", "number", "run", "standing")))
        self.assertEqual([("a", "optimized", True), ("b", "non-optimized", True)],
                         [(path["name"], path["state"], path["enabled"]) for path in one["paths"]])
        self.assertEqual([True, False], [path["enabled"] for path in two["paths"]])
        self.assertEqual(("path:a", "command", 2), (two["setting"], two["cause"], two["visit"]))
        read = one["paths"][0]["operations"]["read"]
        self.assertGreater(read["ios"], 0)
        self.assertEqual(read["bytes"], 4096 * read["ios"])
        self.assertGreaterEqual(read["max_ns"], read["p99_ns"])
        self.assertIsNone(one["paths"][0]["operations"]["write"])
        self.assertGreater(one["paths"][0]["mean_depth"], 0)
        self.assertEqual(0, one["paths"][1]["requeues"])
        self.assertEqual(("prepared", None), (late["standing"], late["interval_ns"]))
        self.assertIsNone(late["paths"][0]["operations"], "nothing was measured, which is not 0")

    def test_events_are_told_once(self):
        target = self.target()
        fio = self.start_jobs(target, "[job]\nreconnect_delay=1\n", "job")
        top = self.top(fio, "--json", "--interval", "50ms")
        target.tell("on b drop")
        events = []
        while "connected" not in [event["kind"] for event in events]:
            events += json.loads(top.stdout.readline())["events"]
        self.assertEqual({"b"}, {event["path"] for event in events})
        self.assertEqual("lost", events[0]["kind"])
        self.assertEqual(len(events), len({(event["utc"], event["text"]) for event in events}))

    def test_plain_lines_until_the_run_is_over(self):
        fio = self.start_fio(f"--trigger-file={self.folder / 'stop'}", "--trigger=true", paths=self.target().paths,
                             job_file="rw=randread\nbs=4k\ntime_based\nruntime=100\n[job]\n")
        self.wait_for_job(fio, "job", standing="running")
        top = self.top(fio, "--interval", "50ms")
        lines = [top.stdout.readline() for _ in range(5)]
        self.assertRegex(lines[0], "^time +run +job +setting +path +use +state +op +IOPS +BW +mean +p99 +depth +requeues +errors$")
        self.assertRegex(lines[1], rf"^[0-9:.]{{12}}Z +{fio.pid} +job +round-robin +a +yes +optimized +read +[0-9.k]+ +[0-9.]+[kM]B/s ")
        self.assertRegex(lines[2], " b +yes +optimized +read ")
        (self.folder / "stop").touch()
        run = self.finish(top)
        self.assertEqual((0, ENDED), (run.returncode, run.stderr), str(run))
        self.assertNotIn("\x1b", run.stdout)

    def test_nothing_to_watch_is_said(self):
        self.assertIn(f"no fio with pid {os.getpid()} runs", self.refuse("top", "--run", str(os.getpid())))
        self.assertIn("--interval is at least 10ms", self.refuse("top", "--interval", "1ms"))
        self.assertIn("--interval: ", self.refuse("top", "--interval", "soon"))

    def test_waits_for_a_run_to_begin(self):
        top = self.start([str(lab.COMMAND), "top", "--wait", str(lab.SECONDS), "--job", "top-waits", "--json",
                          "--interval", "50ms"])
        fio = self.start_fio("--rw=randread", "--bs=4k", "--time_based", "--runtime=100", name="top-waits",
                             paths=self.target().paths)
        self.assertEqual(fio.pid, json.loads(top.stdout.readline())["run"])


# As a shell has it: who ends with the session takes the terminal with it. Tells the pid of the command and what
# becomes of it.
LEADER = """
import fcntl, os, signal, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for number in (signal.SIGINT, signal.SIGTSTP):
    signal.signal(number, lambda *_: None)
tell = open(int(sys.argv[1]), "w", buffering=1)
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
print(pid, file=tell)
while True:
    _, status = os.waitpid(pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        print("stopped", file=tell)
    else:
        print("ended", os.waitstatus_to_exitcode(status), file=tell)
        signal.pause()
"""


class OnATerminal(steering.Case):
    """top in a session on a pseudo terminal of 24 lines and 100 columns."""

    def start_top(self, fio):
        self.output = b""
        self.reading = True
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.addCleanup(os.close, self.slave)
        self.before = termios.tcgetattr(self.slave)
        told, tell = os.pipe()
        command = [str(lab.COMMAND), "top", "--run", str(fio.pid), "--interval", "50ms"]
        leader = subprocess.Popen([sys.executable, "-c", LEADER, str(tell), *command], stdin=self.slave,
                                  stdout=self.slave, stderr=self.slave, pass_fds=[tell],
                                  env={**os.environ, "TERM": "xterm"})
        self.addCleanup(lab.end_process, leader)
        os.close(tell)
        self.told = open(told, encoding="utf8")
        self.addCleanup(self.told.close)
        self.top = int(self.told.readline())
        reader = threading.Thread(target=self.read)
        reader.start()
        self.addCleanup(reader.join)
        self.addCleanup(self.stop_reading)
        self.wait_for("q quit")

    def read(self):
        while self.reading:
            if select.select([self.master], [], [], 0.1)[0]:
                self.output += os.read(self.master, 65536)
        os.close(self.master)

    def stop_reading(self):
        self.reading = False

    def press(self, keys):
        os.write(self.master, keys.encode())

    def page(self):
        """What the screen shows."""
        pages = self.output.split(b"\x1b[H")
        return pages[-2].replace(b"\x1b[2K", b"").decode() if len(pages) > 1 else ""

    def wait_for(self, pattern):
        lab.wait_until(lambda: re.search(pattern, self.page()), f"{pattern} on the screen, which shows\n{self.page()}")

    def assert_as_before(self):
        self.assertEqual(self.before, termios.tcgetattr(self.slave))
        lab.wait_until(lambda: self.output.rfind(b"\x1b[?25h\x1b[?1049l") > self.output.rfind(b"\x1b[?1049h"),
                       "the screen is left")

    def test_keys_steer(self):
        fio = self.start_jobs(self.target(), "[job]\nnumjobs=2\nsteer=round-robin@100s\n", "job#1", "job#2")
        self.start_top(fio)
        self.press("3")
        self.wait_for(r"round-robin -> numa, followed in \S+ \(the last of 2 jobs\)")
        self.press("\x1b[B")
        self.wait_for(rf"> {fio.pid} job#1(?s:.*)  {fio.pid} job#2")
        self.press("d")
        self.wait_for("disable which path")
        self.press("1")
        self.wait_for("job#1: numa -> path:a, followed in")
        self.wait_for(r"1 b +no +optimized")
        self.press("j62")
        self.wait_for("job#2: iopolicy=preferred:2 names none of the job's paths")
        self.press("61")
        self.wait_for("job#2: numa -> preferred:b, followed in")
        self.assertEqual(["path:a", "preferred:b"], [job["setting"] for job in steering.jobs_of(fio).values()])
        self.press("js")
        self.wait_for("-> its schedule, followed in")
        self.press("q")
        self.assertEqual("ended 0\n", self.told.readline())
        self.assert_as_before()

    def check_end(self, end):
        fio = self.start_jobs(self.target(), "[job]\n", "job")
        self.start_top(fio)
        self.assertNotEqual(self.before, termios.tcgetattr(self.slave), "keys come one by one")
        end()
        self.assertEqual("ended 0\n", self.told.readline())
        self.assert_as_before()

    def test_an_interrupt_leaves_the_terminal_in_order(self):
        self.check_end(lambda: self.press("\x03"))

    def test_a_signal_leaves_the_terminal_in_order(self):
        self.check_end(lambda: os.kill(self.top, signal.SIGTERM))

    def test_a_hangup_leaves_the_terminal_in_order(self):
        self.check_end(lambda: os.kill(self.top, signal.SIGHUP))

    def test_stops_and_goes_on(self):
        fio = self.start_jobs(self.target(), "[job]\n", "job")
        self.start_top(fio)
        self.press("\x1a")
        self.assertEqual("stopped\n", self.told.readline())
        self.assert_as_before()
        os.kill(self.top, signal.SIGCONT)
        lab.wait_until(lambda: self.before != termios.tcgetattr(self.slave), "it goes on")
        self.press("q")
        self.assertEqual("ended 0\n", self.told.readline())
        self.assert_as_before()

    def test_ends_with_the_last_run(self):
        fio = self.start_jobs(self.target(), "[job]\n", "job")
        self.start_top(fio)
        lab.end_process(fio)
        self.assertEqual("ended 0\n", self.told.readline())
        self.assert_as_before()
        lab.wait_until(lambda: self.output.endswith(ENDED.replace("\n", "\r\n").encode()), "it says so")


if __name__ == "__main__":
    unittest.main()
