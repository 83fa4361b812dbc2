#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Rounds of random ANA changes and path losses under verify: as long as one path is usable, nothing fails.

Environment:
    MPATH_ROUNDS       how many rounds; without it, as many as begin within 40 s
    MPATH_SEED         a seed that was printed: the same rounds again; SEED.ROUND: that round alone

What is done to whom and when, and what the job is, follow from the seed. Which I/O is on its way then does not.
"""
import json
import os
import random
import time
import unittest

import faults

SECONDS = 40
AT_ONCE = 8
SEED, _, ONLY = os.environ.get("MPATH_SEED", str(random.SystemRandom().randrange(1 << 31))).partition(".")
ROUNDS = int(os.environ.get("MPATH_ROUNDS", "0"))

STATES = ("ana inaccessible", "ana change", "ana persistent-loss", "ana non-optimized", "ana inaccessible no-event",
          "fail ana-transition", "fail ana-inaccessible", "fail ana-persistent-loss", "fail internal-path-error",
          "command ana-log delay 50ms", "command ana-log fail internal-error")
LOSSES = ("drop", "close", "down", "refuse-connects", "reject-connects", "queue 1 drop", "queue 0 close", "fatal",
          "reset", "mute", "stall-reading", "stall-writing", "queue 1 stall-writing", "command io mute count 3",
          "command keep-alive mute", "flip header", "hold-writes 200ms")
# By themselves they harm nobody; together with the others they change what comes when.
NUISANCES = ("delay 20ms", "split 100", "split-data 512", "reorder")
AT_ONCE_OVER = ("drop", "close", "fatal", "reset")  # these can't last


# Of iSCSI, beside what both have.
ISCSI_STATES = ("ana standby", "ana unavailable", "ana change", "ana offline", "ana non-optimized",
                "fail sense 2/04/0a", "fail sense 2/04/0b", "fail sense 6/2a/06 count 3", "fail sense 6/29/00 count 3",
                "command port-groups delay 50ms", "command port-groups fail busy")
ISCSI_LOSSES = ("drop", "close", "down", "refuse-connects", "reject-connects", "mute", "stall-reading", "stall-writing",
                "command io mute count 3", "command nop mute", "flip header", "hold-writes 200ms", "async logout 500ms")


class Round:
    """What round `number` does: a function of the seed."""

    def __init__(self, number):
        chance = random.Random(f"{SEED}.{number}")
        self.number = number
        self.paths = chance.choice(("ab", "abcd"))
        self.spared = chance.choice(self.paths)
        in_trouble = [path for path in self.paths if path != self.spared]
        self.protocol = chance.choice(("nvme", "iscsi"))
        kinds = (STATES, LOSSES) if self.protocol == "nvme" else (ISCSI_STATES, ISCSI_LOSSES)
        actions = [chance.choice(kind) for kind in kinds for _ in range(3)] + [chance.choice(NUISANCES)]
        self.script = []
        when = 100
        while when < 2600:
            action = chance.choice(actions)
            over = action.split()[-1] in AT_ONCE_OVER or action.startswith("async")
            lasts = "" if over else f" for {chance.randint(20, 400)}ms"
            self.script.append(f"at {when}ms{lasts} on {chance.choice(in_trouble)} {action}")
            when += chance.randint(20, 2000 // len(in_trouble) // 2)
        self.job = (f"--iopolicy={chance.choice(('round-robin', 'queue-depth', 'numa'))}",
                    # Where reads are mixed in, fio itself finds fault with its blocks unless randrepeat is set.
                    *chance.choice((("--rw=write",), ("--rw=randwrite", "--randrepeat=0"), ("--rw=randrw",))),
                    f"--bs={chance.choice(('4k', '16k'))}",
                    f"--iodepth={chance.choice((1, 4, 16, 32))}", f"--nr_io_queues={chance.choice((1, 1, 2))}",
                    f"--io_timeout={chance.choice((300, 800))}ms", "--hdr_digest=1",
                    f"--data_digest={chance.choice((0, 1))}")

    def trouble(self):
        # Pass after pass, not time_based: only then does fio see that a block is an older one.
        return faults.Trouble(tuple(self.script), protocol=self.protocol,
                              listeners=tuple(f"name={path},delay=2ms" for path in self.paths),
                              fio=(*self.job, "--size=2m", "--loops=1000000", "--runtime=3", "--verify=crc32c",
                                   "--verify_fatal=1"))

    def __str__(self):
        return "\n".join((f"MPATH_SEED={SEED}.{self.number}: {self.protocol}", " ".join(self.job), *self.script))


class Random(faults.Case):
    def rounds(self):
        if ONLY:
            return iter([[int(ONLY)]])
        end = time.monotonic() + SECONDS
        first = 0
        while first < ROUNDS or (not ROUNDS and time.monotonic() < end):
            count = min(AT_ONCE, ROUNDS - first) if ROUNDS else AT_ONCE
            yield range(first, first + count)
            first += count

    def test_nothing_fails_as_long_as_one_path_is_usable(self):
        print(f"MPATH_SEED={SEED}", flush=True)
        outcomes, unfit = [], 0
        for numbers in self.rounds():
            running = [(each, self.start_trouble(each.trouble())) for each in map(Round, numbers)]
            for each, started in running:
                with self.subTest(str(each)):
                    outcome = self.end_round(started)
                    # On a machine that stands still for a second, that path is lost as well: no such round as meant.
                    if outcome.events("lost", each.spared):
                        unfit += 1
                        continue
                    outcomes.append(outcome)
                    self.check_round(outcome)
        lost = sum(len(outcome.events("lost")) for outcome in outcomes)
        states = sum(" -> " in event["text"] for outcome in outcomes for event in outcome.events("state"))
        requeues = sum(sum(outcome.requeues().values()) for outcome in outcomes)
        print(f"{len(outcomes)} rounds: {lost} paths lost, {states} states changed, {requeues} I/Os sent again; "
              f"{unfit} further rounds lost the path that was to be spared", flush=True)
        self.assertGreater(requeues, len(outcomes))

    def end_round(self, started):
        """Whatever else happens to the paths, data is right."""
        _, target, fio = started
        run = self.finish(fio)
        log = target.fault_log.read_text().splitlines()
        outcome = faults.Outcome(run, target.stop(), [json.loads(line) for line in log])
        self.assertNotIn("verify:", run.text, str(outcome))
        return outcome

    def check_round(self, outcome):
        self.assertEqual(0, outcome.run.returncode, str(outcome))
        self.check_books(outcome)
        self.assertFalse(outcome.results["held"] and outcome.results["held"]["failed"], str(outcome))
        for path in outcome.results["paths"]:
            self.assertEqual(0, path["exposed_writes"], str(outcome))  # verify= holds writes


if __name__ == "__main__":
    unittest.main()
