// SPDX-License-Identifier: GPL-3.0-or-later
// launch.json: what is missing there, and recording before debugging.
"use strict";
const fs = require("fs");
const os = require("os");
const path = require("path");
const vscode = require("vscode");
const { tool } = require("./adapter");

// F5 without a launch.json.
async function resolveDebugConfiguration(folder, config) {
	if (config.type) return config;
	const recording = await require("./recordings").choose();

	return recording && { type: "lizard", request: "launch", name: "Recording", recording, stopOnEntry: true };
}

async function resolveDebugConfigurationWithSubstitutedVariables(folder, config) {
	if (!config.record) return config;
	try {
		return { ...config, recording: await record(folder, config) };
	} catch (error) {
		vscode.window.showErrorMessage(`Lizard: ${error.message}`);
		return undefined;
	}
}

// Runs the program in a terminal, and gives its recording.
async function record(folder, config) {
	if (!config.program) throw new Error('"record" needs a "program".');
	const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "lizard-"));
	const summary = path.join(scratch, "summary.json");
	const words = ["--summary", summary, ...(config.traceArgs || []), "--", config.program, ...(config.args || [])];

	try {
		await run(folder, words, config);
		return recordingOf(summary, config.program);
	} finally {
		fs.rmSync(scratch, { recursive: true, force: true });
	}
}

function recordingOf(summary, program) {
	let told;

	try {
		told = JSON.parse(fs.readFileSync(summary, "utf8"));
	} catch {
		throw new Error(`${program} was not recorded; the terminal says why.`);
	}
	if (!told.recording) throw new Error(`${program} was not recorded; the terminal says why.`);
	return told.recording;
}

async function run(folder, words, config) {
	const execution = new vscode.ProcessExecution(tool("lizard-trace"), words, { cwd: config.cwd, env: config.env });
	const where = folder || vscode.TaskScope.Workspace;
	const task = new vscode.Task({ type: "lizard" }, where, `record ${path.basename(config.program)}`, "lizard", execution);
	const ended = new Promise((done) => {
		const listeners = [
			vscode.tasks.onDidEndTaskProcess((event) => event.execution.task.name === task.name && finish()),
			vscode.tasks.onDidEndTask((event) => event.execution.task.name === task.name && finish()),
		];
		const finish = () => {
			listeners.forEach((listener) => listener.dispose());
			done();
		};
	});

	task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true };
	await vscode.tasks.executeTask(task);
	await ended;
}

module.exports = { resolveDebugConfiguration, resolveDebugConfigurationWithSubstitutedVariables };
