# SPDX-License-Identifier: GPL-3.0-or-later
"""A program on a terminal of its own."""
import os
import pty
import re
import select
import time


class Terminal:
    def __init__(self, argv):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "dumb"
            os.execvp(argv[0], argv)

    def until(self, pattern, seconds=120):
        text, end = "", time.time() + seconds
        while time.time() < end and not re.search(pattern, text):
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    break
                text += data.decode(errors="replace").replace("\r", "")
        return text

    def type(self, text):
        os.write(self.fd, text.encode())
