// SPDX-License-Identifier: GPL-3.0-or-later
// What VS Code calls: it registers the debugger and the commands.
"use strict";
const vscode = require("vscode");
const adapter = require("./adapter");
const configurations = require("./configurations");
const moves = require("./moves");
const recordings = require("./recordings");

function activate(context) {
	const commands = { ...moves.commands, "lizard.open": recordings.open };

	context.subscriptions.push(
		vscode.debug.registerDebugAdapterDescriptorFactory("lizard", adapter),
		vscode.debug.registerDebugConfigurationProvider("lizard", configurations),
		...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, told(run))),
	);
}

// An error of a command is shown; VS Code would only log it.
function told(run) {
	return async (...args) => {
		try {
			return await run(...args);
		} catch (error) {
			vscode.window.showErrorMessage(`Lizard: ${error.message}`);
		}
	};
}

module.exports = { activate };
