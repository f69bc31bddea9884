# SPDX-License-Identifier: Apache-2.0
"""A sluiced of the test's own: started on a free port, waited for, stopped, killed, started again.

As a program, for the shell scripts:
    broker.py free-port              prints a port on which nobody listens
    broker.py wait HOST:PORT SECONDS waits until a broker answers ApiVersions there
"""

import atexit
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

API_VERSIONS = 18


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def request(api_key, version, correlation_id, body=b"", client_id=b"test", flexible_header=False):
    """A whole request frame; flexible_header adds the empty section of tags."""
    header = struct.pack(">hhih", api_key, version, correlation_id, len(client_id)) + client_id
    if flexible_header:
        header += b"\0"
    return struct.pack(">i", len(header) + len(body)) + header + body


def receive_exactly(connection, length):
    data = b""
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise EOFError("the broker closed the connection")
        data += part
    return data


def receive_frame(connection):
    (length,) = struct.unpack(">i", receive_exactly(connection, 4))
    if not 4 <= length <= 64 * 1024 * 1024:
        raise ValueError("a frame of %d bytes" % length)
    return receive_exactly(connection, length)


def answers(address, timeout=5):
    """Whether a broker at (host, port) answers ApiVersions with error 0."""
    try:
        with socket.create_connection(address, timeout=timeout) as connection:
            connection.settimeout(timeout)
            connection.sendall(request(API_VERSIONS, 0, 7))
            reply = receive_frame(connection)
            return struct.unpack(">ih", reply[:6]) == (7, 0)
    except (OSError, EOFError, ValueError):
        return False


def wait_until(condition, seconds, what, step=0.02):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("waited %s s for: %s" % (seconds, what))
        time.sleep(step)


def split_address(text):
    host, _, port = text.rpartition(":")
    host = host.strip("[]")  # [::1]:9092
    return host, int(port)


class Broker:
    """`settings` are further name=value texts for --set, `flags` other options; `data` is log.dirs, by default
    a folder of its own."""

    def __init__(self, program, settings=(), data=None, flags=()):
        self.program = program
        self.flags = list(flags)
        self.settings = list(settings)
        self.folder = tempfile.mkdtemp(prefix="sluice-client-test-")
        self.data = os.path.join(self.folder, "data") if data is None else data
        self.port = free_port()
        self.process = None
        self.log_path = os.path.join(self.folder, "sluiced.log")
        atexit.register(self.close)

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    @property
    def bootstrap(self):
        return "127.0.0.1:%d" % self.port

    def start(self, seconds=30):
        command = [self.program, "--dev", "--set", "log.dirs=" + self.data,
                   "--set", "listeners=PLAINTEXT://" + self.bootstrap] + self.flags
        for setting in self.settings:
            command += ["--set", setting]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: self.process.poll() is not None or answers(self.address), seconds,
                   "the broker to answer")
        if self.process.poll() is not None:
            raise RuntimeError("%s ended with %s:\n%s" % (" ".join(command), self.process.returncode,
                                                          self.log_tail()))

    def stop(self, seconds=30):
        """Polite; the exit code must be 0."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise RuntimeError("sluiced goes on %s s after SIGTERM:\n%s" % (seconds, self.log_tail()))
        if code != 0:
            raise RuntimeError("sluiced ended with %s after SIGTERM:\n%s" % (code, self.log_tail()))

    def kill(self):
        self.process.kill()
        self.process.wait(30)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def rss_bytes(self):
        with open("/proc/%d/status" % self.process.pid) as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        raise RuntimeError("no VmRSS")

    def log_tail(self, size=4000):
        with open(self.log_path, "rb") as log:
            return log.read()[-size:].decode(errors="backslashreplace")

    def close(self):
        if self.is_running():
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Checks:
    """One line per check; the first that fails ends the program."""

    def __init__(self):
        self.began = time.monotonic()
        self.broker = None

    def that(self, what, condition, detail=""):
        if condition:
            print("   ok  %s" % what, flush=True)
            return
        print("NOT ok  %s%s" % (what, ": %s" % detail if detail else ""), flush=True)
        if self.broker is not None:
            print("the broker's log ends with:\n%s" % self.broker.log_tail(), flush=True)
        sys.exit(1)


def run_checks(main):
    """Runs main(); what went wrong beside the checks ends the program in one line, too."""
    try:
        main()
    except (RuntimeError, TimeoutError, subprocess.SubprocessError) as failure:
        print("NOT ok  %s" % failure, flush=True)
        sys.exit(1)


def main(arguments):
    if arguments[:1] == ["free-port"]:
        print(free_port())
    elif arguments[:1] == ["wait"] and len(arguments) == 3:
        address = split_address(arguments[1])
        try:
            wait_until(lambda: answers(address), float(arguments[2]), "a broker at " + arguments[1])
        except TimeoutError as late:
            sys.exit(str(late))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
