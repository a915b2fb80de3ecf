/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saving r15 in the prologue of the functions that foreign code may enter.
 *
 * r15 is fixed, so that nobody allocates it, but a fixed register is not saved.
 * So while the frame is laid out and while prologue and epilogue are made it
 * counts as an ordinary callee-saved register that the function changes (the
 * entry asm clobbers it): it gets a push, a pop and its line in the CFI, by
 * which exceptions and debuggers find the caller's value. */
#include "gcc.h"
#include "plugin.h"

bool lz_save_r15;

static int shrink_wrap_separate;

static void fix_r15(bool fixed)
{
	if (global_regs[R15_REG])
		return;
	fixed_regs[R15_REG] = fixed;
	this_target_hard_regs->x_call_used_regs[R15_REG] = fixed;
	if (!fixed)
		df_set_regs_ever_live(R15_REG, true);
}

/* Or the restore, whose value nobody seems to want, is deleted. */
static void use_r15_before_returns()
{
	for (rtx_insn *insn = get_insns(); insn; insn = NEXT_INSN(insn))
		if ((CALL_P(insn) && SIBLING_CALL_P(insn)) ||
		    (JUMP_P(insn) && ANY_RETURN_P(PATTERN(insn))) || returnjump_p(insn))
			emit_insn_before(gen_rtx_USE(VOIDmode, gen_rtx_REG(DImode, R15_REG)), insn);
}

static void before_ira()
{
	fix_r15(false);
}

static void after_reload()
{
	fix_r15(true);
}

static void before_prologue()
{
	fix_r15(false);
	/* r15 is in use everywhere, though only the entry says so */
	shrink_wrap_separate = flag_shrink_wrap_separate;
	flag_shrink_wrap_separate = 0;
}

static void after_prologue()
{
	fix_r15(true);
	flag_shrink_wrap_separate = shrink_wrap_separate;
	use_r15_before_returns();
}

namespace
{
struct pass_data pass_data_named(const char *name)
{
	return {RTL_PASS, name, OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};
}

class pass_regs : public rtl_opt_pass
{
      public:
	pass_regs(const char *name, void (*work)())
	    : rtl_opt_pass(pass_data_named(name), g), work_(work)
	{
	}
	bool gate(function *) final override
	{
		return lz_save_r15;
	}
	unsigned execute(function *) final override
	{
		work_();
		return 0;
	}

      private:
	void (*work_)();
};
} // namespace

static void add_pass(const char *plugin_name, opt_pass *pass, const char *reference,
                     enum pass_positioning_ops where)
{
	struct register_pass_info info = {pass, reference, 1, where};

	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

opt_pass *lz_make_gimple_pass(gcc::context *ctxt);
opt_pass *lz_make_source_pass(gcc::context *ctxt);
opt_pass *lz_make_record_pass(bool begin);
opt_pass *lz_make_scopes_pass();

void lz_register_passes(const char *plugin_name)
{
	add_pass(plugin_name, lz_make_source_pass(g), "ehdisp", PASS_POS_INSERT_BEFORE);
	add_pass(plugin_name, lz_make_gimple_pass(g), "optimized", PASS_POS_INSERT_AFTER);
	add_pass(plugin_name, new pass_regs("lizard_before_ira", before_ira), "ira",
	         PASS_POS_INSERT_BEFORE);
	add_pass(plugin_name, new pass_regs("lizard_after_reload", after_reload), "reload",
	         PASS_POS_INSERT_AFTER);
	add_pass(plugin_name, new pass_regs("lizard_before_prologue", before_prologue),
	         "pro_and_epilogue", PASS_POS_INSERT_BEFORE);
	add_pass(plugin_name, new pass_regs("lizard_after_prologue", after_prologue),
	         "pro_and_epilogue", PASS_POS_INSERT_AFTER);
	add_pass(plugin_name, lz_make_scopes_pass(), "shorten", PASS_POS_INSERT_BEFORE);
	add_pass(plugin_name, lz_make_record_pass(true), "final", PASS_POS_INSERT_BEFORE);
	add_pass(plugin_name, lz_make_record_pass(false), "final", PASS_POS_INSERT_AFTER);
}
