#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The kernel lab's virtual machine: the kernel's own targets in a guest that needs no privileges.

The guest's portals have loopback-range addresses, 127.N.1.15 (A) and 127.N.2.15 (B), which QEMU forwards from
the same addresses of the host; the first free N is taken, so several machines run side by side.

    vm.py run [FOLDER]               builds and starts it, prints its addresses, ends it at Ctrl-C
    vm.py exec ADDRESS 'lab ana'     runs a command in a running guest by its control address
"""
import base64
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILT = HERE.parents[1] / "build" / "kernel-lab"

NQN = "nqn.2014-08.org.nvmexpress:lab.nvmet"
IQN = "iqn.2003-01.org.linux-iscsi.lab:target"
NVME_PORT = 4420
ISCSI_PORT = 3260
CONTROL_PORT = 23

MEMORY_MB = 512
DISK_MB = 64
BOOT_SECONDS = 180
# QEMU is ended after this long whatever happens.
LIFETIME_SECONDS = 3600
FIRST_ID, LAST_ID = 41, 90


class LabError(Exception):
    pass


def build_guest(folder=BUILT):
    subprocess.run([HERE / "build_guest", folder], check=True, stdin=subprocess.DEVNULL)


def guest_exec(address, command, seconds=60):
    """Runs a shell command in the guest: its output. LabError when its status is not 0."""
    with socket.create_connection((address, CONTROL_PORT), seconds) as connection:
        connection.settimeout(seconds + 5)
        connection.sendall(f"{seconds} {base64.b64encode(command.encode()).decode()}\n".encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
    output, _, status = answer.decode(errors="replace").rpartition("\nLAB-RC ")
    if status.strip() != "0":
        raise LabError(f"'{command}' in the guest: status {status.strip() or 'unknown'}: {output.strip()}")
    return output


class Vm:
    """A running guest, as a context manager."""

    def __init__(self, folder=BUILT):
        self.folder = pathlib.Path(folder)
        self.process = None
        self.logs = None

    def __enter__(self):
        self.logs = tempfile.TemporaryDirectory(prefix="fio-mpath-lab-")
        try:
            for number in range(FIRST_ID, LAST_ID + 1):
                if self._boot(number, pathlib.Path(self.logs.name)):
                    return self
            raise LabError(f"the addresses 127.{FIRST_ID}.x.15 to 127.{LAST_ID}.x.15 are all in use")
        except BaseException:
            self.logs.cleanup()
            raise

    def __exit__(self, *_):
        """The guest keeps nothing, so it is simply ended."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.logs.cleanup()

    def exec(self, command, seconds=60):
        try:
            return guest_exec(self.control, command, seconds)
        except (LabError, OSError) as error:
            raise LabError(f"{error}{self.last_words()}") from error

    def last_words(self):
        """What the guest and QEMU said last, if it is no longer there."""
        try:
            status = self.process.wait(3)
        except subprocess.TimeoutExpired:
            return ""
        logs = pathlib.Path(self.logs.name)
        said = "\n".join((logs / name).read_text(errors="replace")[-4000:] for name in ("console", "qemu"))
        return f"\nThe guest is gone, QEMU ended with status {status}. It said last:\n{said}"

    def _boot(self, number, logs):
        """False: the addresses of this number are taken."""
        self.control, self.a, self.b = (f"127.{number}.{net}.15" for net in range(3))
        console, messages = logs / "console", logs / "qemu"
        with messages.open("wb") as log:
            self.process = subprocess.Popen(
                self._command(number, console), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            end = time.monotonic() + BOOT_SECONDS
            while True:
                said = console.read_text(errors="replace") if console.exists() else ""
                if "READY" in said:
                    self.exec("true", 20)
                    return True
                if self.process.poll() is not None and "Could not set up host forwarding" in messages.read_text():
                    return False
                if self.process.poll() is not None or "FAILED" in said or time.monotonic() > end:
                    raise LabError(f"the guest did not become ready:\n{messages.read_text()}\n{said[-3000:]}")
                time.sleep(0.1)
        except BaseException:
            self.__exit__()
            raise

    def _command(self, number, console):
        options = (
            "console=ttyS0 quiet panic=-1 mitigations=off nokaslr audit=0 init_on_alloc=0 no_timer_check "
            f"tsc=reliable nowatchdog net.ifnames=0 lab.id={number} lab.disk_mb={DISK_MB} lab.nqn={NQN} lab.iqn={IQN}")
        command = [
            # Whatever becomes of us, QEMU does not stay behind.
            "setpriv", "--pdeathsig", "TERM", "timeout", "--foreground", "-k", "5", str(LIFETIME_SECONDS),
            "qemu-system-x86_64", "-machine", "pc", "-accel", "tcg,thread=multi,tb-size=256", "-cpu", "max",
            # One processor: with two, emulated kernels now and then die while they patch their own code.
            "-smp", "1", "-m", str(MEMORY_MB), "-nodefaults", "-display", "none", "-no-reboot",
            "-monitor", "none", "-serial", f"file:{console}",
            "-kernel", str(self.folder / "vmlinuz"), "-initrd", str(self.folder / "initrd.cpio"), "-append", options]
        for net, ports in enumerate(([CONTROL_PORT], [NVME_PORT, ISCSI_PORT], [NVME_PORT, ISCSI_PORT])):
            subnet = f"127.{number}.{net}"
            forwards = "".join(f",hostfwd=tcp:{subnet}.15:{port}-{subnet}.15:{port}" for port in ports)
            command += [
                "-netdev", f"user,id=n{net},net={subnet}.0/24,host={subnet}.2,dns={subnet}.3,"
                f"dhcpstart={subnet}.100,ipv6=off,restrict=on{forwards}",
                "-device", f"virtio-net-pci,netdev=n{net},romfile="]
        return command


def run(folder):
    build_guest(folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Vm(folder) as vm:
        print(f"control {vm.control}\nA {vm.a}\nB {vm.b}\nNQN {NQN}\nIQN {IQN}", flush=True)
        try:
            vm.process.wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"] and len(sys.argv) <= 3:
        run(sys.argv[2] if len(sys.argv) == 3 else BUILT)
    elif sys.argv[1:2] == ["exec"] and len(sys.argv) == 4:
        try:
            print(guest_exec(sys.argv[2], sys.argv[3]), end="")
        except (LabError, OSError) as error:
            sys.exit(f"vm.py: {error}")
    else:
        sys.exit(__doc__)
