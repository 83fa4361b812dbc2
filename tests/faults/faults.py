# SPDX-License-Identifier: GPL-2.0-only
"""Jobs in trouble: what a script does to the target while fio runs, and what must come of it.

A trouble is a script (docs/target.md) and fio's options. Its outcome has fio's run, the job's record, what the
target served and what it did to whom when. Whatever the script was, the books must balance (Case.check_books()).
Troubles that sleep more than they compute run side by side: together() takes as long as the longest.

lab.py, in ../integration, says which environment variables are read.
"""
import dataclasses
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import lab  # noqa: E402
import schema  # noqa: E402

SECOND = 10**9
# It is the target that slows jobs down: fio itself would let all I/O end before it waits.
ONE_PATH = ("name=a,delay=8ms",)
TWO_PATHS = ("name=a,delay=8ms", "name=b,delay=8ms")

# Writes for a second or more, then fio compares what it reads with what it wrote.
VERIFIED = ("--rw=randwrite", "--bs=4k", "--size=4000k", "--verify=crc32c")
# The same of writes that R2Ts ask for, and reads of several PDUs.
LARGE = ("--rw=randwrite", "--bs=32k", "--size=32M", "--verify=crc32c")
# Without an end of its own, for --runtime.
ENDLESS = ("--rw=randrw", "--bs=4k", "--size=8000k", "--time_based")
DEPTH = 8


def when_stuck(action, count="writes", where="a"):
    """Statements that do `action` ("on a drop", "for 1s on a down") when all of a job's slots wait for path a, and have
    sent what they have: so many I/Os are lost with it, no fewer. The last one is met by the action as it arrives."""
    return (f"after 100 {count} on {where} delay 30s count {DEPTH - 1}", f"after {100 + DEPTH - 1} {count} {action}")


@dataclasses.dataclass
class Trouble:
    """`script`: statements. `target`: options. `fio`: options, beside those of Case.start_trouble(). `exits`: with
    which status fio must. `lost_io`: I/Os that fail although fio succeeds; None: some."""
    script: tuple
    fio: tuple = VERIFIED
    target: tuple = ()
    listeners: tuple = TWO_PATHS
    nsid: int = 1
    when_held: str = ""  # a statement, for when all of a job's slots hold a write that path a has not carried out
    exits: int = 0
    lost_io: int = 0
    protocol: str = "nvme"  # or "iscsi": the listeners are portals, namespace N is LUN N - 1


class Outcome:
    def __init__(self, run, served, faults, thread_number=1):
        self.run = run
        self.thread_number = thread_number
        self.served = served
        self.faults = faults
        self.record = run.record(thread_number)
        self.results = self.record["results"]
        self.names = [path["name"] for path in self.results["paths"]]

    @property
    def jobs(self):
        """As Run.jobs; fio tells of failed jobs before its JSON."""
        text = self.run.stdout
        return json.loads(text[text.index("{\n"):])["jobs"]

    def path(self, name):
        return self.results["paths"][self.names.index(name)]

    def errors(self, name):
        """By class, those that there were."""
        return {error: count for error, count in self.path(name)["errors"].items() if count}

    def requeues(self):
        return {path["name"]: path["requeues"] for path in self.results["paths"]}

    def events(self, kind=None, path=None):
        return [event for event in self.results["events"]
                if kind in (None, event["kind"]) and path in (None, self.names[event["path"]])]

    def kinds(self, path):
        return [event["kind"] for event in self.events(path=path)]

    def texts(self, kind, path):
        return [event["text"] for event in self.events(kind, path)]

    def event(self, kind, path, text=""):
        for event in self.events(kind, path):
            if text in event["text"]:
                return event
        raise AssertionError(f"no event '{kind}' of path {path} says '{text}':\n{self}")

    def intervals(self):
        lines = (self.run.folder / self.record["intervals_file"]).read_text().splitlines()[1:]
        return [json.loads(line) for line in lines]

    def fault_times(self, action, phase="begin", listener="a"):
        return [fault["monotonic"] for fault in self.faults
                if (fault["action"], fault["phase"], fault["listener"]) == (action, phase, listener)]

    def __str__(self):
        events = "\n".join(f"{event['monotonic_ns'] / SECOND:.3f} {self.names[event['path']]} {event['kind']}: "
                           f"{event['text']}" for event in self.events())
        faults = "\n".join(f"{fault['monotonic'] / SECOND:.3f} {fault['listener']} {fault['action']} {fault['detail']} "
                           f"{fault['phase']}" for fault in self.faults)
        paths = "\n".join(f"{path['name']}: {self.errors(path['name'])}, {path['requeues']} requeues, "
                          f"{path['retries']} retries, {path['exposed_writes']} exposed"
                          for path in self.results["paths"])
        return f"{events}\n---\n{faults}\n---\n{paths}\n---\nreturn code {self.run.returncode}\n{self.run.stderr}"


def ios_of(interval, path):
    operations = next(each for each in interval["paths"] if each["name"] == path)["operations"]
    return sum(numbers["count"] for numbers in operations.values() if numbers)


def _parse_lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


class Case(lab.Case):
    def setUp(self):
        super().setUp()
        self.targets = 0

    def target(self, *options, **how):
        """One that writes down what it does."""
        self.targets += 1
        log = self.folder / f"faults.{self.targets}.jsonl"
        target = super().target(f"--fault-log={log}", *options, **how)
        target.fault_log = log
        return target

    def start_trouble(self, trouble):
        # A host that a starved machine keeps silent for a second is not to be dropped for it.
        iscsi = trouble.protocol == "iscsi"
        offered = {"listeners": (), "portals": trouble.listeners} if iscsi else {"listeners": trouble.listeners}
        target = self.target("--no-enforce-kato", *trouble.target, **offered)
        if trouble.script:
            target.tell(*trouble.script)
        unit = trouble.nsid - 1 if iscsi else trouble.nsid
        paths = ",".join(f"{name}={uri.rpartition('/')[0]}/{unit}" for name, uri in target.uris.items())
        fio = self.start_fio("--output-format=json", f"--iodepth={DEPTH}", "--mpath_log=record", "--keep_alive_tmo=1",
                             "--reconnect_delay=1", f"--fault_log={target.fault_log}", *trouble.fio, paths=paths)
        return trouble, target, fio

    def end_trouble(self, started):
        trouble, target, fio = started
        if trouble.when_held:
            lab.wait_until(lambda: target.counters()["a"]["held_writes"] == DEPTH, "held writes")
            target.tell(trouble.when_held)
        run = self.finish(fio)
        outcome = Outcome(run, target.stop(), _parse_lines(target.fault_log))
        self.assertEqual(trouble.exits, run.returncode, str(outcome))
        self.check_books(outcome, trouble.lost_io)
        return outcome

    def run_trouble(self, *script, **how):
        return self.end_trouble(self.start_trouble(Trouble(script, **how)))

    def together(self, troubles, at_once=10):
        """Runs {label: Trouble} side by side; {label: outcome}."""
        labels = list(troubles)
        outcomes = {}
        for first in range(0, len(labels), at_once):
            running = {label: self.start_trouble(troubles[label]) for label in labels[first:first + at_once]}
            for label, started in running.items():
                with self.subTest(label):
                    outcomes[label] = self.end_trouble(started)
        return outcomes

    def check_books(self, outcome, lost_io=0):
        record = outcome.record
        self.assertEqual([], schema.faults(record, schema.RECORD)[:5])
        self.assertIs(True, record["complete"])
        if outcome.run.returncode == 0:
            job = outcome.jobs[outcome.thread_number - 1]
            self.assertEqual(lab.fio_sums(job), lab.record_sums(record), str(outcome))
            # What failed and was not sent again has ended its I/O.
            ended = sum(sum(path["errors"].values()) - path["requeues"] - path["retries"]
                        for path in outcome.results["paths"])
            if lost_io is not None:
                self.assertEqual(lost_io, ended, str(outcome))
        for path in outcome.results["paths"]:
            self.check_path(outcome, path)
        for event in outcome.events():
            self.check_event(outcome, event)

    def check_path(self, outcome, path):
        self.assertEqual(path["requeues"], path["requeue_delay"]["count"], str(outcome))
        self.assertLessEqual(path["requeues"] + path["retries"], sum(path["errors"].values()), str(outcome))
        exposed = sum(event["exposed_writes"] or 0 for event in outcome.events(path=path["name"]))
        self.assertLessEqual(exposed, path["exposed_writes"], str(outcome))
        self.assertLessEqual(path["exposed_writes"], path["requeues"], str(outcome))

    def check_event(self, outcome, event):
        """A gap belongs to I/O that was moved; what was noticed had happened, and during the job."""
        lasted = outcome.results["measured_ns"]
        moved = event["requeues"] is not None
        self.assertEqual(moved, event["gap_ns"] is not None, str(outcome))
        if moved:
            self.assertLessEqual(event["exposed_writes"], event["requeues"], str(outcome))
            self.assertLessEqual(event["gap_ns"], lasted, str(outcome))
        if event["detection_ns"] is not None:
            self.assertIn(event["kind"], ("lost", "state"), str(outcome))
            self.assertLessEqual(event["detection_ns"], lasted, str(outcome))

    def check_lost_for(self, outcome, path, cause):
        """The path was lost for that, and nothing else happened to its I/O; verify= has held its writes."""
        self.assertRegex(outcome.event("lost", path)["text"], cause, str(outcome))
        self.assertLessEqual(set(outcome.errors(path)), {"path_down"}, str(outcome))
        self.assertEqual(0, outcome.path(path)["exposed_writes"], str(outcome))

    def check_untouched(self, outcome, path):
        self.assertEqual({}, outcome.errors(path), str(outcome))
        self.assertEqual([], outcome.events(path=path), str(outcome))

    def check_noticed(self, outcome, event):
        self.assertIsNotNone(event["detection_ns"], str(outcome))
        happened = event["monotonic_ns"] - event["detection_ns"]
        self.assertIn(happened, [fault["monotonic"] for fault in outcome.faults], str(outcome))


main = lab.unittest.main
