# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by lizard-gdb: where conditions stop, evaluated by GDB and where the process is.
import gdb
import random

VALUES = """n seed wide p->tiny p->byte p->little p->port p->whole p->count p->big p->mask p->colour p->odd p->low p->high p->share p->part
p->next->whole p->next->mask present->tiny present->big total calls p->name[0] items[n%8].little items[n].byte *(short*)p local index p->next
present p &items[2] *(int*)0 $rdi $rsi $rsp $rip $eflags $edi $al $_ BLUE (enum\tcolour)n p-items p->next-items &p->whole *(long*)p->mask
sizeof(*p)""".split()
NUMBERS = """0 1 3 -1 7 40 63 64 127 128 255 256 -128 65535 0x7fffffff 0x80000000 0xffffffff 0x100000000 -2147483648 1l<<40
0xfffffffffffffffful 'a' '\\xff' 5u""".split()
OPERATORS = "+ - * / % << >> & | ^ == != < > <= >= && || == < >".split()
TYPES = "char,signed char,unsigned char,short,unsigned short,int,unsigned,long,unsigned long".split(",")
last = []
handed_over = []  # was the last condition? GDB 18 no longer says so after a move that reads libraries anew


def on_stop(event):
    last[:] = [p.number for p in event.breakpoints] if isinstance(event, gdb.BreakpointEvent) else []


gdb.events.stop.connect(on_stop)


def expression(depth):
    chance = random.random()
    if depth == 0 or chance < 0.15:
        return random.choice(VALUES if random.random() < 0.7 else NUMBERS).replace("\t", " ")
    if chance < 0.25:
        return "%s(%s)" % (random.choice("-!~"), expression(depth - 1))
    if chance < 0.38:
        return "(%s)(%s)" % (random.choice(TYPES), expression(depth - 1))
    if chance < 0.42:
        return "(%s ? %s : %s)" % tuple(expression(depth - 1) for _ in range(3))
    return "(%s %s %s)" % (expression(depth - 1), random.choice(OPERATORS), expression(depth - 1))


def place():
    return gdb.execute("when", to_string=True).split("position ")[1].split()[0]


def stops(move, most=10):
    """The positions at which MOVE stops again and again, with the breakpoints and what GDB says of the condition."""
    found = []
    while len(found) < most:
        said = gdb.execute(move, to_string=True)
        errors = [line for line in said.splitlines() if "rror in testing" in line or "annot access" in line]
        found.append((place(), tuple(last), tuple(errors)))
        if not last:
            break
    return found


def both_ways(where):
    gdb.execute("set breakpoint condition-evaluation " + where)
    gdb.execute("jump_backward start", to_string=True)
    forward = stops("continue")
    handed_over[:] = [is_handed_over()]
    gdb.execute("jump_forward end", to_string=True)
    return forward, stops("reverse-continue")


def is_handed_over():
    return "(target evals)" in gdb.execute("info breakpoints", to_string=True)


def compare(seed, times):
    """Says of how many conditions, of how many handed over, the stops differ."""
    random.seed(seed)
    different = handed = 0
    for _ in range(times):
        condition = expression(random.choice((1, 2, 2, 3)))
        gdb.execute("delete")
        try:
            gdb.execute("break visit if " + condition, to_string=True)
        except gdb.error:
            continue
        host, target = both_ways("host"), both_ways("target")
        handed += handed_over[0]
        if host != target:
            different += 1
            print("differs: %s\n  %s\n  %s" % (condition, host, target))
    print("different %d, handed over %s" % (different, "some" if handed > times / 3 else handed))
