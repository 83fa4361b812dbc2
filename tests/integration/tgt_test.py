#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""An iSCSI target that is none of ours, Debian's tgt: who gets in, and what is agreed on."""
import json
import os
import unittest

import lab
import tgt

OURS = "our secret of 16 bytes"
ITS = "its secret of 16 bytes"


@unittest.skipUnless(tgt.available(), "tgt is not installed")
class Case(lab.Case):
    def setUp(self):
        super().setUp()
        self.tgt = tgt.start(self)
        self.tgt.add_disk()

    def discover(self, *options, portal=0):
        return self.finish(self.start([str(lab.COMMAND), "discover", f"iscsi://{self.tgt.portals[portal]}", *options]))

    def luns(self, *options):
        """What the target shows us once we have logged in to it: 0 is its controller."""
        run = self.discover("--json", *options)
        self.assertEqual(0, run.returncode, str(run))
        (found,) = json.loads(run.stdout)["targets"]
        return found["luns"]

    def refusal(self, *options):
        """Why we could not log in to the target, though the portal told of it."""
        run = self.discover(*options)
        self.assertEqual(0, run.returncode, str(run))
        self.assertIn("LUNs not known: ", run.stdout, str(run))
        return run.stdout.partition("LUNs not known: ")[2].splitlines()[0]

    def secrets(self, *lines):
        path = self.folder / "secrets"
        path.write_text("".join(line + "\n" for line in lines))
        os.chmod(path, 0o600)
        return "--chap-user=me", f"--chap-secret-file={path}"


class Login(Case):
    def test_names_the_portal_that_was_asked(self):
        self.tgt.let_in()
        for portal, address in enumerate(self.tgt.portals):
            run = self.discover("--json", portal=portal)
            self.assertEqual((0, ""), (run.returncode, run.stderr), str(run))
            (found,) = json.loads(run.stdout)["targets"]
            self.assertEqual(self.tgt.target, found["target"])
            self.assertEqual([{"portal": address, "portal_group": 1}], found["portals"])
            self.assertEqual(f"iscsi://{address}/{self.tgt.target}/1", found["paths"]["1"])

    def test_tells_nothing_to_whom_it_does_not_let_in(self):
        run = self.discover()
        self.assertEqual(0, run.returncode, str(run))
        self.assertIn("no target is offered to this host", run.stdout)

    def test_leaves_no_session_behind(self):
        self.tgt.let_in()
        self.assertEqual([0, 1], self.luns())
        lab.wait_until(lambda: self.tgt.sessions() == 0, "all sessions are gone")

    def test_wants_proof_of_who_we_are(self):
        self.tgt.let_in()
        self.tgt.add_account("me", OURS)
        self.assertIn("it wants proof, give it chap_user and chap_secret_file", self.refusal())
        self.assertIn("check chap_user and chap_secret_file", self.refusal(*self.secrets(ITS)))
        self.assertEqual([0, 1], self.luns(*self.secrets(OURS)))

    def test_proves_who_it_is(self):
        self.tgt.let_in()
        self.tgt.add_account("me", OURS)
        self.assertIn("that the target has a secret for us, too", self.refusal(*self.secrets(OURS, ITS)))
        self.tgt.add_account("it", ITS, outgoing=True)
        self.assertEqual([0, 1], self.luns(*self.secrets(OURS, ITS)))
        self.assertIn("the target did not prove who it is", self.refusal(*self.secrets(OURS, "another secret")))

    def test_no_secret_is_ever_shown(self):
        self.tgt.let_in()
        self.tgt.add_account("me", OURS)
        run = self.discover(*self.secrets(ITS, OURS))
        self.assertNotIn("secret of 16 bytes", run.stdout + run.stderr)


class Job(Case):
    """Two portals as two paths to a disk; tgt has no ALUA, and small limits unless told otherwise."""
    SIZE = 8 * lab.MIB

    def paths(self):
        return f"a={self.tgt.uri(0)},b={self.tgt.uri(1)}"

    def run_job(self, *options):
        run = self.run_fio("--output-format=json", "--size=8m", "--iodepth=16", *options, paths=self.paths())
        self.assertEqual(0, run.returncode, str(run))
        (job,) = run.jobs
        self.assertEqual(lab.fio_sums(job), lab.our_sums(job))
        return job

    def check_verified(self, *options):
        job = self.run_job("--rw=randwrite", "--bsrange=4k-256k", "--verify=crc32c", "--verify_fatal=1", *options)
        self.assertEqual(self.SIZE, job["read"]["io_bytes"])

    def test_reads_back_what_it_wrote_by_both_portals(self):
        self.tgt.let_in()
        self.check_verified()
        self.check_verified("--nr_io_queues=4")

    def test_with_digests(self):
        self.tgt.let_in()
        for digest in ("HeaderDigest", "DataDigest"):
            self.tgt.set(digest, "CRC32C,None")
        for digests in (("--hdr_digest=1",), ("--data_digest=1",), ("--hdr_digest=1", "--data_digest=1")):
            with self.subTest(digests):
                self.check_verified(*digests)

    def test_with_large_bursts_and_unsolicited_data(self):
        self.tgt.let_in()
        for name, value in (("MaxRecvDataSegmentLength", 262144), ("FirstBurstLength", 262144),
                            ("MaxBurstLength", 1048576), ("InitialR2T", "No")):
            self.tgt.set(name, value)
        self.check_verified()

    def test_trims_a_thin_disk_and_refuses_to_trim_another(self):
        self.tgt.let_in()
        self.tgt.add_disk(lun=2, identity="fiompath02", thin_provisioning=1)
        thin = ",".join(f"{name}={self.tgt.uri(portal, lun=2)}" for portal, name in enumerate("ab"))
        trim = ("--rw=randtrim", "--bs=64k", "--size=8m")
        run = self.run_fio("--output-format=json", *trim, paths=thin)
        self.assertEqual(0, run.returncode, str(run))
        self.assertEqual(128, run.jobs[0]["trim"]["total_ios"])
        run = self.run_fio(*trim, paths=self.paths())
        self.assertNotEqual(0, run.returncode, str(run))
        self.assertRegex(run.text, "mpath: job: .*trim")

    def test_with_chap_both_ways(self):
        self.tgt.let_in()
        self.tgt.add_account("me", OURS)
        self.tgt.add_account("it", ITS, outgoing=True)
        words = [word.replace("--chap-user", "--chap_user").replace("--chap-secret-file", "--chap_secret_file")
                 for word in self.secrets(OURS, ITS)]
        self.check_verified(*words)


if __name__ == "__main__":
    unittest.main()
