#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What each iopolicy makes of two paths of which the one listed first is 30 ms slower: jobfiles/policies.fio, its
visits made short."""
import re
import unittest

import lab

DEPTH = 16
PREFERRED = "preferred:b"


class Shares(lab.Case):
    """One run for all of it. Nothing here is a time: what is compared is how many I/Os visits of the same length did."""

    def ios_by_setting(self):
        """{setting: {path: reads}}, of a run that spends as long in each policy."""
        target = self.target(listeners=("name=a,delay=30600us", "name=b,delay=600us"))
        text = (lab.ROOT / "jobfiles/policies.fio").read_text()
        text = text.replace("${FIO_MPATH}", str(lab.ENGINE)).replace("${MPATH_PATHS}", target.paths)
        text = re.sub(r"(?m)^ramp_time=.*\n", "", text)
        text, steers = re.subn(r"(?m)^steer=(.*)", rf"steer=\1,{PREFERRED}@5s\nsteer_order=cycle\nsteer_settle=300ms", text)
        self.assertEqual(1, steers)
        visits = text.count("@5s") - 1  # one is in the comment
        text = re.sub("runtime=.*", f"runtime={visits * 1500}ms", text.replace("@5s", "@1500ms"))
        run = self.measure(job_file=text)
        record = run.record(prefix="policies")
        counts = {}
        for path in record["results"]["paths"]:
            for setting in path["settings"]:
                reads = setting["operations"]["read"]
                counts.setdefault(setting["name"], {})[path["name"]] = reads["count"] if reads else 0
        self.assertEqual(lab.fio_sums(run.jobs[0])["read"], sum(sum(paths.values()) for paths in counts.values()))
        return counts

    def test_are_what_each_policy_promises(self):
        counts = self.ios_by_setting()

        def share_of_b(setting):
            return counts[setting]["b"] / sum(counts[setting].values())

        self.assertEqual(1, share_of_b(PREFERRED))
        self.assertEqual(0, share_of_b("numa"))
        self.assertAlmostEqual(0.5, share_of_b("round-robin"), delta=0.01)
        for setting in ("queue-depth", "service-time", "latency"):
            with self.subTest(setting):
                self.assertGreater(share_of_b(setting), 0.8)
                self.assertGreater(counts[setting]["a"], 0)

        total = {setting: sum(paths.values()) for setting, paths in counts.items()}
        # What the fast ones make of it beside each other is a matter of the machine, and of who else uses it.
        for slow, fast in (("numa", "round-robin"), ("round-robin", "queue-depth"), ("round-robin", "service-time"),
                           ("round-robin", "latency"), ("round-robin", PREFERRED)):
            with self.subTest(slow=slow, fast=fast):
                self.assertLess(1.3 * total[slow], total[fast], total)


if __name__ == "__main__":
    unittest.main()
