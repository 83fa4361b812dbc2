#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Discovery: the command, and jobs that ask for the paths nobody listed (discover=1)."""
import json
import socket
import unittest

import lab
import peers

IOS = 500


def free_port():
    """Of this process's own address, so nobody else takes it meanwhile."""
    with socket.socket() as probe:
        probe.bind((lab.own_address(), 0))
        return probe.getsockname()[1]


def ports(subsystem):
    return [port["port"] for port in subsystem["ports"]]


class Discover(lab.Case):
    def discover(self, service, *options):
        run = self.finish(self.start([str(lab.COMMAND), "discover", service, *options]))
        return run

    def found(self, service):
        run = self.discover(service, "--json")
        self.assertEqual(0, run.returncode, str(run))
        return json.loads(run.stdout)

    def test_gives_paths_that_lead_to_the_namespaces(self):
        target = self.target("--namespaces=2")
        run = self.discover(target.listeners["a"])
        self.assertEqual((0, ""), (run.returncode, run.stderr), str(run))
        for address in target.listeners.values():
            self.assertIn(address, run.stdout)
        lines = [line.removeprefix("paths=") for line in run.stdout.splitlines() if line.startswith("paths=")]
        self.assertEqual(2, len(lines), str(run))
        for line, nsid in zip(lines, "12"):
            self.assertEqual([f"nvme+tcp://{address}/{lab.NQN}/{nsid}" for address in target.listeners.values()],
                             line.split(","))
            shown = self.finish(self.start([str(lab.COMMAND), "paths", *line.split(",")]))
            self.assertIn("all 2 paths lead to this device", shown.stdout, str(shown))

    def test_says_the_same_in_json(self):
        target = self.target("--namespaces=2")
        found = self.found(target.listeners["b"])
        self.assertEqual([target.listeners["b"]], found["discovery"])
        self.assertEqual([], found["warnings"])
        (subsystem,) = found["subsystems"]
        self.assertEqual(lab.NQN, subsystem["nqn"])
        self.assertEqual(list(target.listeners.values()), ports(subsystem))
        self.assertEqual([1, 2], subsystem["namespaces"])
        self.assertEqual(",".join(f"nvme+tcp://{address}/{lab.NQN}/2" for address in target.listeners.values()),
                         subsystem["paths"]["2"])

    def test_asks_port_8009_first_and_then_4420(self):
        for option, port in ((f"--discovery={lab.own_address()}:8009", 8009),
                             (f"--listen={lab.own_address()}:4420,name=c", 4420)):
            with self.subTest(port):
                target = self.target(option)
                self.assertEqual([f"{lab.own_address()}:{port}"], self.found(lab.own_address())["discovery"])
                target.stop()

    def test_follows_referrals_and_asks_each_service_of_a_loop_once(self):
        first, second = free_port(), free_port()
        a = self.target(f"--discovery={lab.own_address()}:{first},name=da",
                        f"--referral={lab.own_address()}:{second}", "--device-id=x", listeners=("name=a",))
        b = self.target(f"--discovery={lab.own_address()}:{second},name=db",
                        f"--referral={lab.own_address()}:{first}", "--device-id=x", listeners=("name=b",))
        found = self.found(a.discovery[0])
        self.assertEqual([a.discovery[0], b.discovery[0]], found["discovery"])
        (subsystem,) = found["subsystems"]
        self.assertEqual([a.listeners["a"], b.listeners["b"]], ports(subsystem))
        self.assertEqual((1, 1), (a.stop()["da"]["discoveries"], b.stop()["db"]["discoveries"]))

    def test_tells_of_a_dead_referral_and_goes_on(self):
        with peers.closed_port() as dead:
            target = self.target(f"--referral={dead}")
            run = self.discover(target.listeners["a"])
        self.assertEqual(0, run.returncode, str(run))
        self.assertIn("paths=", run.stdout)
        self.assertRegex(run.stderr, f"referral to {dead} .* is not followed: .*Connection refused")

    def test_lists_ports_that_require_tls_and_gives_no_path_through_them(self):
        run = self.discover(self.target("--discovery-tls").listeners["a"])
        self.assertEqual(0, run.returncode, str(run))
        self.assertIn("requires TLS", run.stdout)
        self.assertNotIn("paths=", run.stdout)

    def test_reads_a_moving_log_again_but_not_for_ever(self):
        self.assertEqual(2, len(ports(self.found(
            self.target("--genctr-moves=3", "--discovery-duplicates").listeners["a"])["subsystems"][0])))
        run = self.discover(self.target("--genctr-moves=1000").listeners["a"])
        self.assertNotEqual(0, run.returncode, str(run))
        self.assertIn("changed each of the 8 times", run.stderr)

    def test_refuses_in_one_sentence_when_nobody_answers(self):
        with peers.closed_port() as address:
            run = self.discover(address)
        self.assertEqual(("", 1), (run.stdout, run.stderr.count("\n")), str(run))
        self.assertNotEqual(0, run.returncode)
        self.assertRegex(run.stderr, f"no discovery service answers: .*{address}.*Connection refused")

    def test_resolves_names(self):
        target = self.target(f"--listen=127.0.0.1:0,name=local")
        port = target.port("local")
        self.assertIn(f"127.0.0.1:{port}", self.found(f"localhost:{port}")["discovery"])


class Job(lab.Case):
    def reads(self, paths, *options):
        run = self.measure("--rw=randread", "--bs=4k", f"--number_ios={IOS}", "--discover=1", *options, paths=paths)
        return {path: operations["read"] for path, operations in lab.ios(run.jobs[0]).items()}

    def refused(self, paths, *options):
        run = self.run_fio("--rw=randread", "--bs=4k", f"--number_ios={IOS}", "--discover=1", *options, paths=paths)
        self.assertNotEqual(0, run.returncode, str(run))
        return run.text

    def test_uses_every_listener_of_the_subsystem(self):
        target = self.target()
        counts = self.reads(f"mine={target.uris['b']}")
        self.assertEqual({"mine", "p1"}, set(counts))
        self.assertLessEqual(abs(counts["mine"] - counts["p1"]), 1)
        served = target.stop()
        self.assertEqual(counts["mine"], served["b"]["reads"])
        self.assertEqual(counts["p1"], served["a"]["reads"])

    def test_adds_nothing_that_is_listed_already(self):
        target = self.target("--discovery-duplicates")
        self.assertEqual({"a", "b"}, set(self.reads(target.paths)))

    def test_can_choose_among_what_was_found(self):
        target = self.target()
        self.assertEqual({"p1": IOS}, self.reads(target.uris["a"], "--path=p1"))
        self.assertEqual(IOS, target.stop()["b"]["reads"])

    def test_asks_once_for_all_jobs(self):
        target = self.target()
        self.measure("--rw=randread", "--bs=4k", f"--number_ios={IOS}", "--discover=1", "--numjobs=4",
                     "--group_reporting", paths=target.uris["a"])
        served = target.stop()
        self.assertEqual(1, served["a"]["discoveries"] + served["b"]["discoveries"])

    def test_goes_through_referrals_and_counts_dead_ports_as_paths_that_can_not_be_connected(self):
        gone = self.target("--device-id=x", listeners=("name=gone",))
        a = self.target("--device-id=x", f"--referral={gone.listeners['gone']}", listeners=("name=a",))
        self.assertEqual({"p0", "p1"}, set(self.reads(a.uris["a"], "--min_paths=2")))
        gone.stop()
        text = self.refused(a.uris["a"], "--min_paths=2")
        self.assertIn("1 of 1 paths usable, min_paths=2", text)
        self.assertIn("is not followed", text)

    def test_says_which_ports_require_tls_when_paths_are_missing(self):
        text = self.refused(self.target("--discovery-tls").uris["a"], "--min_paths=2")
        self.assertIn("requires TLS", text)

    def test_refuses_when_no_discovery_service_answers(self):
        with peers.closed_port() as address:
            text = self.refused(f"nvme+tcp://{address}/{lab.NQN}/1")
        self.assertIn("discover=1: no discovery service answers", text)


if __name__ == "__main__":
    unittest.main()
