/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GCC's headers, in the order that they need. */
#ifndef LIZARD_GCC_H
#define LIZARD_GCC_H

#include "gcc-plugin.h"
#include "versions.h"
#include "backend.h"
#include "rtl.h"
#include "tree.h"
#include "gimple.h"
#include "tree-pass.h"
#include "ssa.h"
#include "context.h"
#include "gimple-iterator.h"
#include "tree-cfg.h"
#include "tree-into-ssa.h"
#include "tree-eh.h"
#include "cfganal.h"
#include "cfgloop.h"
#include "cgraph.h"
#include "stringpool.h"
#include "attribs.h"
#include "diagnostic-core.h"
#include "memmodel.h"
#include "emit-rtl.h"
#include "df.h"
#include "regs.h"
#include "target.h"
#include "output.h"
#include "toplev.h"
#include "builtins.h"

#endif
