# SPDX-License-Identifier: GPL-2.0-only
"""Peers that are no target, and other things a path may lead to by mistake."""
import contextlib
import os
import socket
import stat
import threading

import lab

# As the standard lays it out: type 1, HLEN and PLEN 128, MAXH2CDATA 128 KiB.
IC_RESP = bytes([1, 0, 128, 0, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]).ljust(128, b"\0")


def _serve(listener, answers, close):
    held = []
    with contextlib.suppress(OSError):  # the listener is closed at the end of the test
        while True:
            connection, _ = listener.accept()
            held.append(connection)
            with contextlib.suppress(OSError):
                for answer in answers:
                    connection.recv(4096)
                    connection.sendall(answer)
                if close:
                    connection.close()
    for connection in held:
        connection.close()


@contextlib.contextmanager
def speaking(*answers, close=False):
    """A server that answers what comes first with the first of `answers`, and so on, and then is silent, or closes.

    Gives its ADDRESS:PORT.
    """
    with socket.create_server((lab.own_address(), 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, answers, close))
        thread.start()
        host, port = listener.getsockname()
        try:
            yield f"{host}:{port}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@contextlib.contextmanager
def closed_port():
    """The ADDRESS:PORT of a port where nobody listens: bound, so that nobody else can."""
    with socket.socket() as bound:
        bound.bind((lab.own_address(), 0))
        host, port = bound.getsockname()
        yield f"{host}:{port}"


def make_block_device(name):
    """A node for a block device whose driver does not exist: it can be looked at, never opened."""
    os.mknod(name, 0o600 | stat.S_IFBLK, os.makedev(240, 0))


def connections_of(address):
    """How many connections lead to the ADDRESS:PORT of a peer here."""
    return len(lab.connections_to(int(address.rpartition(":")[2])))
