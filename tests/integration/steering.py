# SPDX-License-Identifier: GPL-2.0-only
"""Running jobs from outside: the commands policy, path and top. Other suites may run fio at the same time, so these
tests say which fio they mean."""
import json
import re
import subprocess

import lab


def command(*words, seconds=lab.SECONDS):
    return subprocess.run([str(lab.COMMAND), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=seconds, check=False)


def jobs_of(fio):
    """What top says of the jobs of this fio, by name, or name#number where several have the same."""
    shown = command("top", "--once", "--json", "--interval", "10ms", "--run", str(fio.pid))
    if shown.returncode != 0:
        return {}
    jobs = [json.loads(line) for line in shown.stdout.splitlines()]
    names = [job["job"] for job in jobs]
    return {job["job"] if names.count(job["job"]) == 1 else f"{job['job']}#{job['number']}": job for job in jobs}


class Case(lab.Case):
    def wait_for_job(self, fio, label, **expected):
        """Until top says these things of the job."""
        def said():
            job = jobs_of(fio).get(label)
            return job is not None and all(job[key] == value for key, value in expected.items()) and job
        return lab.wait_until(said, f"{label}: {expected}")

    def start_jobs(self, target, job_file, *running):
        """fio, when the jobs with these labels run."""
        fio = self.start_fio(paths=target.paths, job_file="rw=randread\nbs=4k\niodepth=4\ntime_based\nruntime=100\n" + job_file)
        for label in running:
            self.wait_for_job(fio, label, standing="running")
        return fio

    def steer(self, fio, *words):
        """Lines of a command that must go well, by job: what follows its name."""
        done = command(*words, "--run", str(fio.pid))
        self.assertEqual((0, ""), (done.returncode, done.stderr), done)
        return dict(line.split(": ", 1) for line in done.stdout.splitlines())

    def refuse(self, *words):
        """The sentence of a command that must not go well."""
        done = command(*words)
        self.assertEqual((1, ""), (done.returncode, done.stdout), done)
        self.assertRegex(done.stderr, r"\Afio-mpath: [^\n]+\n\Z")
        return done.stderr

    def assert_followed(self, fro, to, line):
        self.assertRegex(line, f"^{re.escape(fro)} -> {re.escape(to)}, followed in [0-9.]+(ns|µs|ms|s)$")
