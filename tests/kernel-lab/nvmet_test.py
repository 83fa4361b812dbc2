#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fio with the mpath engine against the kernel's NVMe/TCP target, its two ports as two paths.

    nvmet_test.py ENGINE [TEST...]     ENGINE: the built fio-mpath.so. Builds the guest first if needed
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import vm

ENGINE = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
PROBE = pathlib.Path(__file__).with_name("nvme_tcp_probe.py")
FIO_SECONDS = 240
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
        with tempfile.TemporaryDirectory(prefix="fio-mpath-lab-") as folder:
            output = pathlib.Path(folder) / "output.json"
            command = ["fio", "--name=lab", f"--ioengine=external:{ENGINE}", f"--paths={through or paths(nsid)}",
                       "--filename=lab", "--output-format=json", f"--output={output}", *options]
            done = subprocess.run(command, cwd=folder, timeout=FIO_SECONDS, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True)
            said = done.stdout + done.stderr + (output.read_text() if output.exists() else "")
            self.assertEqual(0, done.returncode, said[-4000:])
            (job,) = json.loads(output.read_text())["jobs"]
        self.assertEqual(0, job["error"], said[-4000:])
        return job

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



class Trouble(unittest.TestCase):
    """Paths that change, fail and come back while a job verifies what it writes: nothing may be lost."""

    SECONDS = 8

    def fio_during(self, *steps):
        """A verifying job on both paths of namespace 1; each step is (seconds to wait, lab command). Its record."""
        with tempfile.TemporaryDirectory(prefix="fio-mpath-lab-") as folder:
            command = ["fio", "--name=lab", f"--ioengine=external:{ENGINE}", f"--paths={paths(1)}", "--filename=lab",
                       "--rw=randwrite", "--bs=4k", "--size=4m", "--iodepth=8", "--verify=crc32c", "--verify_fatal=1",
                       "--verify_backlog=256", "--time_based", f"--runtime={self.SECONDS}", "--reconnect_delay=1",
                       "--keep_alive_tmo=2", "--retry_hold=none", "--mpath_log=record"]
            process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
            try:
                for seconds, text in steps:
                    time.sleep(seconds)
                    lab.exec(text)
                said, _ = process.communicate(timeout=FIO_SECONDS)
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            self.assertEqual(0, process.returncode, said[-4000:])
            record = json.loads((pathlib.Path(folder) / "record_mpath.1.json").read_text())
        self.assertGreater(record["results"]["response"]["write"]["count"], 0, said[-4000:])
        return record

    def events(self, record, path):
        names = [found["name"] for found in record["results"]["paths"]]
        return [(event["kind"], event["text"]) for event in record["results"]["events"]
                if event["path"] is not None and names[event["path"]] == path]

    def test_ana_states_move_io_and_give_it_back(self):
        record = self.fio_during((2, "lab ana 1 1 inaccessible"), (1, "lab ana 1 1 optimized"),
                                 (1, "lab ana 2 1 persistent-loss"), (1, "lab ana 2 1 optimized"))
        for path, state in (("a", "inaccessible"), ("b", "persistent-loss")):
            changes = [text for kind, text in self.events(record, path) if kind == "state" and "->" in text]
            self.assertEqual([f"optimized -> {state}", f"{state} -> optimized"], changes, record["results"]["events"])

    def test_io_waits_while_both_paths_are_inaccessible(self):
        record = self.fio_during((2, "lab ana 1 1 inaccessible"), (0, "lab ana 2 1 inaccessible"),
                                 (1, "lab ana 1 1 optimized"), (0, "lab ana 2 1 optimized"))
        self.assertGreater(record["results"]["held"]["count"], 0)

    def test_a_port_withdrawn_and_given_back(self):
        record = self.fio_during((2, "lab nvmet 1 down"), (2, "lab nvmet 1 up"))
        kinds = [kind for kind, _ in self.events(record, "a")]
        self.assertIn("lost", kinds, record["results"]["events"])
        self.assertIn("connected", kinds[kinds.index("lost"):], record["results"]["events"])
        self.assertNotIn("lost", [kind for kind, _ in self.events(record, "b")])

    def test_a_silent_link_is_noticed(self):
        record = self.fio_during((2, "lab link a down"), (5, "lab link a up"))
        self.assertIn("lost", [kind for kind, _ in self.events(record, "a")], record["results"]["events"])


if __name__ == "__main__":
    if ENGINE is None:
        sys.exit(__doc__)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
