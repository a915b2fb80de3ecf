#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to a web server on loopback: http-load.py PORT REQUESTS DIRECTORY

Several connections at a time, some kept alive, some not; whole files, ranges, compressed ones, such as are not there. Each
answer is compared with the file below DIRECTORY. Prints how many were right, and what was wrong.
"""
import gzip
import http.client
import os
import sys
import threading

port, requests, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
CONNECTIONS = 8
files = {}
for name in sorted(os.listdir(directory)):
    if os.path.isfile(os.path.join(directory, name)):
        with open(os.path.join(directory, name), "rb") as f:
            files["/" + name] = f.read()
names = list(files)
right = [0] * CONNECTIONS
wrong = []


def ask(connection, n):
    """True, or what is wrong with the answer to request number N."""
    path, headers, method = names[n % len(names)], {}, "GET"
    whole = files[path]
    want = (200, whole)
    if n % 7 == 1:
        headers["Range"] = "bytes=%d-%d" % (n % 50, n % 50 + 1000)
        part = whole[n % 50 : n % 50 + 1001]
        want = (206, part) if part else (416, None)
    elif n % 7 == 2:
        headers["Accept-Encoding"] = "gzip"
    elif n % 7 == 3:
        path, want = "/missing%d" % n, (404, None)
    elif n % 7 == 4:
        method, want = "HEAD", (200, b"")
    elif n % 7 == 5:
        method, want = "POST", (405, None)
    if n % 5 == 0:
        headers["Connection"] = "close"
    connection.request(method, path, b"x" * n if method == "POST" else None, headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.getheader("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    good = answer.status == want[0] and (want[1] is None or body == want[1])
    return good or "%s %s %s: status %d, %d bytes" % (method, path, headers, answer.status, len(body))


def work(k):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    for n in range(k, requests, CONNECTIONS):
        result = ask(connection, n)
        if result is True:
            right[k] += 1
        else:
            wrong.append(result)
    connection.close()


threads = [threading.Thread(target=work, args=(k,)) for k in range(CONNECTIONS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sum(right), "right")
print("\n".join(wrong[:10]), end="")
