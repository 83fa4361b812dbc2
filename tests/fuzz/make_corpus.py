#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes the seeds in corpus/: well-formed input for each harness, and the faults that are hard to come upon by chance.

    make_corpus.py        all of them anew
"""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).with_name("corpus")
HDGST, DDGST, LAST, SUCCESS = 1, 2, 4, 8
C2H, RESP, R2T, TERM, ICRESP = 7, 5, 9, 3, 1


def pdu(kind, flags, hlen, header, data=b"", pdo=0, digests=0):
    """A PDU with room for the digests it has flags for; the harness fills them in."""
    flags |= digests & HDGST
    head = header + (b"\0" * 4 if digests & HDGST else b"")
    if data:
        pdo = max(pdo, 8 + len(head))
        body = head + b"\xee" * (pdo - 8 - len(head)) + data
        if digests & DDGST:
            flags |= DDGST
            body += b"\0" * 4
    else:
        body, pdo = head, 0
    return struct.pack("<BBBBI", kind, flags, hlen, pdo, 8 + len(body)) + body


def c2h(cid, offset, data, flags=0, pdo=0, digests=0):
    return pdu(C2H, flags, 24, struct.pack("<HHIII", cid, 0, offset, len(data), 0), data, pdo, digests)


def resp(cid, status=0, digests=0):
    return pdu(RESP, 0, 24, struct.pack("<IIHHHH", 0, 0, 1, 0, cid, status << 1), digests=digests)


def r2t(cid, ttag, offset, length, digests=0):
    return pdu(R2T, 0, 24, struct.pack("<HHIII", cid, ttag, offset, length, 0), digests=digests)


def term(fes, fei, quoted):
    return struct.pack("<BBBBI", TERM, 0, 24, 0, 24 + len(quoted)) + struct.pack("<HI", fes, fei) + b"\0" * 10 + quoted


def reads(pdo=0, digests=0):
    stream = c2h(0, 0, b"a" * 512, LAST | SUCCESS, pdo, digests)
    for offset in range(0, 4096, 999):
        part = min(999, 4096 - offset)
        stream += c2h(1, offset, b"b" * part, LAST if offset + part == 4096 else 0, pdo, digests)
    stream += resp(1, digests=digests)
    return stream + c2h(2, 0, b"c" * 40960, LAST | SUCCESS, pdo, digests)


def writes(digests=0):
    stream = r2t(3, 1, 0, 4096, digests) + resp(3, digests=digests)
    for offset in range(0, 65536, 16384):
        stream += r2t(4, 7, offset, 16384, digests)
    return stream + b"".join(resp(cid, digests=digests) for cid in (4, 5, 6))


def pdu_stream():
    def seed(stream, flags=0, hpda=0, max_r2t=0, cuts=3):
        return bytes([flags, hpda, max_r2t, cuts]) + stream

    yield "reads", seed(reads())
    yield "reads-digests", seed(reads(digests=3), 7)
    yield "reads-header-digest", seed(reads(digests=1), 5)
    yield "reads-data-digest-wrong", seed(reads(digests=2), 2)
    yield "reads-padded", seed(reads(pdo=128, digests=3), 7, 31)
    yield "writes", seed(writes())
    yield "writes-digests", seed(writes(3), 7)
    yield "writes-two-r2ts", seed(r2t(4, 1, 0, 512) + r2t(4, 2, 512, 65024) + resp(4) + reads(), 0, 0, 3)
    yield "early-error", seed(r2t(4, 1, 0, 65536) + resp(4, 6) + reads())
    yield "short-success", seed(c2h(1, 0, b"x" * 100, LAST | SUCCESS))
    yield "error-behind-data", seed(c2h(1, 0, b"x" * 4096, LAST) + resp(1, 0x281))
    yield "term-req", seed(term(1, 4, b"\x04" * 128))
    for name, stream in (("unknown-type", b"\x08\0\x18\0\x18\0\0\0" + b"\0" * 16),
                         ("plen-zero", b"\x05\0\x18\0\0\0\0\0" + b"\0" * 16),
                         ("plen-huge", b"\x07\x04\x18\x18\xff\xff\xff\xff" + b"\0" * 16),
                         ("hlen", b"\x05\0\x17\0\x18\0\0\0" + b"\0" * 16),
                         ("pdo-unaligned", c2h(0, 0, b"x" * 512, LAST, 29)),
                         ("unknown-cid", resp(9)), ("stale-generation", resp(0x1000)),
                         ("answered-twice", resp(3) + resp(3)), ("data-beyond", c2h(0, 0, b"x" * 516)),
                         ("data-out-of-order", c2h(1, 512, b"x" * 512)), ("data-unasked", c2h(3, 0, b"x" * 4)),
                         ("data-empty", c2h(0, 0, b"")), ("success-not-last", c2h(0, 0, b"x" * 512, SUCCESS)),
                         ("r2t-empty", r2t(3, 1, 0, 0)), ("r2t-beyond", r2t(3, 1, 0, 4100)),
                         ("r2t-out-of-order", r2t(3, 1, 4, 4)), ("r2t-unasked", r2t(0, 1, 0, 4)),
                         ("r2t-too-many", r2t(4, 1, 0, 4) + r2t(4, 2, 4, 4))):
        yield "fault-" + name, seed(stream)


def ic_resp(cpda=0, digests=0, maxh2c=4096, pfv=0):
    return struct.pack("<BBBBIHBBI", ICRESP, 0, 128, 0, 128, pfv, cpda, digests, maxh2c) + b"\0" * 112


def connect_answer():
    yield "ic-resp", b"\0\0" + ic_resp()
    yield "ic-resp-digests", b"\x06\0" + ic_resp(31, 3, 1 << 20)
    yield "ic-resp-unasked-digests", b"\0\0" + ic_resp(0, 3)
    yield "ic-resp-small", b"\0\0" + ic_resp(maxh2c=1024)
    yield "admin", b"\0\0" + resp(0)
    yield "admin-auth", b"\0\0" + pdu(RESP, 0, 24, struct.pack("<IIHHHH", 0x60001, 0, 1, 0, 0, 0))
    yield "io-queue", b"\1\0" + pdu(RESP, 0, 24, struct.pack("<IIHHHH", 7, 0, 1, 0, 0, 0))
    for status in (0x180, 0x181, 0x182, 0x183, 0x184, 0x185, 0x190, 0x191):
        yield f"refused-{status:x}", b"\0\0" + resp(0, status)
    yield "term-req", b"\0\0" + term(6, 8, b"\0" * 128)
    yield "http", b"\0\0HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n"
    yield "tls-alert", b"\0\0\x15\x03\x03\x00\x02\x02\x0a"


def identify():
    cap = struct.pack("<Q", 0x20 << 32 | 127 | 1 << 37)
    controller = bytearray(4096)
    controller[4:72] = b"SERIAL              Model of an array                        1.0     "[:68]
    controller[76] = 0x0b
    controller[77] = 5
    for offset, form, value in ((80, "<I", 0x20000), (92, "<I", 0x900), (320, "<H", 10), (344, "<I", 32), (348, "<I", 4),
                                (512, "<H", 0x4466), (516, "<I", 128), (520, "<H", 12), (536, "<I", 0x100001),
                                (1792, "<I", 516)):
        struct.pack_into(form, controller, offset, value)
    nvm = bytearray(4096)
    struct.pack_into("<BBBBIQ", nvm, 0, 0, 4, 0, 1, 4096, 4096)
    yield "controller", b"\0" + cap + bytes(controller + nvm)
    name_space = bytearray(4096)
    struct.pack_into("<QQQ", name_space, 0, 65536, 65536, 65536)
    struct.pack_into("<H", name_space, 46, 32)
    name_space[104:128] = bytes(range(24))
    for index, shift in enumerate((9, 12, 16, 8)):
        name_space[128 + 4 * index + 2] = shift
    yield "namespace", b"\1" + cap + b"\0\0\2\0\0\1\0\0\4" + bytes(name_space)
    descriptors = bytes([3, 16, 0, 0]) + bytes(range(16)) + bytes([2, 16, 0, 0]) + bytes(range(16)) + \
        bytes([1, 8, 0, 0]) + bytes(range(8)) + bytes([4, 1, 0, 0, 0]) + bytes(8)
    yield "descriptors", b"\2" + cap + bytes(name_space) + descriptors
    yield "namespaces", b"\3" + cap + struct.pack("<5I", 1, 2, 3, 0, 9)


def ana_log():
    def group(number, state, *nsids):
        return struct.pack("<IIQB15x", number, len(nsids), 7, state) + struct.pack(f"<{len(nsids)}I", *nsids)

    def log(groups, count=None):
        return struct.pack("<IIQH6x", 32, 1024, 3, len(groups) if count is None else count) + b"".join(groups)

    yield "two-groups", log([group(1, 1, 1, 3), group(2, 2, 2)])
    yield "empty-groups", log([group(n, 1) for n in range(1, 33)])
    yield "all-states", log([group(1, 1, 1), group(2, 2, 2), group(3, 3, 3), group(4, 4, 4), group(5, 15, 5)])
    yield "many-namespaces", log([group(1, 1, *range(1, 301))])
    yield "group-0", log([group(0, 1, 1)])
    yield "state-7", log([group(1, 7, 1)])
    yield "count-lies", log([group(1, 1, 1)], 9)
    yield "nnsids-lies", log([struct.pack("<IIQB15x", 1, 0xffffffff, 7, 1)])


def discovery_log():
    def entry(subtype, address, port, nqn, trtype=3, family=1, treq=0, flags=0, security=0):
        return struct.pack("<BBBBHHHH20x32s192x256s256s256s", trtype, family, subtype, treq, 1, 0xffff, 32, flags,
                           port, nqn, address, bytes([security]))

    def log(*entries, generation=1, count=None):
        return struct.pack("<QQH1006x", generation, len(entries) if count is None else count, 0) + b"".join(entries)

    nqn = b"nqn.2025-01.org.example:subsystem"
    yield "two-ports", log(entry(2, b"192.0.2.1", b"4420", nqn), entry(2, b"2001:db8::1", b"4420", nqn, family=2))
    yield "referral", log(entry(1, b"192.0.2.9", b"8009", b"nqn.2014-08.org.nvmexpress.discovery"))
    yield "current", log(entry(3, b"192.0.2.1", b"8009", b"nqn.2014-08.org.nvmexpress.discovery", flags=1))
    yield "tls", log(entry(2, b"192.0.2.1", b"4420", nqn, treq=1, security=2))
    yield "other-transport", log(entry(2, b"nn-0x1:pn-0x2", b"none", nqn, trtype=2, family=4))
    yield "link-local", log(entry(2, b"fe80::1%eth0", b"4420", nqn, family=2))
    yield "count-lies", log(count=1 << 60)
    yield "not-ended", log(entry(2, b"1" * 256, b"4" * 32, b"n" * 256))


def target_stream():
    def ic_req(hpda=0, digests=0, max_r2t=0):
        return struct.pack("<BBBBIHBBI", 0, 0, 128, 0, 128, 0, hpda, digests, max_r2t) + b"\0" * 112

    def capsule(sqe, data=b""):
        pdo = 72 if data else 0
        return struct.pack("<BBBBI", 4, 0, 72, pdo, 72 + len(data)) + sqe.ljust(64, b"\0") + data

    def sqe(opcode, cid, nsid, sgl_type, length, tail=b""):
        return struct.pack("<BBHI16xQI3xB", opcode, 0x40, cid, nsid, 0, length, sgl_type) + tail

    connect_data = (bytes(16) + struct.pack("<H", 0xffff)).ljust(256, b"\0") + \
        b"nqn.2025-01.io.fio-mpath:target".ljust(256, b"\0") + b"nqn.2014-08.org.nvmexpress:uuid:x".ljust(512, b"\0")
    connect = capsule(sqe(0x7f, 0, 1, 1, 1024, struct.pack("<HHHBxI", 0, 0, 31, 4, 0)), connect_data)
    enable = capsule(sqe(0x7f, 1, 0, 0x5a, 0, struct.pack("<B3xIQ", 0, 0x14, 0x460001)))
    get_cap = capsule(sqe(0x7f, 2, 4, 0x5a, 0, struct.pack("<B3xI", 1, 0)))
    identify_controller = capsule(sqe(6, 3, 0, 0x5a, 4096, struct.pack("<I", 1)))
    admin = ic_req() + connect + get_cap + enable + identify_controller
    yield "admin", b"\0\0" + admin
    yield "admin-log", b"\0\0" + admin + capsule(sqe(2, 4, 0, 0x5a, 4096, struct.pack("<I", 0x3ff000c)))
    yield "ic-req-digests", b"\0\0" + ic_req(31, 3, 3)
    yield "not-connected-write", b"\0\0" + ic_req() + capsule(sqe(1, 9, 1, 1, 512, struct.pack("<QHH", 0, 0, 0)), b"w" * 512)
    yield "h2c-data", b"\0\0" + ic_req() + struct.pack("<BBBBIHHIII", 6, 4, 24, 24, 28, 0, 0, 0, 4, 0) + b"data"
    yield "term-req", b"\0\0" + ic_req() + b"\x02\0\x18\0\x18\0\0\0" + b"\0" * 16
    discovery = connect_data.replace(b"nqn.2025-01.io.fio-mpath:target".ljust(40, b"\0"),
                                     b"nqn.2014-08.org.nvmexpress.discovery".ljust(40, b"\0"))
    yield "discovery", b"\0\0" + ic_req() + capsule(sqe(0x7f, 0, 1, 1, 1024, struct.pack("<HHHBxI", 0, 0, 31, 4, 0)), discovery) + \
        enable + capsule(sqe(2, 4, 0, 0x5a, 1024, struct.pack("<I", 0xff0070)))


def iscsi_text(*pairs):
    return b"".join(key + b"=" + value + b"\0" for key, value in pairs)


def iscsi_login():
    HEADER_DIGEST, DATA_DIGEST, CHAP, BOTH_WAYS, DISCOVERY = 1, 2, 4, 8, 16
    TRANSIT, CONTINUE = 0x80, 0x40
    isid = bytes([0x80, 1, 2, 3, 0, 7])

    def response(flags, *pairs, status=0, raw=None, tsih=0):
        text = iscsi_text(*pairs) if raw is None else raw
        return struct.pack(">BBBBI6sHIIIIIH10x", 0x23, flags, 0, 0, len(text), isid, tsih, 1, 0, 1, 1, 32, status) + \
            text + b"\0" * (-len(text) % 4)

    def seed(*pdus, options=0, cuts=0):
        return bytes([options, cuts]) + b"".join(pdus)

    none = (b"AuthMethod", b"None")
    let_in = response(TRANSIT | 1, (b"TargetPortalGroupTag", b"1"), none)
    agreed = ((b"HeaderDigest", b"None"), (b"DataDigest", b"None"), (b"MaxRecvDataSegmentLength", b"8192"),
              (b"InitialR2T", b"Yes"), (b"ImmediateData", b"Yes"), (b"MaxBurstLength", b"262144"),
              (b"FirstBurstLength", b"65536"), (b"MaxOutstandingR2T", b"1"), (b"MaxConnections", b"1"),
              (b"DataPDUInOrder", b"Yes"), (b"DataSequenceInOrder", b"Yes"), (b"DefaultTime2Wait", b"2"),
              (b"DefaultTime2Retain", b"0"), (b"ErrorRecoveryLevel", b"0"))
    full = response(TRANSIT | 4 | 3, *agreed, tsih=1)
    yield "plain", seed(let_in, full)
    yield "plain-in-cuts", seed(let_in, full, cuts=3)
    yield "discovery", seed(let_in, response(TRANSIT | 4 | 3, tsih=1), options=DISCOVERY)
    crc = response(TRANSIT | 4 | 3, (b"HeaderDigest", b"CRC32C"), (b"DataDigest", b"CRC32C"), tsih=1)
    yield "digests", seed(let_in, crc, options=HEADER_DIGEST | DATA_DIGEST)
    chap = (response(0, (b"AuthMethod", b"CHAP")),
            response(0, (b"CHAP_A", b"5"), (b"CHAP_I", b"9"), (b"CHAP_C", b"0x0102030405060708")))
    yield "chap", seed(*chap, response(TRANSIT | 1), full, options=CHAP)
    yield "chap-base64", seed(chap[0], response(0, (b"CHAP_A", b"8"), (b"CHAP_I", b"0xff"), (b"CHAP_C", b"0bYWJjZA==")),
                              response(TRANSIT | 1), full, options=CHAP)
    yield "chap-both-ways", seed(*chap, response(TRANSIT | 1, (b"CHAP_N", b"it"), (b"CHAP_R", b"0x" + b"ab" * 16)), full,
                                 options=CHAP | BOTH_WAYS)
    yield "offers", seed(let_in, response(4, (b"IFMarker", b"Yes"), (b"X-a.b", b"1"), (b"MaxBurstLength", b"512")), full)
    yield "pieces", seed(let_in, response(CONTINUE | 4, raw=b"MaxBurst"), response(4, raw=b"Length=8192\0"), full)
    yield "refusals", seed(let_in, response(TRANSIT | 4 | 3, *((key, b"Reject") for key, _ in agreed[3:]), tsih=1))
    yield "moved", seed(response(0, (b"TargetAddress", b"127.0.0.1:3260,1"), status=0x101), let_in, full)
    yield "moved-ipv6", seed(response(0, (b"TargetAddress", b"[::1]"), status=0x102), let_in, full)
    for status in (0x201, 0x202, 0x203, 0x206, 0x300, 0x301):
        yield f"refused-{status:x}", seed(response(0, status=status))
    yield "reject", seed(struct.pack(">BBB", 0x3f, 0x80, 4) + b"\0" * 45)
    yield "http", seed(b"HTTP/1.1 400 Bad Request\r\nServer: x\r\nContent-Length: 0\r\n\r\n")
    yield "tls-alert", seed(b"\x15\x03\x03\x00\x02\x02\x0a")


def send_targets():
    def target(name, *addresses):
        return iscsi_text((b"TargetName", name), *((b"TargetAddress", address) for address in addresses))

    yield "two-portals", target(b"iqn.2025-01.org.example:a", b"192.0.2.1:3260,1", b"[2001:db8::1]:3260,2")
    yield "two-targets", target(b"iqn.2025-01.org.example:a") + target(b"eui.0123456789abcdef", b"array.example.org,1")
    yield "twice", target(b"iqn.a", b"h:1,1", b"h:1,1") * 2
    yield "link-local", target(b"naa.0123456789abcdef", b"[fe80::1%25eth0]:3260,1")
    yield "no-target", iscsi_text((b"TargetAddress", b"h:1,1"))
    yield "binary", iscsi_text((b"CHAP_C", b"0x0102"), (b"CHAP_R", b"0bYWJj"), (b"CHAP_I", b"0xff"))


def iscsi_pdu_stream():
    HEADER, DATA, MEND_DIGESTS, MEND_NUMBERS, UNASKED = 1, 2, 4, 8, 16
    FINAL, STATUS, UNDERFLOW = 0x80, 0x01, 0x02
    none = 0xffffffff

    def pdu(opcode, flags, tag, fields, data=b"", digests=0, bytes2=b"\0\0"):
        """`fields`: from byte 20 on. The harness numbers it, and fills in the digests."""
        head = struct.pack(">BB2sI8sI", opcode, flags, bytes2, len(data), bytes(8), tag) + fields.ljust(28, b"\0")
        head += b"\0" * 4 if digests & HEADER else b""
        tail = b"\0" * (-len(data) % 4) + (b"\0" * 4 if data and digests & DATA else b"")
        return head + data + tail

    def data_in(tag, number, offset, data, flags=0, digests=0, status=0, residual=0):
        return pdu(0x25, flags, tag, struct.pack(">7I", none, 0, 1, 40, number, offset, residual), data, digests,
                   bytes([0, status]))

    def response(tag, status=0, sense=b"", flags=0, residual=0, digests=0, failed=0):
        segment = struct.pack(">H", len(sense)) + sense if sense else b""
        return pdu(0x21, FINAL | flags, tag, struct.pack(">7I", 0, 0, 1, 40, 0, 0, residual), segment, digests,
                   bytes([failed, status]))

    def r2t(tag, number, target_tag, offset, length, digests=0):
        return pdu(0x31, FINAL, tag, struct.pack(">7I", target_tag, 0, 1, 40, number, offset, length), b"", digests)

    def nop_in(tag=none, target_tag=none):
        return pdu(0x20, FINAL, tag, struct.pack(">4I", target_tag, 0, 1, 50))

    def other(opcode, tag, response=0, data=b"", tail=b""):
        return pdu(opcode, FINAL, tag, struct.pack(">4I", 0, 0, 1, 40) + tail, data, 0, bytes([response, 0]))

    def reads(digests=0):
        stream = data_in(0, 0, 0, b"a" * 512, FINAL | STATUS, digests)
        for number, offset in enumerate(range(0, 4095, 999)):
            part = min(999, 4095 - offset)
            stream += data_in(1, number, offset, b"b" * part, FINAL if offset + part == 4095 else 0, digests)
        stream += response(1, digests=digests)
        return stream + data_in(2, 0, 0, b"c" * 32768, 0, digests) + \
            data_in(2, 1, 32768, b"c" * 8192, FINAL | STATUS, digests)

    def writes(digests=0):
        stream = r2t(3, 0, 1, 0, 4096, digests) + response(3, digests=digests)
        for number, offset in enumerate(range(0, 65536, 16384)):
            stream += r2t(4, number, 7, offset, 16384, digests)
        return stream + r2t(6, 0, 2, 0, 511, digests) + b"".join(response(tag, digests=digests) for tag in (4, 5, 6))

    def seed(stream, flags=MEND_NUMBERS, r2ts=0, cuts=3):
        return bytes([flags, r2ts, cuts]) + stream

    mend = MEND_DIGESTS | MEND_NUMBERS
    sense = bytes([0x70, 0, 6, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x2a, 6, 0, 0, 0, 0])
    yield "reads", seed(reads())
    yield "reads-digests", seed(reads(3), 3 | mend)
    yield "reads-header-digest", seed(reads(1), 1 | mend)
    yield "reads-data-digest-wrong", seed(reads(2), 2 | MEND_NUMBERS)
    yield "writes", seed(writes())
    yield "writes-digests", seed(writes(3), 3 | mend)
    yield "writes-two-r2ts", seed(r2t(4, 0, 1, 0, 512) + r2t(4, 1, 2, 512, 32768) + response(4) + reads(), r2ts=3)
    yield "writes-unasked", seed(r2t(4, 0, 1, 8192, 32768) + r2t(4, 1, 1, 40960, 24576) +
                                 b"".join(response(tag) for tag in (4, 3, 6)), MEND_NUMBERS | UNASKED, 3)
    yield "early-error", seed(r2t(4, 0, 1, 0, 32768) + response(4, 2, sense) + reads())
    yield "short-success", seed(data_in(1, 0, 0, b"x" * 100, FINAL | STATUS | UNDERFLOW, residual=3995))
    yield "failed", seed(response(1, failed=1) + response(5, 2, sense) + response(0, 8))
    yield "pings", seed(nop_in(target_tag=5) + nop_in(0x80000000) + nop_in())
    yield "task-management", seed(other(0x22, 0x80000002) + other(0x22, 0x80000003))
    yield "task-unknown", seed(other(0x22, 0x80000002, 1) + other(0x22, 0x80000003, 255) + reads())
    yield "logout", seed(other(0x26, 0x80000001))
    for event in range(6):
        data = struct.pack(">H", len(sense)) + sense if event == 0 else b""
        yield f"async-{event}", seed(other(0x32, none, 0, data, struct.pack(">BBHHH", event, 0, 1, 2, 3)))
    yield "reject-data", seed(other(0x3f, none, 2, b"\x05" + bytes(47)) + response(3, 2, sense))
    yield "reject", seed(other(0x3f, none, 4, b"\x01" + bytes(47)))
    for name, stream in (("unknown-opcode", other(0x30, none)), ("additional-header", b"\x21\x80\0\0\1" + bytes(43)),
                         ("data-huge", b"\x25\0\0\0\0\xff\xff\xff" + bytes(40)), ("unknown-tag", response(9)),
                         ("stale-generation", response(0x1000)), ("answered-twice", response(3) + response(3)),
                         ("data-beyond", data_in(0, 0, 0, b"x" * 516)), ("data-out-of-order", data_in(1, 0, 512, b"x" * 512)),
                         ("data-sn", data_in(1, 1, 0, b"x" * 512)), ("data-unasked", data_in(3, 0, 0, b"x" * 4)),
                         ("status-not-last", data_in(0, 0, 0, b"x" * 512, STATUS)), ("r2t-empty", r2t(3, 0, 1, 0, 0)),
                         ("r2t-beyond", r2t(3, 0, 1, 0, 4100)), ("r2t-out-of-order", r2t(3, 0, 1, 4, 4)),
                         ("r2t-sn", r2t(3, 1, 1, 0, 4)), ("r2t-no-tag", r2t(3, 0, none, 0, 4)),
                         ("r2t-burst", r2t(4, 0, 1, 0, 65536)), ("r2t-unasked", r2t(0, 0, 1, 0, 4)),
                         ("r2t-too-many", r2t(4, 0, 1, 0, 4) + r2t(4, 1, 2, 4, 4)), ("pong-twice", nop_in(0x80000000) * 2)):
        yield "fault-" + name, seed(stream)
    yield "fault-stat-sn", seed(response(5), 0)


def iscsi_target_stream():
    LOGGED_IN, DISCOVERY, CHAP = 2, 4, 8

    def seed(options, *pdus, cuts=1):
        return bytes([options, cuts]) + b"".join(pdus)

    def bhs(opcode, flags, lun, tag, fields, data=b""):
        head = struct.pack(">BBHI8sI", opcode, flags, 0, len(data), lun, tag) + fields.ljust(28, b"\0")
        return head + data + b"\0" * (-len(data) % 4)

    def login(flags, *pairs):
        text = b"".join(f"{key}={value}".encode() + b"\0" for key, value in pairs)
        return bhs(0x43, flags, b"\x80\1\2\3\0\1\0\0", 1, b"", text)

    def command(tag, number, flags, expected, cdb, data=b"", lun=bytes(8)):
        return bhs(0x01, flags, lun, tag, struct.pack(">III", expected, number, 1) + cdb.ljust(16, b"\0"), data)

    def data_out(tag, target_tag, number, offset, data, final=True):
        return bhs(0x05, 0x80 if final else 0, bytes(8), tag,
                   struct.pack(">IIIIII", target_tag, 0, 1, 0, number, offset), data)

    def blocks(opcode, lba, count, flags=0):
        return struct.pack(">BBQI", opcode, flags, lba, count)

    names = ("InitiatorName", "iqn.2025-01.io.test:fuzz"), ("TargetName", "iqn.2025-01.io.fio-mpath:target")
    none = 0xffffffff
    yield "login", seed(0, login(0x87, *names, ("HeaderDigest", "None"), ("MaxBurstLength", "65536")))
    yield "login-stages", seed(0, login(0x81, *names, ("AuthMethod", "None")), login(0x04, ("InitialR2T", "Yes")), login(0x87))
    yield "login-chap", seed(CHAP, login(0x81, *names, ("AuthMethod", "CHAP,None")), login(0x00, ("CHAP_A", "5,7")),
                             login(0x81, ("CHAP_N", "user"), ("CHAP_R", "0x" + "00" * 16), ("CHAP_I", "1"), ("CHAP_C", "0b" + "AAAA" * 4)))
    yield "login-digests", seed(0, login(0x87, *names, ("HeaderDigest", "CRC32C"), ("DataDigest", "CRC32C")), command(1, 0, 0x80, 0, b"\0"))
    yield "send-targets", seed(LOGGED_IN | DISCOVERY, bhs(0x04, 0x80, bytes(8), 2, struct.pack(">III", none, 0, 1), b"SendTargets=All\0"))
    yield "inquiry", seed(LOGGED_IN, command(1, 0, 0xc0, 255, bytes([0x12, 1, 0x83, 0, 255])),
                          command(2, 1, 0xc0, 32, b"\x9e\x10" + bytes(8) + b"\0\0\0\x20"),
                          command(3, 2, 0xc0, 255, bytes([0xa3, 0x2a, 0, 0, 0, 0, 0, 0, 0, 255])),
                          command(4, 3, 0xc0, 255, bytes([0x1a, 0, 0x3f, 0, 255])),
                          command(5, 4, 0xc0, 512, bytes([0xa3, 0x0c, 0x80, 0, 0, 0, 0, 0, 2])))
    yield "read", seed(LOGGED_IN, command(1, 0, 0xc0, 65536, blocks(0x88, 3, 16)), command(2, 1, 0xc0, 100, blocks(0x88, 255, 1)))
    yield "write-immediate", seed(LOGGED_IN, command(1, 0, 0xa0, 4096, blocks(0x8a, 1, 1), b"i" * 4096))
    yield "write-unsolicited", seed(LOGGED_IN, command(1, 0, 0x20, 4096, blocks(0x8a, 1, 1), b"i" * 100),
                                    data_out(1, none, 0, 100, b"u" * 3996))
    yield "write-r2t", seed(LOGGED_IN, command(1, 0, 0xa0, 8192, blocks(0x8a, 1, 2)), data_out(1, 0, 0, 0, b"a" * 4096),
                            data_out(1, 1, 0, 4096, b"b" * 4096))
    yield "unmap", seed(LOGGED_IN, command(1, 0, 0xa0, 24, bytes([0x42, 0, 0, 0, 0, 0, 0, 0, 24]),
                                           struct.pack(">HHIQII", 22, 16, 0, 3, 5, 0)),
                        command(2, 1, 0x80, 0, blocks(0x93, 0, 4, 1)), command(3, 2, 0x80, 0, blocks(0x91, 0, 0)))
    yield "abort", seed(LOGGED_IN, command(1, 0, 0xa0, 8192, blocks(0x8a, 1, 2)),
                        bhs(0x42, 0x81, bytes(8), 2, struct.pack(">IIII", 1, 1, 1, 0)), data_out(1, 0, 0, 0, b"a" * 4096),
                        bhs(0x42, 0x85, bytes(8), 3, struct.pack(">IIII", none, 1, 1, 0)))
    yield "nop-logout", seed(LOGGED_IN, bhs(0x40, 0x80, bytes(8), 9, struct.pack(">III", none, 0, 1), b"ping"),
                             bhs(0x46, 0x80, bytes(8), 10, struct.pack(">III", 0, 0, 1)))


def sense():
    def fixed(code, key, asc, ascq, more=10):
        return bytes([2, code, 0, key, 0, 0, 0, 0, more, 0, 0, 0, 0, asc, ascq, 0, 0, 0, 0])

    yield "good", b"\0"
    yield "busy", b"\x08"
    yield "standby", fixed(0x70, 2, 0x04, 0x0b)
    yield "state-changed", fixed(0x70, 6, 0x2a, 0x06)
    yield "recovered", fixed(0x70, 1, 0x17, 0x01)
    yield "recovered-deferred", fixed(0x71, 1, 0x17, 0x01)
    yield "short", fixed(0x70, 5, 0x25, 0x00, 4)
    yield "descriptors", bytes([2, 0x72, 6, 0x29, 0, 0, 0, 0, 12, 0, 10]) + bytes(10)
    yield "descriptors-deferred", bytes([2, 0x73, 3, 0x0c, 0, 0, 0, 0, 0])


def port_groups():
    def answer(*groups, header=b"", extended=0):
        body = header + b"".join(groups)
        return bytes([extended]) + struct.pack(">I", len(body)) + body

    def group(state, number, *ports):
        return struct.pack(">BBHBBBB", state, 0xff, number, 0, 0, 0, len(ports)) + b"".join(
            struct.pack(">HH", 0, port) for port in ports)

    both = group(0x80, 1, 1, 2), group(0x02, 2, 3)
    yield "plain", answer(*both)
    yield "extended", answer(*both, header=b"\x10\x3c\0\0", extended=1)
    yield "not-extended", answer(*both, extended=1)
    yield "no-port", answer(group(0x0f, 1), group(0x0e, 2), group(0x04, 3))
    yield "cut", answer(*both)[:-3]
    yield "shorter-than-its-header", b"\1\0\0\0\2\x10\x3c\0\0"


def vpd():
    INQUIRY, PAGES, SERIAL, IDENTIFICATION, LIMITS, LUNS = range(6)

    def page(number, body):
        return struct.pack(">BBH", 0, number, len(body)) + body

    def designator(kind, value, association=0):
        return struct.pack("BBBB", 1, association << 4 | kind, 0, len(value)) + value

    def limits(last=0x3ffff, block=4096, flags=0, thin=0x8000, unmap=0xc0):
        capacity = struct.pack(">QIBBH", last, block, flags, 0, thin).ljust(32, b"\0")
        block_limits = struct.pack(">BBHIIIIIIIQ", 1, 0, 8, 512, 0, 0, 1024, 1, 8, 0, 256).ljust(60, b"\0")
        caching = bytes([0x17, 0, 0x90, 0, 8, 0x12, 4])
        return bytes([LIMITS]) + capacity + page(0xb0, block_limits) + page(0xb2, bytes([0, unmap, 2, 0])) + caching

    names = (designator(3, b"\x60\x01\x40\x5a" + bytes(range(12))), designator(3, b"\x50\x01\x40\x5a" + bytes(4)),
             designator(2, b"\0\x25\x38" + bytes(5)), designator(3, b"\x30" + bytes(6) + b"\1"),
             designator(1, b"IET     00010001"), designator(8, b"iqn.2003-01.org:d,L,0x1\0"),
             designator(4, b"\0\0\0\1", 1), designator(5, b"\0\0\0\2", 1))
    yield "disk", bytes([INQUIRY]) + bytes([0, 0, 6, 2, 31, 0x30, 0, 2]) + b"FIO     disk            1.0 "
    yield "no-disk", bytes([INQUIRY]) + bytes([0x0c, 0, 6, 2, 31, 0, 0, 0]) + bytes(28)
    yield "pages", bytes([PAGES]) + page(0, b"\0\x80\x83\xb0\xb2")
    yield "serial", bytes([SERIAL]) + page(0x80, b"  0001 ")
    yield "identification", bytes([IDENTIFICATION]) + page(0x83, b"".join(names))
    yield "identification-cut", bytes([IDENTIFICATION]) + page(0x83, b"".join(names))[:-2]
    yield "identification-blank", bytes([IDENTIFICATION]) + page(0x83, designator(1, b"IET".ljust(16)) + designator(2, bytes(8)))
    yield "limits", limits()
    yield "limits-write-same", limits(unmap=0x40)
    yield "limits-protected", limits(flags=1)
    yield "limits-odd-block", limits(block=520)
    yield "limits-too-large", limits(last=2**64 - 1)
    yield "luns", bytes([LUNS]) + struct.pack(">II", 32, 0) + b"".join(
        bytes(lun).ljust(8, b"\0") for lun in ([0, 7], [0x41, 0], [0xc1, 1], [0, 1, 0, 2]))


def main():
    for seeds in (pdu_stream, connect_answer, identify, ana_log, discovery_log, iscsi_login, iscsi_pdu_stream,
                  iscsi_target_stream, port_groups, send_targets, sense, target_stream, vpd):
        folder = CORPUS / seeds.__name__
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for name, content in seeds():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
