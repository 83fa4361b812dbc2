# SPDX-License-Identifier: GPL-2.0-only
"""Debian's tgt, a real iSCSI target in user space, on sockets of this test's own.

Its ways: a port that can't be bound is only logged, so ports are chosen free and looked at; SIGTERM is ignored, so it is
killed; LUN 0 is a controller, disks begin at 1; without a scsi_id two tgtd show the same identity; no ALUA at all.
"""
import os
import shutil
import socket
import subprocess
import tempfile

import lab

TARGET = "iqn.2025-01.io.fio-mpath.test:disk"


def available():
    return shutil.which("tgtd") is not None and shutil.which("tgtadm") is not None


def _free_ports(count):
    """Of this process's own address, so nobody else takes them meanwhile."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((lab.own_address(), 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


class Tgt:
    """One tgtd with one target, all portals of which lead to it. `stop()` when done.

    portals: ADDRESS:PORT of each, in order
    target: its name
    """

    def __init__(self, portals=2, parameters=None):
        # Short: the path of a Unix socket has a limit.
        self._folder = tempfile.TemporaryDirectory(prefix="tgt-", dir="/tmp")
        self._environment = dict(os.environ, TGT_IPC_SOCKET=f"{self._folder.name}/control")
        self._control = str(os.getpid() % 30000 + 1)  # kept in a signed short
        self.target = TARGET
        self.portals = [f"{lab.own_address()}:{port}" for port in _free_ports(portals)]
        command = ["tgtd", "--foreground", "--control-port", self._control,
                   "--iscsi", ",".join(f"portal={portal}" for portal in self.portals)]
        self._log = open(f"{self._folder.name}/log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, env=self._environment, stdin=subprocess.DEVNULL,
                                        stdout=self._log, stderr=subprocess.STDOUT)
        try:
            for portal in self.portals:
                lab.wait_until(lambda p=portal: self._answers(p), f"tgtd listens on {portal}")
            lab.wait_until(lambda: self._admin("--mode", "sys", "--op", "show").returncode == 0, "tgtd takes orders")
            self.admin("--op", "new", "--mode", "target", "--tid", "1", "--targetname", self.target)
            for name, value in (parameters or {}).items():
                self.set(name, value)
        except BaseException:
            self.stop()
            raise

    def _answers(self, portal):
        if self.process.poll() is not None:
            raise AssertionError(f"tgtd has ended: {self.log()}")
        host, _, port = portal.rpartition(":")
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0

    def _admin(self, *words):
        return subprocess.run(["tgtadm", "--lld", "iscsi", "--control-port", self._control, *words],
                              env=self._environment, capture_output=True, text=True, timeout=lab.SECONDS, check=False)

    def admin(self, *words):
        """tgtadm; what it says."""
        done = self._admin(*words)
        if done.returncode != 0:
            raise AssertionError(f"tgtadm {' '.join(words)}: {done.stderr}{self.log()}")
        return done.stdout

    def set(self, name, value):
        """A parameter of the target, for sessions to come: "MaxRecvDataSegmentLength", "HeaderDigest"."""
        self.admin("--op", "update", "--mode", "target", "--tid", "1", "--name", name, "--value", str(value))

    def add_disk(self, lun=1, size=64 * lab.MIB, identity="fiompath01", **parameters):
        """A disk in a file; `identity` is what VPD 83h is made of."""
        path = f"{self._folder.name}/disk{lun}"
        with open(path, "wb") as disk:
            disk.truncate(size)
        self.admin("--op", "new", "--mode", "logicalunit", "--tid", "1", "--lun", str(lun), "--backing-store", path)
        words = {"scsi_id": identity, "scsi_sn": identity, **parameters}
        self.admin("--op", "update", "--mode", "logicalunit", "--tid", "1", "--lun", str(lun), "--params",
                   ",".join(f"{key}={value}" for key, value in words.items()))

    def let_in(self, initiator="ALL"):
        """By address; nobody is let in before."""
        self.admin("--op", "bind", "--mode", "target", "--tid", "1", "--initiator-address", initiator)

    def add_account(self, user, secret, outgoing=False):
        """CHAP: who logs in must be this user; outgoing: the target must be able to prove that it is."""
        self.admin("--op", "new", "--mode", "account", "--user", user, "--password", secret)
        words = ["--op", "bind", "--mode", "account", "--tid", "1", "--user", user]
        self.admin(*words, *(["--outgoing"] if outgoing else []))

    def sessions(self):
        """How many there are."""
        shown = self.admin("--op", "show", "--mode", "conn", "--tid", "1")
        return sum(line.startswith("Session:") for line in shown.splitlines())

    def uri(self, portal=0, lun=1, user=""):
        return f"iscsi://{user + '@' if user else ''}{self.portals[portal]}/{self.target}/{lun}"

    def log(self):
        self._log.flush()
        self._log.seek(0)
        return self._log.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._log.close()
        self._folder.cleanup()


def start(case, *args, **named):
    """A Tgt that ends with the test."""
    tgt = Tgt(*args, **named)
    case.addCleanup(tgt.stop)
    return tgt
