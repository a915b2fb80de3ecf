#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""chi-square.py NATIVE RECORDED: do two files of lines `PLACE COUNT` come from one distribution? Prints the chi-square of the two
samples, its degrees of freedom, and how likely one as large is by chance (Wilson and Hilferty's approximation). Places that both
have seen less than ten times are one."""
import math
import sys


def read(name):
    with open(name, encoding="ascii") as f:
        return {int(a): int(b) for a, b in map(str.split, f)}


def bins(native, recorded):
    rest = [0, 0]
    for place in sorted(native.keys() | recorded.keys()):
        pair = [native.get(place, 0), recorded.get(place, 0)]
        if sum(pair) >= 10:
            yield pair
        else:
            rest = [rest[0] + pair[0], rest[1] + pair[1]]
    if sum(rest):
        yield rest


def chi_square(pairs):
    a, b = (sum(p[i] for p in pairs) for i in (0, 1))
    return sum((p[0] * math.sqrt(b / a) - p[1] * math.sqrt(a / b)) ** 2 / sum(p) for p in pairs)


def chance(chi, freedom):
    z = ((chi / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))
    return 0.5 * math.erfc(z / math.sqrt(2))


pairs = list(bins(read(sys.argv[1]), read(sys.argv[2])))
freedom = max(1, len(pairs) - 1)
chi = chi_square(pairs)
print("chi-square %.1f, %d degrees of freedom, p = %.3f" % (chi, freedom, chance(chi, freedom)))
