#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Jobs that end while their paths are in trouble."""
import json
import signal

import faults
import lab
import schema
from faults import ENDLESS, Trouble

AWAY = {"lost": "at 300ms on all down", "inaccessible": "at 300ms on all ana inaccessible",
        "silent": "at 300ms on all mute"}


class Ending(faults.Case):
    """In bounded time, saying so, with a whole record; although their paths are away and may return for ever."""

    def start_all(self, *options):
        """{what: (trouble, target, fio)}, when all of it has happened."""
        running = {what: self.start_trouble(Trouble((script,), exits=1, fio=(
            *ENDLESS, "--ctrl_loss_tmo=-1", "--mpath_interval=100ms", *options))) for what, script in AWAY.items()}
        for what, (_, target, _) in running.items():
            lab.wait_until(lambda log=target.fault_log: '"listener":"b"' in log.read_text(), f"{what}: the fault")
        return running

    def test_ctrl_c(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            running = self.start_all("--runtime=600")
            for _, _, fio in running.values():
                fio.send_signal(number)
            for what, (_, target, fio) in running.items():
                with self.subTest(what, signal=number):
                    run = self.finish(fio)
                    outcome = faults.Outcome(run, target.stop(), [])
                    self.assertNotEqual(0, run.returncode, str(outcome))
                    self.assertIs(True, outcome.record["complete"])
                    self.assertRegex(run.stderr, "Operation canceled")
                    self.assertEqual([], lab.blocks_of(run.pid))

    def test_the_end_of_the_runtime(self):
        for what, started in self.start_all("--runtime=1").items():
            with self.subTest(what):
                outcome = self.end_trouble(started)
                self.assertRegex(outcome.run.stderr, "Operation canceled")

    @lab.needs_processes
    def test_a_killed_job_leaves_its_last_checkpoint(self):
        running = self.start_all("--runtime=600")
        for what, (_, _, fio) in running.items():
            with self.subTest(what):
                file = fio.folder / "record_mpath.1.json"
                kind = {"lost": "lost", "inaccessible": "state", "silent": "lost"}[what]
                lab.wait_until(lambda file=file, kind=kind: f'"{kind}"' in file.read_text(), "a checkpoint with it")
                lab.end_process(fio)
                record = json.loads(file.read_text())
                self.assertEqual([], schema.faults(record, schema.RECORD)[:5])
                self.assertIs(False, record["complete"])


if __name__ == "__main__":
    faults.main()
