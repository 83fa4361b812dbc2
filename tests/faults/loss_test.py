#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every way to lose a path: the other one goes on, nothing is lost of what was written, and it is told why."""
import errno

import faults
from faults import Trouble


class Loss(faults.Case):
    def check_loss(self, outcome, cause):
        self.check_lost_for(outcome, "a", cause)
        self.check_noticed(outcome, outcome.event("lost", "a"))
        self.check_untouched(outcome, "b")


class Connections(Loss):
    """What ends them at once."""
    CAUSES = {
        "drop": "the connection broke: Connection reset",
        "close": "the peer closed the connection",
        "down": "the connection broke: Connection reset",
        "queue 1 drop": "the connection broke: Connection reset",
        "queue 1 close": "the peer closed the connection",
        "queue 0 drop": "the connection broke: Connection reset|the peer closed the connection",  # those of I/O
        "queue 0 close": "the peer closed the connection",
        "fatal": "the controller reports a fatal error",
        "reset": "the peer closed the connection|the controller",
    }

    def script(self, action):
        if "queue 0" in action or action == "fatal":  # which sees no writes; after which they are answered
            return "after 100 writes on a delay 30s count 8", f"at 2s on a {action}"
        if action == "down":
            return faults.when_stuck("for 500ms on a down")
        return faults.when_stuck(f"on a {action}")

    def test_each(self):
        outcomes = self.together({action: Trouble(self.script(action)) for action in self.CAUSES})
        for action, outcome in outcomes.items():
            with self.subTest(action):
                self.check_loss(outcome, self.CAUSES[action])
                self.assertEqual({"path_down": 8}, outcome.errors("a"), str(outcome))
                self.assertEqual(8, outcome.requeues()["a"], str(outcome))
                self.assertEqual(8, outcome.event("lost", "a")["requeues"], str(outcome))
                self.assertEqual("connected", outcome.kinds("a")[-1], str(outcome))


class Silence(Loss):
    """Nothing ends a connection, and nothing comes any more."""
    KEEP_ALIVE = "no answer to Keep Alive within 1.0 s"
    DEADLINE = "no answer to an I/O within 1000 ms"
    CAUSES = {
        "mute": KEEP_ALIVE,
        "command keep-alive mute": KEEP_ALIVE,
        "stall-writing": KEEP_ALIVE,
        "stall-reading": KEEP_ALIVE,
        "command io mute": DEADLINE,
        "queue 1 stall-writing": DEADLINE,
        "queue 1 stall-reading": DEADLINE,
    }

    def trouble(self, action):
        # Whoever does not read finds keep-alives missing, too, and would drop the connection first.
        options = ("--io_timeout=1s",) if self.CAUSES[action] == self.DEADLINE else ()
        return Trouble((f"at 300ms for 3s on a {action}",), fio=(*faults.VERIFIED, *options),
                       target=("--no-enforce-kato",))

    def test_each(self):
        for action, outcome in self.together({action: self.trouble(action) for action in self.CAUSES}).items():
            with self.subTest(action):
                self.check_loss(outcome, self.CAUSES[action])
                event = outcome.event("lost", "a")
                if action != "command keep-alive mute":
                    # In the end all of the job waits for path a, and then as long as verify= holds writes.
                    self.assertEqual(8, event["requeues"], str(outcome))
                    self.assertGreater(event["gap_ns"], 2 * faults.SECOND, str(outcome))


class Neighbours(Loss):
    """What has nothing to do with the path in trouble."""

    def test_io_on_the_other_path_goes_on_while_one_is_silent(self):
        # This policy does not give ever more I/O to a path that returns none.
        outcome = self.run_trouble("at 500ms on a mute", fio=(*faults.ENDLESS, "--iopolicy=queue-depth",
                                                              "--runtime=3", "--mpath_interval=100ms"))
        lost = outcome.event("lost", "a")
        silent = [interval for interval in outcome.intervals() if
                  lost["monotonic_ns"] - lost["detection_ns"] < interval["monotonic_ns"] <= lost["monotonic_ns"]]
        self.assertGreater(sum(faults.ios_of(interval, "b") for interval in silent), 50, str(outcome))
        self.assertEqual([], outcome.events(path="b"), str(outcome))

    def test_a_job_on_the_other_path_does_not_notice(self):
        target = self.target(listeners=faults.TWO_PATHS)
        target.tell("at 500ms on a down")
        job = "".join(f"[{path}]\npath={path}\nrw=randrw\nbs=4k\nsize=8m\ntime_based\nruntime=2\n" for path in "ab")
        run = self.run_fio("--output-format=json", paths=target.paths,
                           job_file=f"reconnect_delay=1\nctrl_loss_tmo=1\nmpath_log=record\niodepth=8\n{job}")
        lost, well = (faults.Outcome(run, {}, [], number) for number in (1, 2))
        self.assertEqual([], well.events(), str(well))
        self.assertEqual({}, well.errors("b"), str(well))
        self.assertEqual("given_up", lost.kinds("a")[-1], str(lost))
        self.assertEqual(1, run.returncode, str(lost))
        self.assertEqual([errno.EIO, 0], [job["error"] for job in well.jobs], str(well))
        self.assertGreater(well.jobs[1]["job_runtime"], 1990, str(well))


if __name__ == "__main__":
    faults.main()
