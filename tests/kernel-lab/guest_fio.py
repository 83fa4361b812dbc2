# SPDX-License-Identifier: GPL-2.0-only
"""fio with the mpath engine on paths to the guest's targets."""
import json
import pathlib
import subprocess
import tempfile
import time

FIO_SECONDS = 240
# For what one step of a test must bring about, on a starved machine.
STEP_SECONDS = 120


def command_line(engine, paths, *options):
    return ["fio", "--name=lab", f"--ioengine=external:{engine}", f"--paths={paths}", "--filename=lab", *options]


def run(test, engine, paths, *options):
    """Runs one job, which must go well; what fio's JSON says of it."""
    with tempfile.TemporaryDirectory(prefix="fio-mpath-lab-") as folder:
        output = pathlib.Path(folder) / "output.json"
        command = command_line(engine, paths, "--output-format=json", f"--output={output}", *options)
        done = subprocess.run(command, cwd=folder, timeout=FIO_SECONDS, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        said = done.stdout + done.stderr + (output.read_text() if output.exists() else "")
        test.assertEqual(0, done.returncode, said[-4000:])
        (job,) = json.loads(output.read_text())["jobs"]
    test.assertEqual(0, job["error"], said[-4000:])
    return job


class RunningJob:
    """fio with a job that goes on until it is ended; its record tells how far it is."""

    def __init__(self, engine, paths, *options):
        self.engine, self.paths, self.options = engine, paths, options

    def __enter__(self):
        self.holder = tempfile.TemporaryDirectory(prefix="fio-mpath-lab-")
        self.folder = pathlib.Path(self.holder.name)
        command = command_line(self.engine, self.paths, "--bs=4k", "--iodepth=8", "--time_based", "--runtime=1h",
                               "--mpath_log=record", "--mpath_interval=200ms",
                               f"--trigger-file={self.folder / 'stop'}", "--trigger=true", *self.options)
        self.said = (self.folder / "said").open("w+")
        self.process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=self.said,
                                        stderr=subprocess.STDOUT)
        try:
            self.wait_for("I/O", lambda results: sum(done["count"] for done in results["response"].values()))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.said.close()
        self.holder.cleanup()

    def results(self):
        """What the record says now; None before there is one."""
        file = self.folder / "record_mpath.1.json"
        return json.loads(file.read_text())["results"] if file.exists() else None

    def wait_for(self, what, condition):
        """Until `condition` is true of the results."""
        end = time.monotonic() + STEP_SECONDS
        while True:
            results = self.results()
            if results and condition(results):
                return
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"still not: {what}. {self.told()}\n{results and results['events']}")
            time.sleep(0.1)

    def wait_for_event(self, path, kind, text="", after=None):
        """Until the path has had such an event, after one of the kind `after`."""
        def happened(results):
            found = events_of(results, path)
            if after:
                kinds = [kind for kind, _ in found]
                found = found[kinds.index(after):] if after in kinds else []
            return any(kind == is_kind and text in is_text for is_kind, is_text in found)
        self.wait_for(f"event {kind} {text} of path {path}", happened)

    def end(self):
        """Ends the job, which must go well; its results."""
        (self.folder / "stop").touch()
        try:
            status = self.process.wait(STEP_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"fio does not end. {self.told()}") from None
        if status != 0:
            raise AssertionError(self.told())
        return self.results()

    def told(self):
        self.said.seek(0)
        return f"fio's status is {self.process.poll()}: {self.said.read()[-4000:]}"


def events_of(results, path):
    names = [found["name"] for found in results["paths"]]
    return [(event["kind"], event["text"]) for event in results["events"]
            if event["path"] is not None and names[event["path"]] == path]
