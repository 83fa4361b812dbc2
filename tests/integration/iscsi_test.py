#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""iSCSI paths through the distribution's fio: data, limits, CHAP, discovery, and NVMe/TCP beside them in one job file."""
import json
import os
import pathlib
import subprocess
import unittest

import lab

TWO_PORTALS = {"listeners": (), "portals": ("name=a", "name=b")}
VERIFIED = ("--rw=randwrite", "--size=8m", "--iodepth=16", "--verify=crc32c", "--verify_fatal=1")
MIB = 1 << 20


class Data(lab.Case):
    def check_verified(self, target, *options):
        run = self.run_fio("--output-format=json", *VERIFIED, *options, paths=target.paths)
        self.assertEqual(0, run.returncode, str(run))
        (job,) = run.jobs
        self.assertEqual(8 * MIB, job["read"]["io_bytes"])
        self.assertEqual(lab.fio_sums(job), lab.our_sums(job))
        return run

    def test_is_what_was_written_whatever_the_target_makes_of_a_transfer(self):
        targets = {
            "as it comes": (),
            "small pieces": ("--max-receive=8k", "--max-burst=16k", "--first-burst=4k", "--r2t-size=4k",
                             "--c2h-size=1000", "--max-r2t=2"),
            "asked for only": ("--initial-r2t", "--no-immediate-data"),
            "unasked only": ("--no-immediate-data",),
            "status apart": ("--no-success-flag",),
            "all at random": ("--vary", "1", "--reorder"),
            "a small window": ("--queue-size=4",),
        }
        for name, options in targets.items():
            with self.subTest(name):
                self.check_verified(self.target(*options, **TWO_PORTALS), "--bsrange=4k-256k")

    def test_with_digests_and_several_sessions(self):
        target = self.target(**TWO_PORTALS)
        for options in (("--hdr_digest=1",), ("--data_digest=1",), ("--hdr_digest=1", "--data_digest=1")):
            for sessions in (1, 4):
                with self.subTest(options=options, sessions=sessions):
                    self.check_verified(target, "--bsrange=4k-128k", f"--nr_io_queues={sessions}", *options)
        self.assertEqual(0, target.stop()["a"]["violations"])

    def test_of_several_jobs_at_once(self):
        target = self.target(**TWO_PORTALS)
        run = self.run_fio("--output-format=json", *VERIFIED, "--bs=4k", "--numjobs=4", "--offset_increment=8m",
                           paths=target.paths)
        self.assertEqual(0, run.returncode, str(run))
        self.assertEqual([8 * MIB] * 4, [job["read"]["io_bytes"] for job in run.jobs])

    def test_trims_writes_zeroes_flushes_and_forces_unit_access(self):
        target = self.target(**TWO_PORTALS)
        for options in (("--rw=randtrim", "--bs=64k"), ("--rw=write", "--bs=64k", "--write_mode=zeroes"),
                        ("--rw=write", "--bs=4k", "--fsync=1"), ("--rw=write", "--bs=4k", "--sync=dsync")):
            with self.subTest(options):
                run = self.run_fio("--output-format=json", "--size=1m", *options, paths=target.paths)
                self.assertEqual(0, run.returncode, str(run))
        served = target.stop()
        for counter in ("deallocates", "write_zeroes", "flushes", "fua_writes"):
            self.assertGreater(sum(portal[counter] for portal in served.values()), 0, served)

    def test_first_io_meets_no_unit_attention(self):
        target = self.target(**TWO_PORTALS)
        run = self.run_fio("--output-format=json", "--rw=randread", "--bs=4k", "--size=1m", paths=target.paths)
        for facts in lab.path_facts(run.jobs[0]).values():
            self.assertEqual((0, 0), (facts["errors"], facts["retries"]), str(run))


class Refusals(lab.Case):
    def refused(self, sentence, *options, target=None, paths=None):
        run = self.run_fio("--rw=randread", "--bs=4k", "--size=1m", *options, paths=paths or target.paths)
        self.assertNotEqual(0, run.returncode, str(run))
        self.assertRegex(run.text, sentence)

    def test_trim_where_the_lun_cannot(self):
        self.refused("trim", "--rw=randtrim", target=self.target("--no-trim", **TWO_PORTALS))

    def test_writes_to_a_write_protected_lun(self):
        self.refused("write.protected", "--rw=randwrite", target=self.target("--read-only", **TWO_PORTALS))

    def test_a_lun_that_is_not_there(self):
        uri = self.target(**TWO_PORTALS).uris["a"]
        self.refused("LUN 7", paths=uri.rpartition("/")[0] + "/7")

    def test_a_target_that_is_not_there(self):
        uri = self.target(**TWO_PORTALS).uris["a"]
        self.refused("target", paths="iscsi://" + uri.split("/")[2] + "/iqn.2025-01.io.fio-mpath:other/0")

    def test_a_secret_in_a_uri(self):
        uri = self.target(**TWO_PORTALS).uris["a"]
        run = self.run_fio("--rw=randread", "--bs=4k", "--size=1m",
                           paths=uri.replace("iscsi://", "iscsi://alice%25verysecretword@"))
        self.assertNotEqual(0, run.returncode)
        self.assertIn("chap_secret_file", run.text)


class Chap(lab.Case):
    OWN, TARGETS = "a-secret-of-ours-0", "a-secret-of-theirs"

    def secrets(self, name, *lines):
        file = self.folder / name
        file.write_text("".join(f"{line}\n" for line in lines))
        file.chmod(0o600)
        return file

    def job(self, target, secrets, user="alice"):
        return self.run_fio("--rw=randread", "--bs=4k", "--size=1m", f"--chap_user={user}",
                            f"--chap_secret_file={secrets}", "--mpath_log=record", paths=target.paths)

    def test_one_way_mutual_and_wrong(self):
        known = self.secrets("target", self.OWN, self.TARGETS)
        target = self.target("--chap-user=alice", f"--chap-secret-file={known}", **TWO_PORTALS)
        for name, lines in (("one way", [self.OWN]), ("mutual", [self.OWN, self.TARGETS])):
            with self.subTest(name):
                run = self.job(target, self.secrets(name.replace(" ", "-"), *lines))
                self.assertEqual(0, run.returncode, str(run))
                record = json.dumps(run.record()) + run.text
                for secret in (self.OWN, self.TARGETS):
                    self.assertNotIn(secret, record)
        for name, lines, user in (("wrong", ["no-secret-of-ours-0"], "alice"), ("user", [self.OWN], "bob"),
                                  ("target", [self.OWN, "no-secret-of-theirs"], "alice")):
            with self.subTest(name):
                run = self.job(target, self.secrets(name, *lines), user)
                self.assertNotEqual(0, run.returncode, str(run))
                self.assertRegex(run.text, "(?i)chap|authenticat|prove")

    def test_a_file_that_others_can_read(self):
        open_to_all = self.secrets("open", self.OWN)
        open_to_all.chmod(0o644)
        run = self.job(self.target(**TWO_PORTALS), open_to_all)
        self.assertNotEqual(0, run.returncode)
        self.assertRegex(run.text, "chap_secret_file=.*open")

    def test_the_job_file_for_it(self):
        known = self.secrets("target", self.OWN)
        target = self.target("--chap-user=alice", f"--chap-secret-file={known}", **TWO_PORTALS)
        words = {"FIO_MPATH": str(lab.ENGINE), "MPATH_PATHS": target.paths, "CHAP_USER": "alice",
                 "CHAP_SECRETS": str(known)}
        os.environ |= words
        self.addCleanup(lambda: [os.environ.pop(word) for word in words])
        text = (lab.ROOT / "jobfiles/chap.fio").read_text().replace("runtime=5", "runtime=1")
        job = self.folder / "chap.fio"
        job.write_text(text)
        run = self.finish(self.start(["fio", str(job)]))
        self.assertEqual(0, run.returncode, str(run))


class Discovery(lab.Case):
    def test_finds_the_portals_that_are_not_listed(self):
        target = self.target(**TWO_PORTALS)
        run = self.run_fio("--output-format=json", "--rw=randread", "--bs=4k", "--size=1m", "--discover=1",
                           "--min_paths=2", paths=f"a={target.uris['a']}")
        self.assertEqual(0, run.returncode, str(run))
        self.assertEqual({"a", "p1"}, set(lab.path_results(run.jobs[0])))

    def command(self, *words):
        done = subprocess.run([lab.COMMAND, *words], capture_output=True, text=True, timeout=lab.SECONDS, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def test_by_command_tells_portals_and_luns(self):
        target = self.target("--namespaces=3", **TWO_PORTALS)
        found = json.loads(self.command("discover", "--json", f"iscsi://{target.listeners['b']}"))
        (one,) = found["targets"]
        self.assertEqual([target.listeners["a"], target.listeners["b"]], [each["portal"] for each in one["portals"]])
        self.assertEqual([0, 1, 2], one["luns"])
        self.assertIn("paths=iscsi://", self.command("discover", f"iscsi://{target.listeners['a']}"))

    def test_paths_tells_what_is_there(self):
        target = self.target(listeners=(), portals=("name=a", "name=b,ana=standby"))
        found = json.loads(self.command("paths", "--json", *target.uris.values()))
        self.assertTrue(found["same_device"])
        self.assertEqual([("optimized", None), ("inaccessible", "standby")],
                         [(path["state"], path["state_name"]) for path in found["paths"]])
        table = self.command("paths", *target.uris.values())
        self.assertIn("inaccessible (standby)", table)
        self.assertIn("all 2 paths lead to this device", table)


class BothProtocols(lab.Case):
    def test_in_one_job_file_one_table_and_one_set_of_records(self):
        target = self.target(listeners=("name=n",), portals=("name=s",))
        paths = {word.split("=")[1]: word.removeprefix("paths=").strip()
                 for word in target.output if word.startswith("paths=")}
        common = "rw=randrw\nbs=4k\niodepth=8\ntime_based\nruntime=1\n"
        jobs = "".join(f"[{name}]\npaths={paths[name]}\n{common}" for name in "ns")
        file = self.folder / "both.fio"
        file.write_text(f"[global]\nioengine=external:{lab.ENGINE}\nmpath_log=record\n"
                        f"{'thread' + chr(10) if lab.PRELOAD else ''}{jobs}")
        run = self.finish(self.start(["fio", str(file)]))
        self.assertEqual(0, run.returncode, str(run))
        records = run.records()
        protocols = [record["conditions"]["paths"][0]["protocol"] for _, record in sorted(records.items())]
        self.assertEqual(["nvme-tcp", "iscsi"], protocols)
        iscsi = records[2]["conditions"]
        self.assertTrue(iscsi["initiator"].startswith("iqn."), iscsi["initiator"])
        self.assertTrue(iscsi["paths"][0]["immediate_data"])
        self.assertIsNone(iscsi["paths"][0]["subsystem"])
        self.assertIsNone(records[1]["conditions"]["initiator"])
        self.assertRegex(run.stdout, r"(?s)mpath: n: .*mpath: s: ")

    def test_as_the_job_file_for_it_compares_them(self):
        target = self.target(listeners=("name=n",), portals=("name=s",), size="8M")
        lines = [line.removeprefix("paths=").strip() for line in target.output if line.startswith("paths=")]
        words = {"FIO_MPATH": str(lab.ENGINE), "NVME_PATHS": lines[0], "ISCSI_PATHS": lines[1]}
        os.environ |= words
        self.addCleanup(lambda: [os.environ.pop(word) for word in words])
        text = (lab.ROOT / "jobfiles/protocols.fio").read_text()
        text = text.replace("runtime=10", "runtime=1").replace("ramp_time=1", "ramp_time=0")
        if lab.PRELOAD:
            text = text.replace("[global]", "[global]\nthread")
        job = pathlib.Path(self.folder) / "protocols.fio"
        job.write_text(text)
        run = self.finish(self.start(["fio", "--output-format=json", str(job)]))
        self.assertEqual(0, run.returncode, str(run))
        self.assertEqual(["fill-nvme", "fill-iscsi", "nvme-1", "iscsi-1", "nvme-4", "iscsi-4"],
                         [each["jobname"] for each in run.jobs])
        for each in run.jobs[2:]:
            self.assertGreater(each["read"]["total_ios"], 0)


if __name__ == "__main__":
    unittest.main()
