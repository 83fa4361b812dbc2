#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Help is there where one looks for it, and parsing alone does nothing."""
import re
import unittest

import lab
import peers

OPTIONS = ("paths", "discover", "path", "min_paths", "iopolicy", "steer", "steer_order", "steer_settle",
           "nr_io_queues", "queue_size", "keep_alive_tmo",
           "reconnect_delay", "ctrl_loss_tmo", "fast_io_fail_tmo", "io_timeout", "retry_hold", "dnr", "fault_log",
           "hdr_digest", "data_digest", "hpda", "max_r2t", "hostnqn", "hostid", "host_traddr", "host_iface", "tos",
           "initiator", "chap_user", "chap_secret_file", "busy_poll", "write_mode", "mpath_log", "mpath_interval")


class EngineHelp(lab.Case):
    def help(self, *what):
        run = self.finish(self.start(["fio", "--enghelp=" + ",".join([str(lab.ENGINE), *what])]))
        self.assertEqual(0, run.returncode, str(run))
        self.assertEqual("", run.stderr)
        return run.stdout

    def test_lists_and_explains_every_option(self):
        lines = dict(re.findall(r"^(\w+) *: (.+)$", self.help(), re.MULTILINE))
        self.assertEqual(sorted(OPTIONS), sorted(lines))
        for option, text in lines.items():
            self.assertGreater(len(text), 60, f"{option}: {text}")
            self.assertRegex(text, "[Dd]efault|Required", f"{option} has no default in its text")

    def test_explains_one_option(self):
        text = self.help("iopolicy")
        for word in ("round-robin", "queue-depth", "numa", "default: round-robin"):
            self.assertIn(word, text)

    def test_documents_the_form_of_a_path(self):
        self.assertIn("[name=]nvme+tcp://HOST[:PORT]/SUBNQN/NSID", self.help("paths"))


class ParseOnly(lab.Case):
    JOB = "rw=randrw\nnumjobs=16\niopolicy=numa\nmpath_log=record\n[one]\n[two]\nstonewall\n"

    def test_is_silent_and_reaches_nobody(self):
        with peers.speaking() as address:
            run = self.run_fio("--parse-only", paths=f"nvme+tcp://{address}/{lab.NQN}/1", job_file=self.JOB)
            self.assertEqual((0, ""), (run.returncode, run.text), str(run))
            self.assertEqual([], list(run.folder.iterdir()))
            self.assertEqual(0, peers.connections_of(address))
        self.assertEqual([], lab.blocks_of(run.pid))

    def test_refuses_bad_values(self):
        for line in ("iopolicy=best", "nr_io_queues=0", "queue_size=99999", "min_paths=x", "keep_alive_tmo=86401"):
            with self.subTest(line):
                run = self.run_fio("--parse-only", paths="x", job_file=f"rw=read\n[job]\n{line}\n")
                self.assertNotEqual(0, run.returncode, str(run))
                self.assertIn(line.partition("=")[0], run.text)


class Command(lab.Case):
    def run_command(self, *words):
        return self.finish(self.start([str(lab.COMMAND), *words]))

    def test_help_names_every_command(self):
        run = self.run_command("--help")
        self.assertEqual(0, run.returncode)
        for command in ("target", "target-ctl", "discover", "paths", "run", "policy", "path", "top"):
            self.assertRegex(run.stdout, f"(?m)^ *{command} ")

    def test_help_of_every_command_has_an_example(self):
        for command in ("target", "target-ctl", "discover", "paths", "run", "policy", "path", "top"):
            run = self.run_command(command, "--help")
            self.assertEqual(0, run.returncode)
            self.assertIn(f"fio-mpath {command} ", run.stdout)

    def test_unknown_words_are_refused(self):
        for words in (["nosuch"], ["target", "--nosuch"], ["paths"], ["discover"], ["run"], ["run", "--nosuch"],
                      ["policy"], ["policy", "--nosuch"], ["path"], ["path", "disable"], ["top", "--nosuch"]):
            with self.subTest(words):
                run = self.run_command(*words)
                self.assertNotEqual(0, run.returncode)
                self.assertNotEqual("", run.text)

    def test_paths_shows_device_groups_and_states(self):
        target = self.target("--serial=S1", listeners=("name=a", "name=b,ana=non-optimized"))
        run = self.run_command("paths", *target.uris.values())
        self.assertEqual(0, run.returncode, str(run))
        for word in ("S1", target.listeners["a"], target.listeners["b"], " optimized", "non-optimized", "uuid"):
            self.assertIn(word, run.stdout)

    def test_paths_says_what_is_wrong_with_a_path(self):
        target = self.target()
        with peers.closed_port() as address:
            run = self.run_command("paths", target.uris["a"], f"nvme+tcp://{address}/{lab.NQN}/1")
        self.assertNotEqual(0, run.returncode, str(run))
        self.assertIn("Connection refused", run.text)

    def test_target_serves_nobody_else_unless_told_so(self):
        run = self.run_command("target", "--listen", "0.0.0.0:0", "--exit-after", "1")
        self.assertNotEqual(0, run.returncode, str(run))
        self.assertIn("--allow-remote", run.text)


if __name__ == "__main__":
    unittest.main()
