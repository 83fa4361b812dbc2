#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ANA states that change during a run: I/O follows them, in time or told by its own status, and nothing is lost."""
import faults
from faults import VERIFIED, Trouble

NON_OPTIMIZED_B = ("name=a,delay=8ms", "name=b,delay=8ms,ana=non-optimized")


class Ana(faults.Case):
    def changes(self, outcome, path="a"):
        return [text for text in outcome.texts("state", path) if "->" in text]

    def check_only(self, outcome, error):
        """Whatever was refused, was for this and went elsewhere."""
        for path in "ab":
            self.assertLessEqual(set(outcome.errors(path)), {error}, str(outcome))
        self.assertEqual([], outcome.events("lost"), str(outcome))


class Told(Ana):
    """With an event."""

    def test_controlled_failover_and_failback(self):
        # All that is read back comes after the failback.
        outcome = self.run_trouble("at 200ms on a ana change", "at 600ms on a ana inaccessible",
                                   "at 1s on a ana optimized", listeners=NON_OPTIMIZED_B, fio=(*VERIFIED, "--size=8M"))
        self.assertEqual(["optimized -> change", "change -> inaccessible", "inaccessible -> optimized"],
                         self.changes(outcome), str(outcome))
        self.assertLessEqual(set(outcome.errors("a")), {"ana_transition", "ana_inaccessible"}, str(outcome))
        heard = [event for event in outcome.events("state", "a") if event["detection_ns"] is not None]
        self.assertEqual(3, len(heard), str(outcome))
        for event in heard:
            self.check_noticed(outcome, event)
        self.assertGreater(outcome.served["b"]["writes"], 0, str(outcome))
        self.assertEqual(0, outcome.served["b"]["reads"], str(outcome))

    def test_changes_back_to_back_end_with_the_last(self):
        # Faster than the log is read, and than the next event can be asked for.
        troubles = {delay: Trouble((f"at 200ms for 1s on a command ana-log delay {delay}",
                                    "at 300ms every 20ms times 20 for 10ms on a ana inaccessible",
                                    f"at 710ms on a ana {last}"))
                    for delay, last in (("1ms", "non-optimized"), ("150ms", "non-optimized"), ("300ms", "optimized"))}
        for delay, outcome in self.together(troubles).items():
            with self.subTest(delay):
                self.check_only(outcome, "ana_inaccessible")
                self.assertEqual("optimized" if delay == "300ms" else "non-optimized", outcome.path("a")["state"],
                                 str(outcome))

    def test_a_log_of_300_groups_in_pieces(self):
        # Larger than MDTS; the second trouble's log never stands still while it is read.
        change = "at 300ms for 400ms on a group 300 ana inaccessible"
        target = ("--namespaces=300", "--mdts=8k")
        outcomes = self.together({
            "stands": Trouble((change,), target=target, nsid=300),
            "another group": Trouble((change,), target=target, nsid=299),
            "moves": Trouble(("at 200ms for 300ms on a lie ana-count-moves", change), target=target, nsid=300),
        })
        for label, outcome in outcomes.items():
            with self.subTest(label):
                self.check_only(outcome, "ana_inaccessible")
                self.assertEqual("optimized", outcome.path("a")["state"], str(outcome))
        there_and_back = ["optimized -> inaccessible", "inaccessible -> optimized"]
        self.assertEqual(there_and_back, self.changes(outcomes["stands"]))
        self.assertEqual([], self.changes(outcomes["another group"]))
        self.assertEqual({}, outcomes["another group"].errors("a"))
        outcomes["moves"].event("state", "a", "the ANA log changed each of the 8 times it was read; the path stays")


class Untold(Ana):
    """Without an event: the I/O's own status says it."""

    def test_a_status_moves_io_and_marks_the_path(self):
        classes = {"inaccessible": "ana_inaccessible", "persistent-loss": "ana_loss", "change": "ana_transition"}
        outcomes = self.together({state: Trouble((f"at 200ms on a ana {state} no-event",)) for state in classes})
        for state, outcome in outcomes.items():
            with self.subTest(state):
                self.check_only(outcome, classes[state])
                self.assertGreater(outcome.requeues()["a"], 0, str(outcome))
                self.assertEqual([f"optimized -> {state}"], outcome.texts("state", "a"), str(outcome))
                event = outcome.event("state", "a")
                self.assertEqual(outcome.requeues()["a"], event["requeues"], str(outcome))
                self.check_noticed(outcome, event)
                self.assertEqual(state, outcome.path("a")["state"])
                self.assertEqual(0, outcome.served["a"]["reads"], str(outcome))  # it never went back


class Nowhere(Ana):
    def test_io_is_held_while_no_path_is_usable_and_then_goes_on(self):
        outcomes = self.together({
            state: Trouble((f"at 200ms for 800ms on all ana {state}",))
            for state in ("inaccessible", "change")})
        for state, outcome in outcomes.items():
            with self.subTest(state):
                held = outcome.results["held"]
                self.assertEqual(8, held["count"], str(outcome))
                self.assertEqual(0, held["failed"], str(outcome))
                begin, end = outcome.fault_times("ana")[0], outcome.fault_times("ana", "end", "b")[0]
                slowest = outcome.results["response"]["write"]["max_ns"]
                self.assertGreater(slowest, (end - begin) // 2, str(outcome))
                self.assertLessEqual(held["max_ns"], slowest, str(outcome))
                # A bounce tells about the path; nobody asks it again before its state has changed.
                self.assertLessEqual(sum(outcome.requeues().values()), 2 * 8, str(outcome))

    def test_a_transition_beyond_twice_anatt_ends_the_path(self):
        # All that time the other one takes the I/O, and afterwards both.
        outcome = self.run_trouble("at 200ms for 2500ms on a ana change", target=("--anatt=1",),
                                   fio=(*faults.ENDLESS, "--runtime=5"))
        lost = outcome.event("lost", "a")
        self.assertIn("ANA group 1 is in the state change for 2 s, twice ANATT", lost["text"])
        changed = outcome.event("state", "a", "optimized -> change")
        self.assertGreaterEqual(lost["monotonic_ns"] - changed["monotonic_ns"], 2 * faults.SECOND, str(outcome))
        self.assertEqual([], outcome.events(path="b"), str(outcome))
        outcome.event("connected", "a")
        self.assertEqual("optimized", outcome.path("a")["state"], str(outcome))


class Log(Ana):
    """What can't be believed, or not be read, changes nothing."""
    SENTENCES = {
        "lie ana-group-0": "refused: the descriptor at byte 16 has group 0, the controller has groups 1 to 1",
        "lie ana-group-beyond": "refused: the descriptor at byte 16 has group 2, the controller has groups 1 to 1",
        "lie ana-state-0": "refused: group 1 has state 0h, which does not exist",
        "lie ana-state-7": "refused: group 1 has state 7h, which does not exist",
        "lie ana-nsids-beyond": "refused: ",
        "lie ana-groups-more": "refused: the descriptor at byte 52",
        "lie ana-groups-fewer": "the ANA log does not say to which group namespace 1 belongs",
        "command ana-log fail internal-error dnr": r"the controller refuses Get Log Page \(ANA\) with status 006h",
        "command ana-log fail internal-error": r"the controller refuses Get Log Page \(ANA\) with status 006h",
    }

    def test_a_lie_is_refused_and_the_truth_taken_later(self):
        troubles = {lie: Trouble((f"at 200ms for 500ms on a {lie}", "at 300ms on a ana non-optimized"))
                    for lie in self.SENTENCES}
        for lie, outcome in self.together(troubles).items():
            with self.subTest(lie):
                said = outcome.event("state", "a", "the path stays optimized")
                self.assertRegex(said["text"], self.SENTENCES[lie])
                self.assertEqual(["optimized -> non-optimized"], self.changes(outcome), str(outcome))
                self.assertEqual({}, outcome.errors("a"), str(outcome))

    def test_a_path_whose_log_was_never_read_is_not_used(self):
        outcome = self.run_trouble("on a command ana-log fail internal-error dnr")
        self.assertRegex(outcome.event("refused", "a")["text"], "refuses Get Log Page .ANA. with status 006h")
        self.assertEqual("given_up", outcome.kinds("a")[-1], str(outcome))
        self.assertEqual(0, outcome.served["a"]["writes"])


if __name__ == "__main__":
    faults.main()
