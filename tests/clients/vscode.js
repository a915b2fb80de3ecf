// SPDX-License-Identifier: GPL-3.0-or-later
// Loads the VS Code extension with a VS Code that only notes what is asked of it, and prints that.
// Usage: vscode.js EXTENSION LIZARD PROGRAM
const { spawn } = require("child_process");
const Module = require("module");
const path = require("path");
const [extension, lizard, program] = process.argv.slice(2);
const say = (name, text) => console.log(`${name}: ${text}`);

const registered = {}, asked = [], shown = [];
const answers = { pick: () => undefined, input: () => undefined, request: () => ({ moved: true, output: "" }) };
let provider, factory, ended = [];

class Task {
	constructor(definition, scope, name, source, execution) {
		Object.assign(this, { name, execution });
	}
}

const vscode = {
	Task,
	TaskScope: { Workspace: 2 },
	TaskRevealKind: { Always: 1 },
	ProcessExecution: class {
		constructor(process, args, options) {
			Object.assign(this, { process, args, options });
		}
	},
	DebugAdapterExecutable: class {
		constructor(command, args) {
			Object.assign(this, { command, args });
		}
	},
	workspace: { getConfiguration: () => ({ get: (name) => ({ path: lizard, gdb: "/a/gdb" })[name] }) },
	commands: { registerCommand: (name, run) => (registered[name] = run) },
	env: { clipboard: { writeText: (text) => shown.push(`clipboard ${text}`) } },
	window: {
		showErrorMessage: (text) => shown.push(`error ${text}`),
		showInformationMessage: async (text, button) => (shown.push(`info ${text}`), button),
		showQuickPick: async (items) => answers.pick(items),
		showInputBox: async () => answers.input(),
		activeTextEditor: undefined,
	},
	debug: {
		activeDebugSession: undefined,
		registerDebugAdapterDescriptorFactory: (type, given) => (factory = given),
		registerDebugConfigurationProvider: (type, given) => (provider = given),
		startDebugging: async (folder, config) => asked.push(config),
	},
	tasks: {
		onDidEndTaskProcess: (listener) => (ended.push(listener), { dispose: () => (ended = []) }),
		onDidEndTask: () => ({ dispose() {} }),
		executeTask: async (task) => {
			const { process: command, args, options } = task.execution;
			const child = spawn(command, args, { cwd: options.cwd, env: { ...process.env, ...options.env }, stdio: "ignore" });
			child.on("exit", () => ended.forEach((listener) => listener({ execution: { task } })));
		},
	},
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

async function main() {
	const manifest = require(path.join(extension, "package.json"));
	const { activate } = require(path.join(extension, manifest.main));
	const declared = manifest.contributes.commands.map(({ command }) => command).sort();
	const inMenus = Object.values(manifest.contributes.menus).flat().map(({ command }) => command);

	activate({ subscriptions: [] });
	say("commands", declared.join() === Object.keys(registered).sort().join() ? "the same" : Object.keys(registered));
	say("menus", inMenus.filter((command) => !declared.includes(command)).join() || "known");
	const { command, args } = factory.createDebugAdapterDescriptor();
	say("adapter", `${command === lizard} ${args.join(" ")}`);

	// With no session, and then with one that notes its requests.
	await registered["lizard.when"]();
	say("no session", shown.pop());
	vscode.debug.activeDebugSession = {
		type: "lizard",
		customRequest: async (name, what) => (asked.push([name, what]), answers.request(name)),
	};
	await registered["lizard.reverseWatchpoint"]({ variable: { name: "value" }, container: { variablesReference: 7 } });
	say("member", JSON.stringify(asked.pop()));
	await registered["lizard.reverseWatchpoint"]({ name: "a + b" });
	say("watched", JSON.stringify(asked.pop()));
	answers.request = () => ({ moved: false, output: "x did not change\n" });
	answers.input = () => "x";
	await registered["lizard.reverseWatchpointHere"]();
	say("typed", `${JSON.stringify(asked.pop())} ${shown.pop()}`);
	await registered["lizard.jumpBackward"]();
	say("jump", JSON.stringify(asked.pop()));
	answers.request = () => ({ event: 3, events: 9, percent: 50, position: "1:2.3@4#1" });
	await registered["lizard.when"]();
	say("when", shown.splice(-2).join(", "));
	answers.request = () => Promise.reject(new Error("refused"));
	await registered["lizard.stepBackInto"]();
	say("refused", shown.pop());

	// Recording is the real thing.
	const resolve = (config) => provider.resolveDebugConfigurationWithSubstitutedVariables(undefined, config);
	const config = await resolve({ type: "lizard", program, args: ["crash"], record: true, cwd: path.dirname(program) });
	say("recorded", path.basename(config.recording));
	await resolve({ type: "lizard", program: `${program}-not`, record: true });
	say("not recorded", shown.pop().replace(program, "PROGRAM"));
	say("as it is", (await resolve({ type: "lizard", program })).recording);
	answers.pick = (items) => items[0];
	await registered["lizard.open"]();
	say("opened", `${asked.at(-1).recording === config.recording} ${asked.pop().end}`);
}

main().catch((error) => {
	say("failed", error.stack);
	process.exit(1);
});
