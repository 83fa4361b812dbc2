# SPDX-License-Identifier: GPL-2.0-only
"""What the benchmarks share: a target, runs of fio, and the table of what they gave."""
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Variant:
    """One thing to measure: run() gives a dict of numbers."""

    def __init__(self, name, run):
        self.name = name
        self.run = run
        self.results = []


class Target:
    """The embedded one, null namespace and polling, on a core of its own."""

    def __init__(self, command, core, listeners, option="--listen"):
        self.process = subprocess.Popen(
            ["taskset", "-c", str(core), command, "target", "--null", "--size", "64G", "--poll", "--mdts", "2M",
             "--exit-after", "3600"] + [word for i in range(listeners) for word in (option, f"127.0.0.1:0,name=p{i}")],
            stdout=subprocess.PIPE, text=True)
        self.paths = None
        for line in self.process.stdout:
            if line.startswith("paths="):
                self.paths = line.strip()[len("paths="):]
            if line.strip() == "ready":
                break
        if not self.paths:
            sys.exit("the target did not start")

    def cpu_seconds(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def fio(options, core, seconds, backend=None, program="fio"):
    command = [program, "--name=bench", "--output-format=json", "--time_based", f"--runtime={seconds}", f"--cpus_allowed={core}",
               "--norandommap", "--randrepeat=0"] + options
    environment = {**os.environ, "MPATH_NET": backend} if backend else None
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]  # fio may have a note before it


def engine_run(args, target, folder, depth, block, paths, build=None, options=(), backend=None):
    prefix = os.path.join(folder, "bench")
    command = [f"--ioengine=external:{build or args.build}/fio-mpath.so", f"--paths={target.paths}", f"--path={paths}",
               f"--iodepth={depth}", f"--bs={block}", "--rw=randread", f"--mpath_log={prefix}", *options]
    job = fio(command, args.client_core, args.seconds, backend)
    record = json.load(open(f"{prefix}_mpath.1.json"))
    results = record["results"]
    read = job["read"]
    traffic = [path["traffic"] for path in results["paths"] if path["traffic"]["commands"]]
    direct = sum(t["payload_direct_bytes"] for t in traffic)
    copied = sum(t["payload_copied_bytes"] for t in traffic)
    cpu = results["cpu"]
    return {"iops": read["iops"], "mean_us": read["lat_ns"]["mean"] / 1e3,
            "p99_us": read["clat_ns"]["percentile"]["99.000000"] / 1e3,
            "cpu_us": (cpu["user_ns"] + cpu["system_ns"]) / 1e3 / read["total_ios"],
            "calls": cpu["system_calls"] / read["total_ios"], "direct": direct / max(1, direct + copied)}


def show(variants):
    print(f"{'variant':38}{'IOPS':>9}{'spread':>8}{'mean':>10}{'p99':>10}{'CPU/IO':>9}{'calls/IO':>10}{'direct':>8}")
    for variant in variants:
        def column(key, form):
            values = [r[key] for r in variant.results if key in r]
            return form(statistics.median(values)) if values else "–"
        rates = [r["iops"] for r in variant.results]
        spread = (max(rates) - min(rates)) / statistics.median(rates)
        print(f"{variant.name:38}" + column("iops", lambda v: f"{v / 1e3:8.1f}k") + f"{spread:8.0%}"
              + column("mean_us", lambda v: f"{v:8.1f}µs").rjust(10) + column("p99_us", lambda v: f"{v:8.1f}µs").rjust(10)
              + column("cpu_us", lambda v: f"{v:7.2f}µs").rjust(9) + column("calls", lambda v: f"{v:.3f}").rjust(10)
              + column("direct", lambda v: f"{v:.1%}").rjust(8))


def gate(text, passed):
    print(f"{'passed' if passed else 'FAILED'}: {text}")
    return passed
