# SPDX-License-Identifier: GPL-2.0-only
"""fio's client/server mode: a server on an address and port of our own, and clients of it."""
import json
import pathlib
import socket

import lab


def _is_listening(port):
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state = line.split()[:4]
        if state == "0A" and int(local.rpartition(":")[2], 16) == port:
            return True
    return False


def start(case):
    """A server that ends with the test. It says nothing before its first client, so its port tells."""
    with socket.socket() as probe:
        probe.bind((lab.own_address(), 0))
        host, port = probe.getsockname()
    process = case.start(["fio", f"--server={host},{port}"])
    process.at = f"{host},{port}"
    lab.wait_until(lambda: _is_listening(port) or process.poll() is not None, "the server listens")
    case.assertIsNone(process.poll(), "the server ended at once")
    return process


def run_client(case, server, job_text, *options):
    """One job file, whose [global] section is `job_text` up to its first job, run by the server."""
    file = case.folder / f"client{case.runs}.fio"
    file.write_text("[global]\n" + ("thread\n" if lab.PRELOAD else "") + job_text)
    return case.finish(case.start(["fio", *options, f"--client={server.at}", str(file)]))


def results_of(run):
    """The first job in the JSON of a client. What fio itself says on the server stands before it, a line "<host> …"."""
    text, brace, document = run.stdout.partition("\n{\n") if not run.stdout.startswith("{") else ("", "", run.stdout)
    if "mpath: " in text:
        raise AssertionError(f"text of the engine in front of the JSON\n{run}")
    return json.loads(brace + document)["client_stats"][0]
