#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fio with the mpath engine against the kernel's NVMe/TCP target, its two ports as two paths.

    nvmet_test.py ENGINE [TEST...]     ENGINE: the built fio-mpath.so. Builds the guest first if needed
"""
import json
import pathlib
import subprocess
import sys
import unittest

import guest_fio
import vm
from guest_fio import STEP_SECONDS, events_of

ENGINE = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
PROBE = pathlib.Path(__file__).with_name("nvme_tcp_probe.py")
MIB = 1 << 20

lab = None


def setUpModule():
    global lab
    vm.build_guest()
    lab = vm.Vm().__enter__()
    unittest.addModuleCleanup(lab.__exit__)
    # Both ports optimized for both namespaces, so that the policies have two paths to choose from.
    for port in (1, 2):
        for group in (1, 2):
            lab.exec(f"lab ana {port} {group} optimized")


def paths(nsid):
    return ",".join(f"{name}=nvme+tcp://{address}:{vm.NVME_PORT}/{vm.NQN}/{nsid}"
                    for name, address in (("a", lab.a), ("b", lab.b)))


class Peer(unittest.TestCase):
    """What the lab must give; if this fails, the lab is at fault and not the engine."""

    def test_both_ports_serve_reads_and_writes(self):
        for address in (lab.a, lab.b):
            with self.subTest(address=address):
                done = subprocess.run([sys.executable, "-B", PROBE, "probe", address, vm.NQN], timeout=60,
                                      capture_output=True, text=True)
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)
                self.assertEqual(4, done.stdout.count("read back ok"), done.stdout)


class Engine(unittest.TestCase):
    def fio(self, nsid, *options, through=None):
        """Runs one job on both paths, or `through` others; what fio's JSON says of it."""
        return guest_fio.run(self, ENGINE, through or paths(nsid), *options)

    def test_random_writes_of_mixed_sizes_read_back_as_written(self):
        for policy in ("round-robin", "queue-depth", "numa"):
            with self.subTest(iopolicy=policy):
                job = self.fio(1, "--rw=randwrite", "--bssplit=512/10:4k/50:16k/20:64k/15:1m/5", "--size=48m",
                               "--iodepth=16", "--verify=crc32c", "--verify_fatal=1", f"--iopolicy={policy}")
                self.assertEqual(48 * MIB, job["write"]["io_bytes"])
                self.assertEqual(48 * MIB, job["read"]["io_bytes"])

    def test_writes_during_verification_keep_their_order(self):
        job = self.fio(1, "--rw=randwrite", "--bs=4k", "--size=16m", "--iodepth=32", "--verify=crc32c",
                       "--verify_fatal=1", "--verify_backlog=64", "--nr_io_queues=2")
        self.assertEqual(16 * MIB, job["read"]["io_bytes"])

    def test_what_one_path_wrote_the_other_reads(self):
        options = ("--bs=16k", "--size=8m", "--iodepth=8", "--verify=crc32c", "--verify_fatal=1")
        self.fio(2, "--path=a", "--rw=write", "--do_verify=0", *options)
        job = self.fio(2, "--path=b", "--rw=write", "--verify_only=1", *options)
        self.assertEqual(8 * MIB, job["read"]["io_bytes"])

    def test_digests_and_several_queues(self):
        sizes = ("--rw=randwrite", "--bssplit=512/10:4k/50:16k/20:64k/15:1m/5", "--size=16m", "--iodepth=16",
                 "--verify=crc32c", "--verify_fatal=1")
        for queues in (1, 4):
            for digests in (("--hdr_digest=1",), ("--data_digest=1",), ("--hdr_digest=1", "--data_digest=1")):
                with self.subTest(queues=queues, digests=digests):
                    job = self.fio(1, *sizes, f"--nr_io_queues={queues}", *digests)
                    self.assertEqual(16 * MIB, job["read"]["io_bytes"])

    def test_writes_with_force_unit_access_and_of_zeroes(self):
        self.fio(2, "--rw=write", "--bs=64k", "--size=4m", "--sync=dsync", "--buffer_pattern=0xa5")
        self.fio(2, "--rw=write", "--bs=64k", "--size=4m", "--write_mode=zeroes")
        job = self.fio(2, "--rw=read", "--bs=64k", "--size=4m", "--verify=pattern", "--verify_pattern=0x00",
                       "--verify_fatal=1")
        self.assertEqual(4 * MIB, job["read"]["io_bytes"])

    def test_one_io_of_sixteen_mebibytes(self):
        job = self.fio(1, "--rw=write", "--bs=16m", "--size=48m", "--verify=crc32c", "--verify_fatal=1")
        self.assertEqual(3, job["write"]["total_ios"])
        self.assertEqual(48 * MIB, job["read"]["io_bytes"])

    def test_flush_after_each_write(self):
        job = self.fio(1, "--rw=write", "--bs=8k", "--size=2m", "--fsync=1", "--iodepth=1")
        self.assertEqual(256, job["write"]["total_ios"])
        self.assertGreaterEqual(job["sync"]["total_ios"], 255)

    def test_flush_with_other_io_in_flight(self):
        job = self.fio(1, "--rw=randrw", "--bs=4k", "--size=8m", "--fsync=8", "--iodepth=32")
        self.assertGreater(job["sync"]["total_ios"], 64)

    def test_discovery_finds_the_other_port_by_its_referral(self):
        """Each port's service tells of its own port alone and refers to the other one, which refers back."""
        command = ENGINE.with_name("fio-mpath")
        done = subprocess.run([command, "discover", lab.a, "--json"], timeout=120, capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        found = json.loads(done.stdout)
        ports = [f"{address}:{vm.NVME_PORT}" for address in (lab.a, lab.b)]
        self.assertEqual(ports, found["discovery"])
        (subsystem,) = found["subsystems"]
        self.assertEqual(vm.NQN, subsystem["nqn"])
        self.assertEqual(ports, [port["port"] for port in subsystem["ports"]])
        self.assertEqual([1, 2], subsystem["namespaces"])

        job = self.fio(1, "--rw=randread", "--bs=4k", "--size=4m", "--discover=1", "--min_paths=2",
                       through=f"a=nvme+tcp://{lab.a}:{vm.NVME_PORT}/{vm.NQN}/1")
        self.assertEqual(4 * MIB, job["read"]["io_bytes"])
        self.assertIn("mpath.p1", job["job options"])

    def test_trimmed_blocks_read_as_zeros(self):
        self.fio(2, "--rw=write", "--bs=1m", "--size=8m", "--buffer_pattern=0xa5")
        job = self.fio(2, "--rw=randtrim", "--bs=64k", "--size=8m", "--iodepth=8")
        self.assertEqual(128, job["trim"]["total_ios"])
        # The guest's disk behind namespace 2 gives zeros for what was deallocated.
        job = self.fio(2, "--rw=read", "--bs=64k", "--size=8m", "--verify=pattern", "--verify_pattern=0x00",
                       "--verify_fatal=1")
        self.assertEqual(8 * MIB, job["read"]["io_bytes"])


class RunningJob(guest_fio.RunningJob):
    """On both paths of namespace 1."""

    def __init__(self, *options):
        super().__init__(ENGINE, paths(1), *options)

    def change_state(self, port, path, fro, to):
        """Has the kernel change the state of namespace 1 on a port, and waits until the job knows."""
        lab.exec(f"lab ana {port} 1 {to}")
        self.wait_for_event(path, "state", f"{fro} -> {to}")


class Trouble(unittest.TestCase):
    """Paths that change, fail and come back while a job verifies what it writes: nothing may be lost."""

    # No path is to be lost because the guest is slow.
    PATIENT = 60

    def job(self, keep_alive_tmo=PATIENT):
        return RunningJob("--rw=randwrite", "--size=4m", "--verify=crc32c", "--verify_fatal=1", "--verify_backlog=256",
                          "--reconnect_delay=1", f"--keep_alive_tmo={keep_alive_tmo}", "--retry_hold=none")

    def test_ana_states_move_io_and_give_it_back(self):
        states = {"a": (1, "inaccessible"), "b": (2, "persistent-loss")}
        with self.job() as job:
            for path, (port, state) in states.items():
                job.change_state(port, path, "optimized", state)
                job.change_state(port, path, state, "optimized")
            results = job.end()
        for path, (_, state) in states.items():
            changes = [text for kind, text in events_of(results, path) if kind == "state" and "->" in text]
            self.assertEqual([f"optimized -> {state}", f"{state} -> optimized"], changes, results["events"])

    def test_io_waits_while_both_paths_are_inaccessible(self):
        with self.job() as job:
            for port, path in ((1, "a"), (2, "b")):
                job.change_state(port, path, "optimized", "inaccessible")
            written = job.results()["response"]["write"]["count"]
            for port, path in ((1, "a"), (2, "b")):
                job.change_state(port, path, "inaccessible", "optimized")
            job.wait_for("more writes", lambda results: results["response"]["write"]["count"] > written)
            results = job.end()
        self.assertGreater(results["held"]["count"], 0)
        self.assertEqual(0, results["held"]["failed"])

    def test_a_port_withdrawn_and_given_back(self):
        with self.job() as job:
            lab.exec("lab nvmet 1 down")
            job.wait_for_event("a", "lost")
            lab.exec("lab nvmet 1 up")
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


class NativeMultipath(unittest.TestCase):
    """The kernel's own multipath, of the guest's host on the guest's target, and the engine on the same two ports:
    the same policies give the paths the same shares of the I/O, as far as it is the policy that decides them. With
    queue-depth it is also how fast each path is, which differs between outside and the guest."""

    POLICIES = ("numa", "round-robin", "queue-depth")
    READERS = 8
    READS = 480
    DELAY_MS = 20

    @classmethod
    def setUpClass(cls):
        lab.exec("lab connect", seconds=STEP_SECONDS)
        cls.addClassCleanup(lab.exec, "lab disconnect", seconds=STEP_SECONDS)
        cls.rows = []

    @classmethod
    def tearDownClass(cls):
        print(f"\n{'shares of a : b':<32} {'kernel':>14} {'engine':>14}")
        for case, policy, *shares in cls.rows:
            print(f"{case:<18} {policy:<13}", *(f"{share:7.1f} :{100 - share:5.1f}" for share in shares))

    def native(self, policy):
        """Path a's share of the reads in percent, with the kernel's multipath."""
        said = lab.exec(f"lab native {policy} {self.READERS} {self.READS // self.READERS}", seconds=STEP_SECONDS)
        reads = {path: int(count) for path, count in (line.split() for line in said.splitlines())}
        self.assertGreaterEqual(sum(reads.values()), self.READS)
        return 100 * reads["a"] / sum(reads.values())

    def engine(self):
        """The same of each policy with the engine, in one run."""
        def reads(results):
            return {path["name"]: {setting["name"]: setting["operations"]["read"]["count"]
                                   for setting in path["settings"]} for path in results["paths"]}

        def enough(results):
            found = reads(results)
            return all(sum(of.get(policy, 0) for of in found.values()) >= self.READS for policy in self.POLICIES)

        steer = ",".join(f"{policy}@500ms" for policy in self.POLICIES)
        with RunningJob("--rw=randread", "--size=32m", f"--steer={steer}", "--steer_order=cycle",
                        "--steer_settle=100ms") as job:
            job.wait_for("enough reads with each policy", enough)
            found = reads(job.end())
        return {policy: 100 * found["a"][policy] / sum(of[policy] for of in found.values()) for policy in self.POLICIES}

    def shares(self, case):
        """Of each policy: path a's share with the kernel and with the engine."""
        engine = self.engine()
        shares = {policy: (self.native(policy), engine[policy]) for policy in self.POLICIES}
        self.rows += [(case, policy, *both) for policy, both in shares.items()]
        return shares

    def assert_both(self, lowest, highest, shares):
        for share in shares:
            self.assertTrue(lowest <= share <= highest, f"kernel, engine: {shares}; not {lowest} to {highest}")

    def test_both_paths_optimized(self):
        shares = self.shares("equal")
        self.assert_both(99, 100, shares["numa"])
        self.assert_both(47, 53, shares["round-robin"])
        # Ties go to a: in the guest, where reads are answered before the next one is sent, it gets most of them; from
        # outside both paths are busy, and as busy as each other.
        self.assert_both(25, 100, shares["queue-depth"])

    def test_one_path_slower(self):
        lab.exec(f"lab delay b {self.DELAY_MS}")
        self.addCleanup(lab.exec, "lab delay b 0")
        shares = self.shares(f"b {self.DELAY_MS} ms slower")
        self.assert_both(99, 100, shares["numa"])
        self.assert_both(47, 53, shares["round-robin"])
        # How much more depends on how much faster the other path is to this host; the guest is nearer.
        self.assert_both(67, 100, shares["queue-depth"])

    def test_one_path_not_optimized(self):
        self.addCleanup(lab.exec, "lab ana 2 1 optimized")
        lab.exec("lab ana 2 1 non-optimized")
        for policy, shares in self.shares("b non-optimized").items():
            with self.subTest(iopolicy=policy):
                self.assert_both(99, 100, shares)


if __name__ == "__main__":
    if ENGINE is None:
        sys.exit(__doc__)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
