#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The iSCSI side of the embedded target as an independent initiator sees it: libiscsi's tools and its conformance
tests, and what goes over the wire as an independent dissector reads it."""
import re
import shutil
import signal
import subprocess
import unittest

import lab

IQN = "iqn.2025-01.io.fio-mpath:target"
TOOLS = ("iscsi-ls", "iscsi-inq", "iscsi-readcapacity16", "iscsi-test-cu")
SUITE_SECONDS = 300

# The families of iscsi-test-cu that are about what this target has. The others are about commands it does not have
# (reservations, COMPARE AND WRITE, EXTENDED COPY, media that can be removed, ...), which iscsi-test-cu skips.
# Not among them, iSCSIdatasn: the target ends the session over a wrong DataSN, as it may, and iscsi-test-cu then does
# not find its way back into one without immediate data.
FAMILIES = (
    "Inquiry", "Mandatory", "ModeSense6", "NoMedia", "ReadOnly",
    "Read10", "Read16", "ReadCapacity10", "ReadCapacity16", "ReportSupportedOpcodes", "StartStopUnit", "TestUnitReady",
    "Unmap", "Verify10", "Verify16", "Write10", "Write16", "WriteSame10", "WriteSame16",
    "iSCSIcmdsn", "iSCSIResiduals", "iSCSITMF",
)


def setUpModule():
    for tool in TOOLS:
        if not shutil.which(tool):
            raise unittest.SkipTest(f"{tool} is not installed (package libiscsi-bin)")


class Libiscsi(lab.Case):
    def portals(self, *options, names=("name=a",), **how):
        """A target whose only listeners are iSCSI portals."""
        listeners = [word for name in names for word in ("--iscsi", f"{lab.own_address()}:0,{name}")]
        return self.target(*listeners, *options, listeners=(), **how)

    def run_tool(self, *command, seconds=lab.SECONDS, status=0):
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds,
                              check=False)
        self.assertEqual(status, done.returncode, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def check_family(self, target, family):
        """Runs one family of tests, which writes to the device; how many of its tests were more than skipped."""
        text = self.run_tool("iscsi-test-cu", "--dataloss", "--test", f"ALL.{family}", target.uris["a"],
                             seconds=SUITE_SECONDS)
        found = re.search(r"tests +(\d+) +(\d+) +(\d+) +(\d+)", text)
        self.assertIsNotNone(found, text)
        total, ran, passed, failed = (int(number) for number in found.groups())
        self.assertEqual((total, 0), (passed, failed), text)
        self.assertGreater(ran, 0, text)

    def test_portals_are_listed(self):
        target = self.portals(names=("name=a", "name=b"))
        text = self.run_tool("iscsi-ls", "-s", f"iscsi://{target.listeners['a']}")
        self.assertIn(f"Target:{IQN} Portal:{target.listeners['b']},2", text)
        self.assertRegex(text, r"Lun:0 .*DIRECT_ACCESS")

    def test_unit_describes_itself(self):
        target = self.portals()
        text = self.run_tool("iscsi-inq", target.uris["a"])
        for line in ("Peripheral Device Type:DIRECT_ACCESS", "Product:fio-mpath target", "TPGS:1", "CmdQue:1"):
            self.assertIn(line, text)
        pages = self.run_tool("iscsi-inq", "-e", "1", "-c", "0", target.uris["a"])
        for page in ("0x80", "0x83", "0xb0", "0xb1", "0xb2"):
            self.assertIn(f"Page:{page}", pages)
        self.assertIn("Designator", self.run_tool("iscsi-inq", "-e", "1", "-c", "131", target.uris["a"]))

    def test_capacity_is_the_size(self):
        target = self.portals(size="64M")
        text = self.run_tool("iscsi-readcapacity16", target.uris["a"])
        self.assertIn("Total size:67108864", text)
        self.assertIn("LBPME:1", text)

    def test_several_units_are_numbered_from_0(self):
        target = self.portals("--namespaces", "3", "--block-size", "512")
        text = self.run_tool("iscsi-ls", "-s", f"iscsi://{target.listeners['a']}")
        self.assertEqual(["0", "1", "2"], re.findall(r"Lun:(\d+)", text))
        self.assertTrue(target.uris["a"].endswith(f"/{IQN}/0"), target.uris)

    def test_chap_lets_in_who_knows_the_secret(self):
        secrets = self.folder / "secrets"
        secrets.write_text("twelve bytes\n")
        target = self.portals("--chap-user", "me", "--chap-secret-file", str(secrets))
        right = target.uris["a"].replace("iscsi://", "iscsi://me%twelve bytes@")
        self.assertIn("Total size", self.run_tool("iscsi-readcapacity16", right))
        wrong = right.replace("twelve", "eleven")
        refused = subprocess.run(["iscsi-readcapacity16", wrong], capture_output=True, text=True, timeout=lab.SECONDS,
                                 check=False)
        self.assertNotEqual(0, refused.returncode)
        self.assertNotIn("Total size", refused.stdout)

    def test_header_digests(self):
        target = self.portals()
        for digest in ("crc32c", "none"):
            text = self.run_tool("iscsi-readcapacity16", f"{target.uris['a']}?header_digest={digest}")
            self.assertIn("Total size", text)
        self.assertEqual(0, target.stop()["a"]["header_digest_errors"])

    def test_standby_portal_is_not_ready(self):
        target = self.portals(names=("name=a", "name=b,ana=standby"))
        self.assertIn("Total size", self.run_tool("iscsi-readcapacity16", target.uris["a"]))
        refused = subprocess.run(["iscsi-readcapacity16", target.uris["b"]], capture_output=True, text=True,
                                 timeout=lab.SECONDS, check=False)
        self.assertIn("0x040b", refused.stdout + refused.stderr)

    def test_conformance(self):
        target = self.portals("--mdts", "0")
        for family in FAMILIES:
            with self.subTest(family):
                self.check_family(target, family)
        served = target.stop()["a"]
        self.assertEqual(0, served["violations"])

    def test_conformance_of_small_parts(self):
        # Data in many PDUs, asked for in small pieces, its status apart.
        target = self.portals("--mdts", "0", "--r2t-size", "2k", "--c2h-size", "1k", "--max-burst", "8k",
                              "--first-burst", "2k", "--max-receive", "1k", "--initial-r2t", "--no-immediate-data",
                              "--no-success-flag", "--block-size", "512")
        for family in ("Read16", "Write16", "WriteSame16", "Unmap", "iSCSIResiduals"):
            with self.subTest(family):
                self.check_family(target, family)
        self.assertEqual(0, target.stop()["a"]["violations"])

    def test_no_pdu_is_malformed(self):
        for tool in ("dumpcap", "tshark"):
            if not shutil.which(tool):
                self.skipTest(f"{tool} is not installed (package tshark)")
        target = self.portals("--c2h-size", "3000", "--r2t-size", "4k", "--first-burst", "2k", "--block-size", "512")
        port = target.port("a")
        file = self.folder / "run.pcapng"
        capturing = self.start(["dumpcap", "-q", "-i", "lo", "-f", f"tcp port {port}", "-B", "64", "-w", str(file)])
        lab.wait_until(lambda: file.exists() or capturing.poll() is not None, "dumpcap captures")
        if capturing.poll() is not None:
            self.skipTest(f"capturing is not permitted: {capturing.stderr.read().strip()[:200]}")
        self.run_tool("iscsi-ls", "-s", f"iscsi://{target.listeners['a']}")
        self.run_tool("iscsi-readcapacity16", target.uris["a"])
        # Not the family ReadCapacity16: the dissector takes answers that were asked to be short for broken ones.
        for family in ("Inquiry", "Read16", "Write10", "Unmap"):
            self.check_family(target, family)
        target.stop()
        capturing.send_signal(signal.SIGINT)
        self.finish(capturing)
        dissect = ["tshark", "-n", "-r", str(file), "-d", f"tcp.port=={port},iscsi", "-T", "fields"]
        text = self.run_tool(*dissect, "-Y", "iscsi", "-e", "iscsi.opcode", seconds=SUITE_SECONDS)
        opcodes = set(re.findall(r"\b0x[0-9a-f]{2}\b", text))
        # All that a run without trouble has, and nothing is rejected.
        expected = {"0x01", "0x03", "0x04", "0x05", "0x06", "0x21", "0x23", "0x24", "0x25", "0x26", "0x31"}
        self.assertEqual(set(), expected - opcodes)
        self.assertNotIn("0x3f", opcodes)
        wrong = subprocess.run([*dissect, "-Y", "_ws.malformed || _ws.expert.severity == error", "-e", "frame.number",
                                "-e", "_ws.expert.message"], capture_output=True, text=True, timeout=SUITE_SECONDS,
                               check=True)
        self.assertEqual("", wrong.stdout)


if __name__ == "__main__":
    unittest.main()
