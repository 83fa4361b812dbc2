#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What goes over the wire, as an independent dissector reads it: no malformed PDU, no error."""
import collections
import shutil
import signal
import subprocess
import unittest

import lab

DISSECT_SECONDS = 300


def setUpModule():
    for tool in ("dumpcap", "tshark"):
        if not shutil.which(tool):
            raise unittest.SkipTest(f"{tool} is not installed (package tshark)")


class Capture(lab.Case):
    def capture(self, target, *options):
        """The file with all packets between the target and one run of fio."""
        file = self.folder / "run.pcapng"
        ports = " or ".join(f"tcp port {target.port(name)}" for name in target.listeners)
        capturing = self.start(["dumpcap", "-q", "-i", "lo", "-f", ports, "-B", "64", "-w", str(file)])
        lab.wait_until(lambda: file.exists() or capturing.poll() is not None, "dumpcap captures")
        if capturing.poll() is not None:
            self.skipTest(f"capturing is not permitted: {capturing.stderr.read().strip()[:200]}")
        self.measure(*options, paths=target.paths)
        target.stop()
        capturing.send_signal(signal.SIGINT)
        self.finish(capturing)
        return file

    def dissect(self, target, file, wanted, *fields):
        """The `fields` of packets that `wanted` matches, a list of lines."""
        command = ["tshark", "-n", "-r", str(file), "-Y", wanted, "-T", "fields"]
        for name in target.listeners:
            command += ["-d", f"tcp.port=={target.port(name)},nvme-tcp"]
        for field in fields:
            command += ["-e", field]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DISSECT_SECONDS)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout.splitlines()

    def check(self, target, *options, expect):
        file = self.capture(target, *options)
        types = collections.Counter()
        for line in self.dissect(target, file, "nvme-tcp", "nvme-tcp.type"):
            types.update(line.split(","))
        for pdu_type in expect:
            self.assertGreater(types[pdu_type], 0, f"no PDU of type {pdu_type} in {types}")
        # Termination requests would say that one end found the other at fault.
        self.assertEqual([0, 0], [types["2"], types["3"]], types)
        self.assertEqual([], self.dissect(target, file, "_ws.malformed || _ws.expert.severity == error", "frame.number",
                                          "_ws.expert.message"))

    def test_of_a_mixed_run(self):
        # ICReq, ICResp, capsules both ways, H2CData, C2HData, R2T.
        self.check(self.target(), "--rw=randrw", "--bssplit=4k/60:64k/40", "--number_ios=600", "--iodepth=8",
                   "--fsync=16", expect="0145679")

    def test_of_small_parts(self):
        target = self.target("--in-capsule=0", "--r2t-size=8k", "--max-h2c-data=4096", "--c2h-size=4k", "--cpda=3",
                             "--no-success-flag")
        self.check(target, "--rw=randrw", "--bs=20k", "--number_ios=200", "--iodepth=4", "--nr_io_queues=2",
                   expect="0145679")

    def test_of_trims(self):
        self.check(self.target(), "--rw=trimwrite", "--bs=64k", "--size=2M", expect="0145")


if __name__ == "__main__":
    unittest.main()
