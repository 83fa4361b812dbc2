# SPDX-License-Identifier: GPL-2.0-only
"""User instructions per I/O, by callgrind over bench-instructions: noise of the machine does not reach them."""
import os
import re
import subprocess
from dataclasses import dataclass


@dataclass
class Count:
    engine: float  # per I/O: of the engine's own code
    all: float     # per I/O: with what it calls in libraries, memcpy of small payloads above all


# The loop around the engine does fio's part.
DRIVER = re.compile(r"^main$|\(anonymous namespace\)::(Bench|Load)")
SHORT, LONG = 2000, 22000


def costs(file, program):
    """(the engine's, all) instructions in a callgrind file."""
    names = {"ob": {}, "fn": {}}
    current = {"ob": "", "fn": ""}
    engine = everything = 0
    skip = False  # the line behind calls= is what the callee cost
    for line in open(file):
        definition = re.match(r"(ob|fn)=\((\d+)\)(?: (.*))?$", line)
        called = re.match(r"c(ob|fn)=\((\d+)\) (.*)$", line)
        if called:
            names[called[1]][called[2]] = called[3]
        elif definition:
            kind, number, name = definition.groups()
            if name:
                names[kind][number] = name
            current[kind] = names[kind][number]
        elif line.startswith("calls="):
            skip = True
        elif re.match(r"[+*\-\d]", line):
            if not skip:
                cost = int(line.split()[1])
                everything += cost
                if os.path.basename(current["ob"]) == program and not DRIVER.search(current["fn"]):
                    engine += cost
            skip = False
    return engine, everything


def run(command, ios, folder):
    out = os.path.join(folder, f"callgrind.{ios}")
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"] + command + ["--ios", str(ios)],
                   check=True, capture_output=True, timeout=300)
    return costs(out, os.path.basename(command[0]))


def instructions(build, paths, folder, options=()):
    """What LONG and SHORT I/Os differ by, so connecting and ending do not count."""
    command = [os.path.join(build, "bench", "bench-instructions"), *options]
    for path in paths:
        command += ["--path", path]
    short, long = (run(command, ios, folder) for ios in (SHORT, LONG))
    return Count(*((b - a) / (LONG - SHORT) for a, b in zip(short, long)))
