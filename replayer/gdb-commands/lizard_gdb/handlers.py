# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that GDB calls for events. GDB drops what such a function raises, and a Ctrl-C that comes meanwhile would be lost
with it. So all of them are connected here; scripts/check-handlers finds others."""
import functools
import os
import signal
import threading

from .server import uninterrupted

SOON = 0.05  # seconds: GDB is behind its handlers by then


def interrupt_soon():
    threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT)).start()


@functools.lru_cache(maxsize=None)
def keeping_interrupts(handler):
    """HANDLER, after which an interrupt that came meanwhile comes again."""

    @uninterrupted
    def call(*event):
        try:
            handler(*event)
        except KeyboardInterrupt:  # gdb.interrupt() in another thread is no signal
            interrupt_soon()
        finally:
            if signal.sigtimedwait({signal.SIGINT}, 0):
                interrupt_soon()

    return call


def listen(registry, handler):
    """HANDLER is called for the events of one of gdb.events."""
    registry.connect(keeping_interrupts(handler))


def ignore(registry, handler):
    """No longer."""
    registry.disconnect(keeping_interrupts(handler))
