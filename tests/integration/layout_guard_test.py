#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Another release's fio refuses the engine in one sentence, instead of crashing in it.

It is Debian 13's fio, which scripts/fetch-foreign-fio unpacks below build/; without a network and without it there,
this is skipped.
"""
import pathlib
import subprocess
import unittest

import lab

FETCH_SECONDS = 300
SENTENCE = (r"^mpath: this engine was built for fio-3\.33 and can't run in this fio \(fio-3\.[0-9]+, .+\); build it "
            r"against the source of this fio\.$")

foreign = None


def setUpModule():
    global foreign
    if lab.PRELOAD:
        raise unittest.SkipTest("a foreign fio can't load this release's sanitizer libraries")
    foreign = lab.ROOT / "build/fio-foreign/trixie/fio"
    if not foreign.exists():
        done = subprocess.run([lab.ROOT / "scripts/fetch-foreign-fio"], capture_output=True, text=True,
                              timeout=FETCH_SECONDS, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise unittest.SkipTest(f"no second fio, and none can be fetched: {done.stderr[-200:]}")
        foreign = pathlib.Path(done.stdout.split()[-1])


class ForeignFio(lab.Case):
    def check(self, run):
        self.assertEqual(1, run.returncode, str(run))
        ours = [line for line in run.text.splitlines() if line.startswith("mpath: ")]
        self.assertEqual(1, len(ours), str(run))
        self.assertRegex(ours[0], SENTENCE)
        self.assertEqual([], lab.blocks_of(run.pid))

    def test_refuses_the_engine_in_one_sentence(self):
        target = self.target()
        for mode in ("--thread=0", "--thread=1"):
            with self.subTest(mode):
                self.check(self.run_fio("--rw=read", "--bs=4k", mode, paths=target.paths, fio=str(foreign)))
        self.assertEqual([0, 0], [listener["connections"] for listener in target.stop().values()])

    def test_refuses_a_job_file(self):
        self.check(self.run_fio(paths="nvme+tcp://127.0.0.1/nqn.x:y/1", fio=str(foreign), job_file="rw=read\n[job]\n"))

    def test_works_with_its_own_engines(self):
        run = self.finish(self.start([str(foreign), "--name=job", "--ioengine=null", "--size=1M"]))
        self.assertEqual(0, run.returncode, str(run))


if __name__ == "__main__":
    unittest.main()
