#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A namespace that is resized, removed or exchanged during a run."""
import errno

import faults
from faults import ENDLESS, Trouble

OUT_OF_RANGE = (r"fio: (read|write) of 4096 bytes at offset ([0-9]+) on path [ab]: the device refused it, "
                r"status 080h \(LBA Out of Range\)")


class Device(faults.Case):
    def check_no_io_on(self, outcome, path, since):
        """What was on its way then has had an interval to end."""
        for interval in [each for each in outcome.intervals() if each["monotonic_ns"] > since][2:]:
            self.assertEqual(0, faults.ios_of(interval, path), str(outcome))


class Resize(Device):
    def test_bigger_is_told_and_changes_nothing(self):
        outcome = self.run_trouble("at 300ms on all resize 128M")
        for path in "ab":
            self.assertEqual(["resized from 67108864 to 134217728 bytes"], outcome.texts("namespace_changed", path))
            self.assertEqual({}, outcome.errors(path))

    def test_smaller_is_told_and_io_beyond_the_end_fails_by_name(self):
        outcome = self.run_trouble("at 300ms on all resize 4M", fio=(*ENDLESS, "--runtime=3"), exits=1)
        self.assertEqual(errno.EIO, outcome.jobs[0]["error"], str(outcome))
        self.assertRegex(outcome.run.stderr, OUT_OF_RANGE)
        offsets = [int(line.split("offset ")[1].split()[0]) for line in outcome.run.stderr.splitlines()
                   if "LBA Out of Range" in line]
        self.assertGreaterEqual(min(offsets), 4 << 20, str(outcome))
        for path in "ab":
            self.assertLessEqual(set(outcome.errors(path)), {"io_error"}, str(outcome))

    def test_smaller_does_not_matter_to_a_job_before_the_new_end(self):
        outcome = self.run_trouble("at 300ms on all resize 12M", "at 400ms on a drop")
        self.assertEqual(["resized from 67108864 to 12582912 bytes"], outcome.texts("namespace_changed", "b"))
        self.assertEqual("connected", outcome.kinds("a")[-1], str(outcome))


class Remove(Device):
    def test_on_one_path_is_a_path_lost(self):
        # What is on its way then may be refused by the device before the path is known to be lost.
        outcome = self.run_trouble("at 300ms for 500ms on a remove", lost_io=None,
                                   fio=(*ENDLESS, "--runtime=3", "--continue_on_error=io"))
        self.assertEqual(["namespace 1 was removed"], outcome.texts("namespace_changed", "a"), str(outcome))
        self.assertRegex(outcome.event("lost", "a")["text"], "namespace 1 was removed$")
        self.assertLessEqual(set(outcome.errors("a")), {"io_error", "path_down"}, str(outcome))
        self.assertEqual("connected", outcome.kinds("a")[-1], str(outcome))
        self.check_untouched(outcome, "b")

    def test_for_good_refuses_the_path_with_a_sentence(self):
        outcome = self.run_trouble("at 300ms on a remove", lost_io=None,
                                   fio=(*ENDLESS, "--runtime=3", "--continue_on_error=io"))
        self.assertRegex(outcome.event("refused", "a")["text"], "no namespace 1")
        self.assertEqual([], outcome.events("connected", "a"), str(outcome))
        self.assertEqual({}, outcome.errors("b"), str(outcome))


class Exchange(Device):
    SENTENCE = "it leads to another device now"

    def test_a_path_that_comes_back_to_another_device_is_refused_and_never_used(self):
        outcome = self.run_trouble("at 300ms on a identity another", "at 300ms on a drop",
                                   fio=(*ENDLESS, "--runtime=4", "--mpath_interval=100ms"))
        self.assertIn(self.SENTENCE, outcome.event("refused", "a")["text"])
        self.assertEqual([], outcome.events("connected", "a"), str(outcome))
        self.check_no_io_on(outcome, "a", outcome.event("lost", "a")["monotonic_ns"])
        # Every command that the target carried out there was sent before: answered, or lost with the connection.
        carried_out = outcome.served["a"]["reads"] + outcome.served["a"]["writes"]
        answered = sum(setting["operations"][operation]["count"] for setting in outcome.path("a")["settings"]
                       for operation in ("read", "write"))
        self.assertLessEqual(carried_out, answered + outcome.path("a")["errors"]["path_down"], str(outcome))
        self.assertEqual([], outcome.events(path="b"), str(outcome))

    def test_it_is_used_again_when_it_leads_to_the_device_again(self):
        outcome = self.run_trouble("at 300ms for 1500ms on a identity another", "at 300ms on a drop",
                                   fio=(*ENDLESS, "--runtime=4"))
        self.assertEqual(["lost", "refused", "connected"], outcome.kinds("a"), str(outcome))

    def test_with_no_other_path_io_waits_and_fails(self):
        outcome = self.run_trouble("at 300ms on all identity another", "at 300ms on all drop", exits=1,
                                   fio=(*ENDLESS, "--runtime=8", "--ctrl_loss_tmo=2"))
        for path in "ab":
            self.assertIn(self.SENTENCE, outcome.event("refused", path)["text"])
            self.assertEqual("given_up", outcome.kinds(path)[-1], str(outcome))
        self.assertEqual(8, outcome.results["held"]["failed"], str(outcome))


if __name__ == "__main__":
    faults.main()
