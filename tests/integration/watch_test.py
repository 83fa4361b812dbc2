#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fio-mpath paths --watch: a line for each change of a path, while nobody does I/O."""
import re
import signal
import threading
import unittest

import lab

LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)  (p\d)  (\w+): (.+)\n")


class Watcher:
    """A running `fio-mpath paths --watch`, and what it has printed."""

    def __init__(self, case, *words):
        self.process = case.start([str(lab.COMMAND), "paths", "--watch", *words])
        self.lines = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        case.addCleanup(self.reader.join)
        case.addCleanup(lab.end_process, self.process)

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def changes(self):
        """(path, kind, text) of each."""
        return [match.groups()[1:] for match in map(LINE.fullmatch, self.lines) if match]

    def wait_for(self, path, kind, pattern, count=1):
        def found():
            return [text for where, what, text in self.changes()
                    if (where, what) == (path, kind) and re.search(pattern, text)]
        return lab.wait_until(lambda: len(found()) >= count and found(),
                              f"{path} {kind} {pattern}, only {self.lines}")

    def end(self, number=signal.SIGINT):
        """Its exit status."""
        self.process.send_signal(number)
        return self.result()

    def result(self):
        status = self.process.wait(lab.SECONDS)
        self.reader.join()
        return status


class Watch(lab.Case):
    def watch(self, target, *options, listeners="ab"):
        watcher = Watcher(self, *options, *(target.uris[name] for name in listeners))
        for place in range(len(listeners)):
            watcher.wait_for(f"p{place}", "connected", r"optimized \(group 1\), 67108864 bytes")
        return watcher

    def test_begins_with_what_there_is_and_says_nothing_as_long_as_nothing_changes(self):
        target = self.target()
        watcher = self.watch(target, "--for", "2s")
        self.assertEqual(0, watcher.result())
        self.assertEqual([f"p0  {target.uris['a']}\n", f"p1  {target.uris['b']}\n"], watcher.lines[:2])
        self.assertEqual(["connected"] * 2, [kind for _, kind, _ in watcher.changes()])
        served = target.stop()
        self.assertEqual([0, 0], [listener["reads"] + listener["writes"] for listener in served.values()])

    def test_tells_every_state(self):
        target = self.target()
        watcher = self.watch(target)
        for before, after in (("optimized", "change"), ("change", "inaccessible"),
                              ("inaccessible", "non-optimized"), ("non-optimized", "optimized")):
            target.tell(f"on b ana {after}")
            watcher.wait_for("p1", "state", f"^{before} -> {after}$")
        self.assertEqual(0, watcher.end())
        changed = [path for path, kind, text in watcher.changes() if kind == "state" and " -> " in text]
        self.assertEqual(["p1"] * 4, changed)

    def test_tells_a_loss_its_cause_and_the_return(self):
        target = self.target()
        watcher = self.watch(target, "--reconnect-delay=0.2")
        target.tell("on a down")
        watcher.wait_for("p0", "lost", "reset by peer")
        watcher.wait_for("p0", "refused", "Connection refused")
        target.tell("on a heal")
        watcher.wait_for("p0", "connected", r"after \d+\.\d s and \d+ attempt")
        target.tell("on a drop")
        watcher.wait_for("p0", "lost", "reset by peer", count=2)
        watcher.wait_for("p0", "connected", "after", count=2)
        self.assertEqual(0, watcher.end())
        self.assertEqual(["connected"], [kind for path, kind, _ in watcher.changes() if path == "p1"])

    def test_tells_silence(self):
        target = self.target()
        watcher = self.watch(target, "--keep-alive-tmo=1")
        target.tell("on a mute")
        watcher.wait_for("p0", "lost", "no answer to Keep Alive within 1.0 s")
        self.assertEqual(1, watcher.end(signal.SIGTERM), "a path is not connected at the end")

    def test_tells_another_size_and_another_device(self):
        target = self.target()
        watcher = self.watch(target, "--reconnect-delay=0.2")
        target.tell("on all resize 128M")
        for path in ("p0", "p1"):
            watcher.wait_for(path, "namespace", "from 67108864 to 134217728 bytes")
        target.tell("on b identity another", "on b drop")
        watcher.wait_for("p1", "refused", "another device")
        self.assertEqual(1, watcher.end())

    def test_waits_for_a_path_that_is_not_there_at_the_start(self):
        target = self.target()
        target.tell("on a down")
        watcher = Watcher(self, "--reconnect-delay=0.2", target.uris["a"])
        watcher.wait_for("p0", "refused", "Connection refused")
        target.tell("on a heal")
        watcher.wait_for("p0", "connected", "after")
        self.assertEqual(0, watcher.end(signal.SIGHUP))

    def test_ends_when_nothing_is_left_to_watch(self):
        target = self.target()
        watcher = self.watch(target, "--reconnect-delay=0.2", listeners="a")
        target.tell("on a reject-connects connect-invalid-host dnr", "on a drop")
        watcher.wait_for("p0", "given_up", "final")
        self.assertEqual(1, watcher.result())
        self.assertEqual("fio-mpath: every path was given up, there is nothing left to watch\n",
                         watcher.process.stderr.read())

    def test_refuses_what_it_can_not_watch(self):
        uri = f"nvme+tcp://{lab.own_address()}:1/{lab.NQN}/1"
        for words, sentence in ((("--watch", "--for", "soon", uri), "--for: 'soon' is not a duration"),
                                (("--watch", "no-uri"), "no-uri"), (("--for", "1s", uri), "--watch"),
                                (("--watch", "--json", uri), "--json")):
            with self.subTest(words):
                run = self.finish(self.start([str(lab.COMMAND), "paths", *words]))
                self.assertNotEqual(0, run.returncode)
                self.assertIn(sentence, run.stderr)


if __name__ == "__main__":
    unittest.main()
