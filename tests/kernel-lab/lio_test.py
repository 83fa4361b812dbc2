#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fio with the mpath engine against the kernel's iSCSI target (LIO), its two portal groups as two paths.

    lio_test.py ENGINE [TEST...]     ENGINE: the built fio-mpath.so. Builds the guest first if needed
"""
import json
import pathlib
import subprocess
import sys
import unittest

import guest_fio
import vm
from guest_fio import events_of

ENGINE = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
MIB = 1 << 20

# LIO's numbers of the ALUA states, and what the job calls them.
OPTIMIZED, NON_OPTIMIZED, STANDBY, UNAVAILABLE = range(4)
STATES = {OPTIMIZED: "optimized", NON_OPTIMIZED: "non-optimized", STANDBY: "inaccessible (standby)",
          UNAVAILABLE: "inaccessible (unavailable)"}

lab = None


def setUpModule():
    global lab
    vm.build_guest()
    lab = vm.Vm().__enter__()
    unittest.addModuleCleanup(lab.__exit__)
    for group in "ab":
        lab.exec(f"lab alua {group} {OPTIMIZED}")


def uri(address):
    return f"iscsi://{address}:{vm.ISCSI_PORT}/{vm.IQN}/0"


def paths():
    return f"a={uri(lab.a)},b={uri(lab.b)}"


class Engine(unittest.TestCase):
    def fio(self, *options, through=None):
        """Runs one job on both paths, or `through` others; what fio's JSON says of it."""
        return guest_fio.run(self, ENGINE, through or paths(), *options)

    def test_random_writes_of_mixed_sizes_read_back_as_written(self):
        for policy in ("round-robin", "queue-depth"):
            with self.subTest(iopolicy=policy):
                job = self.fio("--rw=randwrite", "--bssplit=512/10:4k/50:16k/20:64k/15:1m/5", "--size=32m",
                               "--iodepth=16", "--verify=crc32c", "--verify_fatal=1", f"--iopolicy={policy}")
                self.assertEqual(32 * MIB, job["write"]["io_bytes"])
                self.assertEqual(32 * MIB, job["read"]["io_bytes"])

    def test_what_one_path_wrote_the_other_reads(self):
        options = ("--bs=16k", "--size=8m", "--iodepth=8", "--verify=crc32c", "--verify_fatal=1")
        self.fio("--path=a", "--rw=write", "--do_verify=0", *options)
        job = self.fio("--path=b", "--rw=write", "--verify_only=1", *options)
        self.assertEqual(8 * MIB, job["read"]["io_bytes"])

    def test_digests_and_several_sessions(self):
        sizes = ("--rw=randwrite", "--bssplit=512/10:4k/50:16k/20:64k/15:1m/5", "--size=16m", "--iodepth=16",
                 "--verify=crc32c", "--verify_fatal=1")
        for sessions, digests in ((4, ()), (1, ("--hdr_digest=1", "--data_digest=1")), (2, ("--data_digest=1",))):
            with self.subTest(sessions=sessions, digests=digests):
                job = self.fio(*sizes, f"--nr_io_queues={sessions}", *digests)
                self.assertEqual(16 * MIB, job["read"]["io_bytes"])

    def test_flush_force_unit_access_and_one_io_of_sixteen_mebibytes(self):
        self.fio("--rw=write", "--bs=64k", "--size=4m", "--sync=dsync")
        job = self.fio("--rw=write", "--bs=8k", "--size=1m", "--fsync=1", "--iodepth=1")
        self.assertGreaterEqual(job["sync"]["total_ios"], 127)
        job = self.fio("--rw=write", "--bs=16m", "--size=32m", "--verify=crc32c", "--verify_fatal=1")
        self.assertEqual(32 * MIB, job["read"]["io_bytes"])

    def test_nvme_and_iscsi_in_one_run(self):
        nvme = f"nvme+tcp://{lab.a}:{vm.NVME_PORT}/{vm.NQN}/1"
        for through in (nvme, uri(lab.a)):
            job = self.fio("--rw=randread", "--bs=4k", "--size=2m", "--iodepth=8", through=through)
            self.assertEqual(2 * MIB, job["read"]["io_bytes"])


class Commands(unittest.TestCase):
    def command(self, *words):
        done = subprocess.run([ENGINE.with_name("fio-mpath"), *words], timeout=120, capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        return json.loads(done.stdout)

    def test_paths_shows_one_device_and_its_states(self):
        self.addCleanup(lab.exec, f"lab alua b {OPTIMIZED}")
        lab.exec(f"lab alua b {STANDBY}")
        found = self.command("paths", "--json", uri(lab.a), uri(lab.b))
        self.assertTrue(found["same_device"])
        self.assertEqual(["optimized", "inaccessible"], [path["state"] for path in found["paths"]])
        self.assertEqual([None, "standby"], [path["state_name"] for path in found["paths"]])
        self.assertEqual([1, 2], [path["group"] for path in found["paths"]])

    def test_discover_finds_both_portals(self):
        found = self.command("discover", "--json", f"iscsi://{lab.a}")
        (target,) = found["targets"]
        self.assertEqual(vm.IQN, target["target"])
        self.assertEqual([(f"{address}:{vm.ISCSI_PORT}", group) for group, address in enumerate((lab.a, lab.b), 1)],
                         [(portal["portal"], portal["portal_group"]) for portal in target["portals"]])
        self.assertEqual([0], target["luns"])


class RunningJob(guest_fio.RunningJob):
    def change_state(self, path, fro, to):
        """Has the kernel change the state of a group, and waits until the job knows."""
        lab.exec(f"lab alua {path} {to}")
        self.wait_for_event(path, "state", f"{STATES[fro].split(' ')[0]} -> {STATES[to]}")


class Trouble(unittest.TestCase):
    """Paths that change, fail and come back while a job verifies what it writes: nothing may be lost."""

    # No path is to be lost because the guest is slow; yet states are looked at that often.
    PATIENT = 30

    def job(self, keep_alive_tmo=PATIENT):
        return RunningJob(ENGINE, paths(), "--rw=randwrite", "--size=4m", "--verify=crc32c", "--verify_fatal=1",
                          "--verify_backlog=256", "--reconnect_delay=1", f"--keep_alive_tmo={keep_alive_tmo}",
                          "--retry_hold=none")

    def test_alua_states_move_io_and_give_it_back(self):
        with self.job() as job:
            for path, state in (("a", STANDBY), ("b", UNAVAILABLE), ("a", NON_OPTIMIZED)):
                job.change_state(path, OPTIMIZED, state)
                job.change_state(path, state, OPTIMIZED)
            job.end()

    def test_io_waits_while_both_paths_are_in_standby(self):
        with self.job() as job:
            for path in "ab":
                job.change_state(path, OPTIMIZED, STANDBY)
            written = job.results()["response"]["write"]["count"]
            for path in "ab":
                job.change_state(path, STANDBY, OPTIMIZED)
            job.wait_for("more writes", lambda results: results["response"]["write"]["count"] > written)
            results = job.end()
        self.assertEqual(0, results["held"]["failed"])

    def test_a_portal_withdrawn_and_given_back(self):
        with self.job() as job:
            lab.exec("lab iscsi a down")
            job.wait_for_event("a", "lost")
            lab.exec("lab iscsi a up")
            job.wait_for_event("a", "connected", after="lost")
            results = job.end()
        self.assertNotIn("lost", [kind for kind, _ in events_of(results, "b")])

    def test_a_silent_link_is_noticed(self):
        # Short, because it is what has to expire; that it may expire on the other path as well does no harm.
        with self.job(keep_alive_tmo=5) as job:
            lab.exec("lab link a down")
            job.wait_for_event("a", "lost")
            lab.exec("lab link a up")
            job.wait_for_event("a", "connected", after="lost")
            job.end()


if __name__ == "__main__":
    if ENGINE is None:
        sys.exit(__doc__)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
