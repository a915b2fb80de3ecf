#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of GDB's Debug Adapter: `dap.py COMMAND... -- TEXT...` starts COMMAND and has it evaluate each TEXT as typed at
GDB's prompt. Prints the adapter's capabilities, then the answers."""
import json
import subprocess
import sys


class Adapter:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.n = 0

    def read(self):
        header = b""
        while not header.endswith(b"\r\n\r\n"):
            byte = self.process.stdout.read(1)
            if not byte:
                sys.exit("the adapter ended behind %r" % header)
            header += byte
        name, length = header.decode("ascii").split(":")
        if name != "Content-Length":
            sys.exit("no header: %r" % header)
        return json.loads(self.process.stdout.read(int(length)))

    def request(self, command, **arguments):
        self.n += 1
        text = json.dumps({"type": "request", "seq": self.n, "command": command, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()
        while True:
            answer = self.read()
            if answer["type"] == "response" and answer["request_seq"] == self.n:
                return answer


def main():
    at = sys.argv.index("--")
    adapter = Adapter(sys.argv[1:at])
    for name in sorted(adapter.request("initialize", adapterID="lizard")["body"]):
        print("capability", name)
    for text in sys.argv[at + 1 :]:
        answer = adapter.request("evaluate", context="repl", expression=text)
        print("--", text)
        print(answer["body"]["result"] if answer["success"] else "failed: " + answer["message"])
    adapter.request("disconnect", terminateDebuggee=True)
    print("ended with", adapter.process.wait(timeout=30))


main()
