# SPDX-License-Identifier: GPL-2.0-only
"""What every test here needs: the embedded target, fio with the engine, and what they leave behind.

A test asks its case for a target and for runs of fio; both end with the test, whatever happens. Each process that
runs tests has a 127.x address of its own and every listener a port of its own, so suites may run side by side.

Environment (CTest sets it; without it, what stands in build/ is tested):
    MPATH_ENGINE       fio-mpath.so
    MPATH_COMMAND      fio-mpath
    MPATH_PRELOAD      libraries that fio must load first: those of the sanitizers the engine is built with
    MPATH_SANITIZE     which sanitizers those are, as -fsanitize= takes them
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINE = pathlib.Path(os.environ.get("MPATH_ENGINE", ROOT / "build/fio-mpath.so")).resolve()
COMMAND = pathlib.Path(os.environ.get("MPATH_COMMAND", ROOT / "build/fio-mpath")).resolve()
PRELOAD = os.environ.get("MPATH_PRELOAD", "")
SANITIZE = os.environ.get("MPATH_SANITIZE", "")

NQN = "nqn.2025-01.io.fio-mpath:target"
KIB = 1 << 10
MIB = 1 << 20

# Generous: two starved cores, sanitizers. Nothing here asserts that something is quick.
SECONDS = 60
TARGET_LIFETIME = 600

SANITIZER_REPORT = re.compile(r"(ERROR|WARNING): (Address|Leak|Thread)Sanitizer|runtime error:")
DIRECTIONS = ("read", "write", "trim")
OPERATIONS = DIRECTIONS + ("sync",)


def own_address():
    """A loopback address that no other process running tests has."""
    pid = os.getpid()
    return f"127.{64 + (pid >> 16) % 128}.{(pid >> 8) & 255}.{pid & 255 or 1}"


def sanitized_environment():
    """For fio, which is not built with sanitizers itself and never frees everything."""
    environment = dict(os.environ)
    if PRELOAD:
        environment["LD_PRELOAD"] = PRELOAD
        environment["ASAN_OPTIONS"] = "detect_leaks=0"
        environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
        suppressions = pathlib.Path(__file__).with_name("tsan-suppressions")
        # Jobs are forked while fio's parent has threads, and start one of their own.
        environment["TSAN_OPTIONS"] = f"suppressions={suppressions}:die_after_fork=0"
    return environment


def wait_until(condition, what, seconds=SECONDS):
    """What `condition` returns, as soon as that is true."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s still not: {what}")
        time.sleep(0.02)


def children_of(pid):
    """Pids of the processes below `pid`, all generations."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                found += [int(child)] + children_of(int(child))
    except (FileNotFoundError, ProcessLookupError):
        pass  # it has ended meanwhile
    return found


def end_process(process):
    """Kills a process of ours and those below it; by pid."""
    pids = children_of(process.pid) if process.poll() is None else []
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if process.poll() is None:
        process.kill()
    process.wait()


def connections_to(port):
    """Our ends of the established TCP connections that lead to this port."""
    ends = set()
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, state = line.split()[:4]
        if state == "01" and int(remote.rpartition(":")[2], 16) == port:
            ends.add(local)
    return ends


def does_io(fio, target, name="a"):
    """Whether the job of this fio has connected to that listener of the target: after fio's parent has, for a moment,
    to learn about the device."""
    connected = connections_to(target.port(name))
    if len(connected) < 2:
        return False
    if children_of(fio.pid):
        return True
    time.sleep(0.5)
    return connected == connections_to(target.port(name))


def stop_processes(process):
    """Holds a process of ours and those below it; for continue_processes()."""
    pids = [process.pid, *children_of(process.pid)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    return pids


def continue_processes(pids):
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def blocks_of(pid):
    """Control blocks in /dev/shm that the fio with this pid made."""
    return list(pathlib.Path("/dev/shm").glob(f"fio-mpath.*.{pid}.*"))


def served_of(text):
    """The target's `served` lines as {listener: {counter: number}}."""
    return {words[1]: {key: int(value) for key, value in (word.split("=") for word in words[2:])}
            for words in (line.split() for line in text.splitlines()) if words and words[0] == "served"}


class Target:
    """A running `fio-mpath target`. `listeners` are what stands behind ADDRESS:PORT, in --listen: "name=a"; `portals`
    likewise in --iscsi. Its paths are those of the protocol that it was given listeners of first."""

    def __init__(self, *options, listeners=("name=a", "name=b"), portals=(), size="64M"):
        address = own_address()
        command = [COMMAND, "target", "--until-stdin-closes", "--exit-after", str(TARGET_LIFETIME), "--size", size]
        for listener in listeners:
            command += ["--listen", f"{address}:0,{listener}"]
        for portal in portals:
            command += ["--iscsi", f"{address}:0,{portal}"]
        self.process = subprocess.Popen(command + list(options), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.served = None
        self.uris = {}
        self.listeners = {}
        self.discovery = []
        self.control = None
        self.paths = None
        self.output = []
        for line in self.process.stdout:
            self.output.append(line)
            word, _, rest = line.strip().partition(" ")
            if word == "listening":
                name, host = rest.split()[:2]
                self.listeners[name] = host
            elif word == "control":
                self.control = rest
            elif word == "discovery":
                self.discovery.append(rest.split()[1])
            elif word.startswith("paths=") and self.paths is None:
                self.paths = line.strip().removeprefix("paths=")
            elif word == "ready":
                break
        else:
            output = "".join(self.output) + self.process.stderr.read()
            self.kill()
            raise AssertionError(f"the target did not start: {output}")
        for entry in self.paths.split(","):
            name, _, uri = entry.partition("=")
            self.uris[name] = uri

    def port(self, name):
        return int(self.listeners[name].rpartition(":")[2])

    def tell(self, *statements):
        """Statements of the script language, each a string. Those without a time have acted when this returns; what
        they were answered."""
        told = subprocess.run([COMMAND, "target-ctl", "--control", self.control], input="\n".join(statements),
                              capture_output=True, text=True, timeout=SECONDS, check=False)
        if told.returncode != 0:
            raise AssertionError(f"the target refuses {statements}: {told.stderr}")
        return told.stdout

    def counters(self):
        """What each listener has served until now, as stop() gives it."""
        return served_of(self.tell("status"))

    def stop(self):
        """Ends it; what each listener served, as {name: {counter: number}}, which is kept in `served`."""
        if self.served is not None:
            return self.served
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                end_process(self.process)
                raise
        rest = self.process.stdout.read() if not self.process.stdout.closed else ""
        errors = self.process.stderr.read() if not self.process.stderr.closed else ""
        self.process.stdout.close()
        self.process.stderr.close()
        if self.process.returncode != 0 or SANITIZER_REPORT.search(errors):
            raise AssertionError(f"the target ended with {self.process.returncode}: {rest}{errors}")
        self.served = served_of(rest)
        return self.served

    def kill(self):
        """Ends it as a crash would."""
        end_process(self.process)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class Run:
    """An fio that has ended."""

    def __init__(self, process, stdout, stderr):
        self.command = process.args
        self.folder = process.folder
        self.pid = process.pid
        self.returncode = process.returncode
        self.stdout = stdout
        self.stderr = stderr

    @property
    def text(self):
        return self.stdout + self.stderr

    @property
    def json(self):
        """fio's standard output, which must be one JSON document and nothing else."""
        try:
            return json.loads(self.stdout)
        except json.JSONDecodeError as fault:
            raise AssertionError(f"no valid JSON: {fault}\n{self}") from fault

    @property
    def jobs(self):
        return self.json["jobs"]

    def record(self, thread_number=1, prefix="record"):
        return json.loads((self.folder / f"{prefix}_mpath.{thread_number}.json").read_text())

    def records(self, prefix="record"):
        """By fio's number of the job."""
        files = self.folder.glob(f"{prefix}_mpath.*.json")
        return {int(file.name.split(".")[-2]): json.loads(file.read_text()) for file in files}

    def __str__(self):
        words = " ".join(str(word) for word in self.command)
        return f"$ {words}\nreturn code {self.returncode}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


def path_results(job):
    """Our results in an element of fio's "jobs": {path: {operation: numbers or None}}."""
    found = {}
    for name, value in job["job options"].items():
        words = name.split(".")
        if words[0] == "mpath" and words[-1] in OPERATIONS:
            found.setdefault(".".join(words[1:-1]), {})[words[-1]] = json.loads(value)
    return found


def path_facts(job):
    """The entry of each path as a whole: state, depth, requeues, retries, exposed, errors."""
    return {name[len("mpath."):]: json.loads(value) for name, value in job["job options"].items()
            if name.startswith("mpath.") and name.rpartition(".")[2] not in (*OPERATIONS, "requeue")}


def ios(job):
    """Our I/Os: {path: {operation: count}}, None counted as 0."""
    return {path: {operation: (numbers or {"ios": 0})["ios"] for operation, numbers in operations.items()}
            for path, operations in path_results(job).items()}


def our_sums(job):
    """{operation: I/Os over all paths}, by our own numbers."""
    return {operation: sum(path[operation] for path in ios(job).values()) for operation in OPERATIONS}


def fio_sums(job):
    """The same by fio's numbers."""
    sums = {direction: job[direction]["lat_ns"]["N"] for direction in DIRECTIONS}
    sums["sync"] = job["sync"]["lat_ns"].get("N", 0)
    return sums


def record_sums(record, fro="paths"):
    """The same by the record, over all paths and settings, or `fro` "response"."""
    if fro == "response":
        return {operation: record["results"]["response"][operation]["count"] for operation in OPERATIONS}
    return {operation: sum(setting["operations"][operation]["count"] for path in record["results"]["paths"]
                           for setting in path["settings"]) for operation in OPERATIONS}


# A sanitizer's allocator does not survive fio's fork, so there every job is a thread.
needs_processes = unittest.skipIf(PRELOAD, "forked jobs can't run under a sanitizer")


class Case(unittest.TestCase):
    """A test with its own folder; what it starts ends with it."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fio-mpath-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.runs = 0

    def target(self, *options, **how):
        target = Target(*options, **how)
        self.addCleanup(self.release, target)
        return target

    @staticmethod
    def release(target):
        if target.process.poll() is None:
            target.stop()

    def start(self, command, **popen):
        """A process in a folder of its own. It is killed at the end of the test if it still runs."""
        self.runs += 1
        folder = self.folder / f"run{self.runs}"
        folder.mkdir()
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=sanitized_environment(), **popen)
        process.folder = folder
        self.addCleanup(self.close, process)
        return process

    @staticmethod
    def close(process):
        end_process(process)
        process.stdout.close()
        process.stderr.close()

    def finish(self, process, seconds=SECONDS):
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end_process(process)
            stdout, stderr = process.communicate()
            self.fail(f"did not end within {seconds} s: {process.args}\n{stdout}\n{stderr}")
        run = Run(process, stdout, stderr)
        if SANITIZER_REPORT.search(stderr):
            self.fail(f"a sanitizer reports\n{run}")
        return run

    def start_fio(self, *options, paths=None, name="job", job_file=None, fio="fio"):
        """fio with the engine. `job_file`: a text of job sections below [global], instead of the job `name`."""
        if job_file is None:
            command = [fio, f"--name={name}", f"--ioengine=external:{ENGINE}"]
            if paths is not None:
                command.append(f"--paths={paths}")
            if PRELOAD:
                self.require_thread(options)
                command.append("--thread")
            return self.start([str(word) for word in command + list(options)])
        file = self.folder / f"{self.runs}.fio"
        head = f"[global]\nioengine=external:{ENGINE}\n" + (f"paths={paths}\n" if paths is not None else "")
        if PRELOAD:
            head += "thread\n"
        file.write_text(head + job_file)
        return self.start([fio, *options, str(file)])

    def require_thread(self, options):
        """A sanitizer's allocator does not survive fio's fork: with a thread of the parent in it, it stays locked
        in the job for ever. So there every job is a thread."""
        if "--thread=0" in options:
            self.skipTest("forked jobs can't run under a sanitizer")

    def run_fio(self, *options, seconds=SECONDS, **how):
        return self.finish(self.start_fio(*options, **how), seconds)

    def succeed(self, *options, **how):
        """Text output of a run that must go well."""
        run = self.run_fio(*options, **how)
        self.assertEqual(0, run.returncode, str(run))
        return run

    def measure(self, *options, **how):
        """JSON output of a run that must go well, with a record."""
        run = self.succeed("--output-format=json", *options, **how)
        for job in run.jobs:
            self.assertEqual(0, job["error"], str(run))
        return run
