#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What can't work is refused: one clear sentence, no I/O, nothing left behind."""
import contextlib
import re
import unittest

import lab
import peers


class Refusal(lab.Case):
    """Each test gives a job that must be refused and the words its sentence must have."""

    def refused(self, sentence, *options, paths=None, target=None, name="job"):
        run = self.run_fio("--rw=read", "--bs=4k", "--number_ios=1000", "--mpath_log=record", *options,
                           paths=target.paths if target and paths is None else paths, name=name)
        self.assertEqual(1, run.returncode, str(run))
        self.assertRegex(run.text, sentence, str(run))
        self.assert_nothing_happened(run, target)
        return run

    def assert_nothing_happened(self, run, target):
        self.assertNotIn("READ:", run.stdout, str(run))
        self.assertEqual({}, run.records(), "a record of a job that never ran")
        self.assertEqual([], lab.blocks_of(run.pid), "a control block is left in /dev/shm")
        if target:
            for listener in target.stop().values():
                self.assertEqual(0, listener["reads"] + listener["writes"])

    def refused_by_us(self, sentence, *options, **how):
        """As refused(); the sentence comes from the engine, names the job, and comes once."""
        run = self.refused(sentence, *options, **how)
        ours = [line for line in run.text.splitlines() if line.startswith("mpath: ")]
        self.assertEqual(1, len(ours), str(run))
        self.assertRegex(ours[0], "^mpath: job: .*[^.]\\.$")
        return ours[0]


class Paths(Refusal):
    """paths=, path= and min_paths=."""

    def test_no_paths(self):
        self.refused_by_us("paths= is missing; list the paths to the device, as nvme\\+tcp://HOST/SUBNQN/NSID")

    def test_a_local_device_instead_of_paths(self):
        device = self.folder / "disk"
        try:
            peers.make_block_device(device)
        except PermissionError:
            self.skipTest("needs root, to make a block device node")
        self.refused_by_us(f"filename={device} names a block device of this host.*paths=", f"--filename={device}")

    def test_a_uri_that_is_none(self):
        for uri, words in (("nvme+tcp://[::1/nqn.x:y/1", "character 12: ']' is missing"),
                           ("127.0.0.1", "has no scheme"),
                           ("nvme+tcp://127.0.0.1/nqn.x:y", "nsid"),
                           ("nvme+tcp://127.0.0.1/nqn.x:y/0", "1 to 4294967294|nsid"),
                           ("nvme+tcp://127.0.0.1:99999/nqn.x:y/1", "port")):
            with self.subTest(uri):
                self.refused_by_us(f"paths= entry 1: '{re.escape(uri)}'.*({words})", paths=uri)

    def test_a_path_by_iscsi(self):
        for uri, words in (("iscsi://127.0.0.1", "target|character"), ("iscsi://127.0.0.1/nqn.a/1", "iqn"),
                           ("iscsi://127.0.0.1/iqn.2025-01.a:b", "LUN|lun"), ("iscsi://127.0.0.1/iqn.2025-01.a:b/x", "LUN|lun"),
                           ("iscsi://127.0.0.1/iqn.2025-01.a:b/16384", "16383"),
                           ("iscsi://127.0.0.1:99999/iqn.2025-01.a:b/1", "port")):
            with self.subTest(uri):
                self.refused_by_us(f"paths= entry 1: .*({words})", paths=uri)

    def test_a_kernel_block_device(self):
        self.refused_by_us("'/dev/sda': kernel block devices are not driven by this version", paths="/dev/sda")

    def test_path_that_names_nothing(self):
        target = self.target()
        self.refused_by_us("path=c: 'c' is no path; paths= has a, b \\(indices 0 to 1\\)", "--path=c", target=target)

    def test_fewer_paths_than_min_paths(self):
        target = self.target(listeners=("name=a", "name=b,ana=inaccessible"))
        self.refused_by_us("1 of 2 paths usable, min_paths=2; path b is inaccessible", "--min_paths=2", target=target)

    def test_no_usable_path(self):
        target = self.target(listeners=("name=a,ana=inaccessible", "name=b,ana=persistent-loss"))
        self.refused_by_us("no usable path; path a is inaccessible; path b is persistent-loss", target=target)

    def test_paths_to_different_devices(self):
        one, other = self.target("--device-id=one"), self.target("--device-id=other")
        self.refused_by_us("paths x and y lead to different devices \\(.* and .*\\): give each device a job of its own",
                           paths=f"x={one.uris['a']},y={other.uris['a']}")

    def test_paths_to_a_device_without_identity(self):
        target = self.target("--identify-by=none")
        self.refused_by_us("no identity .UUID, NGUID, EUI64; VPD 83h..*use one path", target=target)


class Reach(Refusal):
    """Targets that can't be reached, or are not what the path says."""

    def test_unknown_host(self):
        self.refused_by_us("path p0: host nosuch.invalid can't be resolved",
                           paths=f"nvme+tcp://nosuch.invalid/{lab.NQN}/1")

    def test_refused_port(self):
        with peers.closed_port() as address:
            self.refused_by_us(f"path p0: no connection to {address}: Connection refused",
                               paths=f"nvme+tcp://{address}/{lab.NQN}/1")

    def test_wrong_nqn(self):
        target = self.target()
        paths = target.uris["a"].replace(":target/", ":other/")
        self.refused_by_us("the target has no subsystem nqn.2025-01.io.fio-mpath:other here: check the NQN",
                           paths=paths, target=target)

    def test_missing_namespace(self):
        target = self.target("--namespaces=2")
        paths = target.uris["a"].removesuffix("/1") + "/7"
        self.refused_by_us("shows this host no namespace 7; there are: 1, 2", paths=paths, target=target)

    def test_target_out_of_controllers(self):
        # The first job takes them all; the second one's sentence counts what the run asks for.
        target = self.target("--controllers=2")
        run = self.run_fio("--rw=read", "--bs=4k", "--numjobs=2", "--min_paths=2", "--runtime=2", "--time_based",
                           paths=target.paths)
        self.assertEqual(1, run.returncode, str(run))
        self.assertRegex(run.text, "target is out of controllers: end other associations, or raise its limit "
                                   "\\(this run asks for 4 associations")

    def test_target_that_demands_tls(self):
        target = self.target("--demand-tls")
        self.refused_by_us("the target demands TLS, which this initiator does not speak", target=target)

    def test_target_that_demands_authentication(self):
        target = self.target("--demand-auth")
        self.refused_by_us("the target demands authentication \\(DH-HMAC-CHAP\\), which this initiator does not speak",
                           target=target)

    def test_garbage_after_icresp(self):
        target = self.target("--garbage", listeners=("name=a",))
        self.refused_by_us("path a: .*the target broke the protocol: ", target=target)

    def test_garbage_in_answer_to_connect(self):
        with peers.speaking(peers.IC_RESP, b"\xff" * 64) as address:
            self.refused_by_us("the target broke the protocol: ", paths=f"nvme+tcp://{address}/{lab.NQN}/1")

    def test_peer_that_speaks_text(self):
        for words in (b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"):
            with self.subTest(words), peers.speaking(words) as address:
                text = words.decode().splitlines()[0]
                self.refused_by_us(f"the peer is no NVMe/TCP target, it says \"{re.escape(text)}.*4420",
                                   paths=f"nvme+tcp://{address}/{lab.NQN}/1")

    def test_peer_that_speaks_bytes(self):
        with peers.speaking(bytes(range(128, 200))) as address:
            self.refused_by_us("the peer is no NVMe/TCP target, it answers ICReq with the bytes 80",
                               paths=f"nvme+tcp://{address}/{lab.NQN}/1")

    def test_silent_peer(self):
        # Accepts and never answers: that this ends at all is what the time limit of every run shows.
        with peers.speaking() as address:
            self.refused_by_us(f"{address}: .*(no answer|ICResp)", paths=f"nvme+tcp://{address}/{lab.NQN}/1")

    def test_peer_that_closes(self):
        with peers.speaking(close=True) as address:
            self.refused_by_us(f"{address}: the connection ended", paths=f"nvme+tcp://{address}/{lab.NQN}/1")


class Device(Refusal):
    """Devices that can't be used, and jobs that don't fit them."""

    def test_block_size_that_is_no_multiple_of_the_lba(self):
        target = self.target("--block-size=4096")
        self.refused_by_us("bs= is 1000 bytes, no multiple of the device's block size of 4096 bytes", "--bs=1000",
                           target=target)

    def test_offset_that_is_no_multiple_of_the_lba(self):
        target = self.target("--block-size=4096")
        self.refused_by_us("start of this job .*is 512 bytes, no multiple of the device's block size", "--offset=512",
                           target=target)

    def test_offset_beyond_the_end(self):
        target = self.target(size="64M")
        self.refused_by_us("starts this job at byte 1073741824, beyond the end of the device of 67108864 bytes",
                           "--offset=1G", target=target)

    def test_metadata(self):
        target = self.target("--metadata=8")
        self.refused_by_us("namespace 1 is formatted with 8 bytes of metadata per block", target=target)

    def test_protection_information(self):
        target = self.target("--metadata=8", "--pi=1")
        self.refused_by_us("namespace 1 is formatted with (8 bytes of metadata|protection information)", target=target)


class Options(Refusal):
    """What fio offers and the engine can't do, and values that are none."""

    def test_what_fio_offers_and_we_cannot_do(self):
        for option, words in (("--create_serialize=0", "create_serialize=0 would look for the device only after"),
                              ("--nrfiles=2", "several files"),
                              ("--sync_file_range=write:8", "sync_file_range= is about the page cache"),
                              ("--pre_read=1", "pre_read= fills the page cache"),
                              ("--bs_unaligned", "bs_unaligned="),
                              ("--zonemode=zbd", "zone"),
                              ("--directory=.", "directory=")):
            with self.subTest(option), contextlib.ExitStack() as stack:
                target = lab.Target()
                stack.callback(self.release, target)
                self.refused_by_us(words, option, target=target)

    def test_offloaded_submission(self):
        self.refused("can't be used with offloaded submit", "--io_submit_mode=offload", target=self.target())

    def test_a_preferred_path_that_is_none_of_the_jobs(self):
        uri = f"nvme+tcp://127.0.0.1:1/{lab.NQN}/1"
        self.refused_by_us("iopolicy=preferred:c names none of the job's paths, which are a, b",
                           "--iopolicy=preferred:c", paths=f"a={uri},b={uri}")

    def test_values_that_are_none(self):
        for option, words in (("--iopolicy=best", "round-robin.*(\n.*)*queue-depth(\n|.)*numa"),
                              ("--nr_io_queues=0", "nr_io_queues|min value"), ("--nr_io_queues=2000", "max value"),
                              ("--queue_size=8", "min value"), ("--queue_size=2048", "max value"),
                              ("--min_paths=0", "min value"), ("--keep_alive_tmo=100000", "max value"),
                              ("--mpath_interval=1ms", "min value")):
            with self.subTest(option):
                self.refused(words, option, paths=f"nvme+tcp://127.0.0.1/{lab.NQN}/1")

    def test_host_names_that_are_none(self):
        for option, words in (("--hostnqn=abc", "hostnqn.*'abc' does not begin with 'nqn.'"),
                              ("--hostid=abc", "'abc' is not a UUID")):
            with self.subTest(option):
                self.refused_by_us(words, option, paths=f"nvme+tcp://127.0.0.1/{lab.NQN}/1")

    def test_unknown_option(self):
        self.refused("unrecognized option '--nr_io_qeues=1'", "--nr_io_qeues=1",
                     paths=f"nvme+tcp://127.0.0.1/{lab.NQN}/1")


if __name__ == "__main__":
    unittest.main()
