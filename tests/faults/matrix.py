# SPDX-License-Identifier: GPL-2.0-only
"""What scripts can do to path a, and what may become of a job's I/O: the rows of matrix_test.py."""
import dataclasses

# What may become of I/O.
NEVER = "never fails"
ALONE = "fails without another path"
FAILS = "fails"
MAY_FAIL = "may fail"

READ, WRITE, VERIFY = "read", "write", "verify"
OF_READS = (READ, VERIFY)
OF_WRITES = (WRITE, VERIFY)

DEADLINE = ("--io_timeout=200ms",)
DIGESTS = ("--hdr_digest=1", "--data_digest=1")


@dataclasses.dataclass(frozen=True)
class Fault:
    """`script`: what is done; without a time, from 300 ms for 400 ms. `io`: what becomes of I/O. `event`: the kind of
    event that must be told of path a; None: none at all; empty: whatever. `harms`: what the job has to do to be harmed."""
    name: str
    script: tuple
    io: str = NEVER
    event: str = ""
    harms: tuple = (READ, WRITE, VERIFY)
    fio: tuple = ()
    target: tuple = ()
    protocol: str = "nvme"


def lasting(action, where="a", **what):
    name = action if where == "a" else f"{where}: {action}"
    return Fault(name, (f"at 300ms for 400ms on {where} {action}",), **what)


def once(action, **what):
    return Fault(action, (f"at 300ms on a {action}",), **what)


def with_drop(action, **what):
    """What only new connections notice, so the first attempt to connect again, a second later, has to come to it."""
    return Fault(f"{action} + drop", (f"at 300ms for 1200ms on a {action}", "at 350ms on a drop"), **what)


def lie(what, harms=(READ, WRITE, VERIFY), io=NEVER, event="lost"):
    # More than fits into a capsule, so that writes are asked for.
    return Fault(f"lie {what}", (f"at 300ms on a lie {what}",), io, event, harms, fio=("--bs=16k",))


FAULTS = (
    lasting("ana non-optimized", event="state"),
    lasting("ana inaccessible", event="state"),
    lasting("ana change", event="state"),
    lasting("ana persistent-loss", event="state"),
    # Only I/O finds out. That it is over has to be said, as nobody asks for the state of a path without I/O.
    Fault("ana inaccessible no-event", ("at 300ms on a ana inaccessible no-event", "at 700ms on a ana optimized"),
          event="state"),
    lasting("ana inaccessible", where="all", event="state"),
    once("drop", event="lost"),
    once("close", event="lost"),
    once("queue 1 drop", event="lost"),
    once("queue 0 close", event="lost"),
    Fault("down", ("at 300ms for 1200ms on a down",), event="refused"),
    Fault("all: down", ("at 300ms for 1200ms on all down",), event="refused"),
    with_drop("refuse-connects", event="refused"),
    with_drop("reject-connects", event="refused"),
    with_drop("reject-connects connect-invalid-host dnr", io=ALONE, event="given_up"),
    lasting("stall-reading", event="lost", fio=DEADLINE),
    lasting("stall-writing", event="lost", fio=DEADLINE),
    lasting("mute", event="lost", fio=DEADLINE),
    lasting("delay 20ms", event=None),
    lasting("fail internal-path-error"),
    lasting("fail host-pathing-error"),
    lasting("fail ana-persistent-loss"),
    lasting("fail ana-inaccessible"),
    lasting("fail ana-transition"),
    once("fail ana-inaccessible dnr count 1", io=FAILS),
    once("fail internal-error count 1", io=FAILS, event=None),
    once("fail transient-transport-error count 3", event=None),
    once("busy count 3", event=None),
    lasting("busy crd 1", event=None, target=("--crdt=100ms",)),
    once("flip header", event="lost", fio=DIGESTS),
    once("flip data", event=None, harms=OF_READS, fio=DIGESTS),
    lasting("split 100", event=None),
    lasting("split-data 512", event=None, harms=OF_READS),
    lasting("reorder", event=None),
    lie("r2t-empty", OF_WRITES),
    lie("r2t-beyond", OF_WRITES),
    lie("r2t-overlap", OF_WRITES),
    lie("r2t-too-many", OF_WRITES),
    lie("early-error", OF_WRITES, io=FAILS, event=None),
    lie("data-beyond", OF_READS),
    lie("data-out-of-order", OF_READS),
    lie("data-empty", OF_READS),
    lie("success-not-last", OF_READS),
    lie("short-success", OF_READS, event=None),
    lie("plen-huge", OF_READS),
    lie("pdo-unaligned", OF_READS),
    lie("unknown-cid"),
    lie("stale-cid"),
    lie("unknown-type"),
    lie("term-req"),
    lie("plen-0"),
    lie("hlen"),
    *(Fault(f"lie {what} + ana change", (f"at 300ms for 400ms on a lie {what}", "at 350ms for 200ms on a ana change"),
            event="state")
      for what in ("ana-group-0", "ana-group-beyond", "ana-state-0", "ana-state-7", "ana-nsids-beyond",
                   "ana-groups-more", "ana-groups-fewer", "ana-count-moves")),
    Fault("resize", ("at 300ms on all resize 128M",), event="namespace_changed"),
    # What comes before the host knows is refused for good.
    lasting("remove", io=MAY_FAIL, event="lost"),
    with_drop("identity another", event="refused"),
    once("fatal", event="lost"),
    once("reset", event="lost"),
    Fault("hold-writes + drop", ("at 300ms for 300ms on a hold-writes 200ms", "at 600ms on a drop"), event="lost",
          harms=OF_WRITES),
    Fault("delay + heal", ("at 300ms on a delay 20ms", "at 600ms on a heal"), event=None),
)



def of_iscsi(*faults):
    return tuple(dataclasses.replace(fault, name=f"iscsi: {fault.name}", protocol="iscsi") for fault in faults)


FAULTS += of_iscsi(
    lasting("ana non-optimized", event="state"),
    lasting("ana standby", event="state"),
    lasting("ana unavailable", event="state"),
    lasting("ana offline", event="state"),
    lasting("ana change", event="state"),
    lasting("ana standby", where="all", event="state"),
    once("drop", event="lost"),
    once("close", event="lost"),
    Fault("down", ("at 300ms for 1200ms on a down",), event="refused"),
    Fault("all: down", ("at 300ms for 1200ms on all down",), event="refused"),
    with_drop("refuse-connects", event="refused"),
    with_drop("reject-connects", event="refused"),
    with_drop("reject-connects authentication-failure", io=ALONE, event="given_up"),
    lasting("stall-reading", event="lost", fio=DEADLINE),
    lasting("stall-writing", event="lost", fio=DEADLINE),
    lasting("mute", event="lost", fio=DEADLINE),
    lasting("delay 20ms", event=None),
    once("fail sense 2/04/0b count 1", event=""),
    once("fail sense 6/29/00 count 3", event=None),
    once("fail sense 6/2a/06 count 3", event=None),
    once("fail sense b/47/05 count 3", event=None),
    once("fail sense 5/25/00 count 1", event=None),
    once("fail sense 3/11/00 count 1", io=FAILS, event=None),
    once("fail reservation-conflict count 1", io=FAILS, event=None),
    once("fail task-set-full count 3", event=None),
    once("busy count 3", event=None),
    once("flip header", event="lost", fio=DIGESTS),
    once("flip data", event=None, harms=OF_READS, fio=DIGESTS),
    lasting("split 100", event=None),
    lasting("split-data 512", event=None, harms=OF_READS),
    lasting("reorder", event=None),
    once("async logout 1s", event="lost"),
    once("ping", event=None),
    Fault("resize", ("at 300ms on all resize 128M",), event="namespace_changed"),
    # Noticed with the next TEST UNIT READY, or not at all.
    lasting("remove", io=MAY_FAIL),
    with_drop("identity another", event="refused"),
    Fault("hold-writes + drop", ("at 300ms for 300ms on a hold-writes 200ms", "at 600ms on a drop"), event="lost",
          harms=OF_WRITES),
    Fault("R2Ts of 4 KiB, bursts of 16 KiB + drop", ("at 300ms on a drop",), event="lost", fio=("--bs=16k",),
          target=("--max-burst=16k", "--first-burst=4k", "--r2t-size=4k", "--max-r2t=2", "--max-receive=8k")),
)

PATHS = (1, 2, 4)
OPERATIONS = (READ, WRITE, VERIFY)
DEPTHS = (1, 32)
BACKENDS = ("io_uring", "poll")


@dataclasses.dataclass(frozen=True)
class Row:
    fault: Fault
    paths: int
    operation: str
    depth: int
    backend: str

    def __str__(self):
        return f"{self.fault.name:<46} {self.paths:>5} {self.operation:<6} {self.depth:>5} {self.backend:<8}"

    @property
    def listeners(self):
        return tuple(f"name={name},delay=8ms" for name in "abcd"[:self.paths])

    @property
    def job(self):
        shape = {READ: ("--rw=randread", "--time_based", "--runtime=1800ms"),
                 WRITE: ("--rw=randwrite", "--time_based", "--runtime=1800ms"),
                 # Twice over the same blocks, so that one may hold what is older.
                 VERIFY: ("--rw=randrw", "--loops=2", "--verify=crc32c", "--verify_fatal=1")}[self.operation]
        # Blocks for about as long, at 8 ms an I/O.
        block = 16 if "--bs=16k" in self.fault.fio else 4
        size = block * (80 if self.depth == 1 else 2400)
        # Two seconds, so that a machine that stands still for one is no fault of a path.
        return ("--keep_alive_tmo=2", f"--bs={block}k", f"--size={size}k", f"--iodepth={self.depth}", *shape,
                *self.fault.fio)

    @property
    def must_fail(self):
        harmed = self.operation in self.fault.harms
        return harmed and (self.fault.io == FAILS or (self.fault.io == ALONE and self.paths == 1))


def rows():
    return [Row(fault, paths, operation, depth, backend) for fault in FAULTS for paths in PATHS
            for operation in OPERATIONS for depth in DEPTHS for backend in BACKENDS]


def slice_of(chance, size):
    """About `size` rows that harm, of each fault as many as of any other, and at least one."""
    chosen = []
    for fault in FAULTS:
        harmful = [row for row in rows() if row.fault == fault and row.operation in fault.harms]
        chosen += chance.sample(harmful, max(1, size // len(FAULTS)))
    return chosen
