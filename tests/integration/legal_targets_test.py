#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A property: whatever a target chooses of what the standard allows, what was written is read back.

Each connection of `fio-mpath target --vary SEED` makes choices of its own, so every run of fio below tries as many as it
has jobs, paths and queues. The seed is printed; MPATH_SEED=N does the same again, MPATH_RUNS=N more or less of it.
"""
import os
import random
import sys
import unittest

import lab

RUNS = int(os.environ.get("MPATH_RUNS", "10"))
JOBS = 3


class LegalTargets(lab.Case):
    def test_are_read_back_as_written(self):
        seed = int(os.environ.get("MPATH_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"MPATH_SEED={seed}", file=sys.stderr, flush=True)
        connections = 0
        for number in range(RUNS):
            choose = random.Random(f"{seed} {number}")
            queues = choose.randint(2, 6)
            with self.subTest(seed=seed, run=number):
                self.round(choose, queues)
            connections += JOBS * 2 * queues
        print(f"{connections} connections with choices of their own", file=sys.stderr)

    def round(self, choose, queues):
        block = choose.choice((512, 4096))
        target = self.target(f"--vary={choose.randrange(1 << 32)}", f"--block-size={block}",
                             f"--in-capsule={choose.choice((0, 512, 4096, 8192, 65536))}",
                             f"--mdts={choose.choice(('8K', '128K', '1M', '0'))}")
        options = ["--mpath_log=record", "--rw=randwrite", f"--bssplit={block}/20:4k/30:20k/30:128k/15:1m/5", "--size=3M",
                   "--verify=crc32c", "--verify_fatal=1", f"--iodepth={choose.choice((1, 4, 16, 64))}",
                   f"--nr_io_queues={queues}", f"--queue_size={choose.choice((16, 64))}", f"--numjobs={JOBS}",
                   "--offset_increment=4M", f"--randseed={choose.randrange(1 << 32)}",
                   f"--hdr_digest={choose.randint(0, 1)}", f"--data_digest={choose.randint(0, 1)}",
                   f"--hpda={choose.choice((0, 0, 1, 15, 31))}", f"--max_r2t={choose.choice((1, 2, 16))}",
                   f"--iopolicy={choose.choice(('round-robin', 'queue-depth'))}"]
        run = self.measure(*options, paths=target.paths, seconds=3 * lab.SECONDS)
        self.assertEqual(JOBS * 3 * lab.MIB, sum(job["read"]["io_bytes"] for job in run.jobs), str(run))
        for record in run.records().values():
            for path in record["results"]["paths"]:
                self.assertEqual(0, path["traffic"]["protocol_violations"], str(run))
        served = target.stop()
        self.assertEqual(0, sum(listener["violations"] + listener["refused"] for listener in served.values()), str(run))


if __name__ == "__main__":
    unittest.main()
