/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugin's door: arguments, registration. */
#include "gcc.h"
#include "plugin.h"

int plugin_is_GPL_compatible;

struct lz_options lz_options;

static struct plugin_info lz_info = {
    LIZARD_VERSION,
    "Lizard: writes markers of the control flow for the replay debugger.\n"
    "  -fplugin-arg-lizard_plugin-check   checking mode: every marker verifies r15\n",
};

static bool read_arguments(const struct plugin_name_args *info)
{
	bool good = true;

	for (int i = 0; i < info->argc; i++) {
		const struct plugin_argument *a = &info->argv[i];

		if (strcmp(a->key, "check") == 0 && !a->value) {
			lz_options.check = true;
			continue;
		}
		if (strcmp(a->key, "check") == 0)
			error("lizard: plugin argument %<check%> takes no value, got %qs",
			      a->value);
		else
			error("lizard: unknown plugin argument %qs: only %<check%> exists", a->key);
		good = false;
	}
	return good;
}

/* r15 is taken away from the register allocator of the whole unit. */
static void reserve_register(void)
{
	fix_register("r15", 1, 1);
}

static bool same_compiler(struct plugin_gcc_version *v)
{
	if (plugin_default_version_check(v, &gcc_version))
		return true;
	error("lizard: this plugin was built for GCC %s (%s), this is GCC %s (%s): use that "
	      "compiler, or rebuild Lizard with this one",
	      gcc_version.basever, gcc_version.datestamp, v->basever, v->datestamp);
	return false;
}

/* What can't be instrumented at all; said once. */
static const char *unfit_unit(void)
{
	if (!TARGET_64BIT_P(global_options.x_ix86_isa_flags) ||
	    TARGET_X32_P(global_options.x_ix86_isa_flags))
		return "only 64-bit x86 code can be recorded";
	if (global_options.x_ix86_cmodel == CM_LARGE && flag_pic)
		return "position-independent code of the large model needs r15 for itself";
	return NULL;
}

int plugin_init(struct plugin_name_args *info, struct plugin_gcc_version *version)
{
	if (!same_compiler(version) || !read_arguments(info))
		return 1;
	register_callback(info->base_name, PLUGIN_INFO, NULL, &lz_info);
	const char *reason = unfit_unit();
	if (reason) {
		warning(0, "lizard: %s: this file is left out", reason);
		return 0;
	}
	reserve_register();
	register_callback(info->base_name, PLUGIN_ALL_IPA_PASSES_START, lz_pin_r15_users, NULL);
	register_callback(info->base_name, PLUGIN_ALL_IPA_PASSES_END, lz_decide_conventions, NULL);
	register_callback(info->base_name, PLUGIN_ALL_IPA_PASSES_END, lz_note_taken_variables,
	                  NULL);
	register_callback(info->base_name, PLUGIN_FINISH_UNIT, lz_write_taken_variables, NULL);
	register_callback(info->base_name, PLUGIN_GGC_MARKING, lz_keep_source, NULL);
	lz_register_passes(info->base_name);
	return 0;
}
