// SPDX-License-Identifier: GPL-3.0-or-later
// Moves in time that VS Code has no buttons for.
"use strict";
const vscode = require("vscode");

function session() {
	const active = vscode.debug.activeDebugSession;

	if (!active || active.type !== "lizard") throw new Error("no recording is being debugged.");
	return active;
}

// The frame that the user looks at, if this VS Code tells it.
function frameId() {
	const item = vscode.debug.activeStackItem;

	return item && item.frameId;
}

async function search(args) {
	const { moved, output } = await session().customRequest("reverse_watchpoint", { frameId: frameId(), ...args });

	if (!moved) vscode.window.showInformationMessage(output.trim());
}

// CHOSEN: what the Variables view tells of one, or an expression of the Watch view.
async function reverseWatchpoint(chosen) {
	const { variable = chosen, container } = chosen || {};
	if (!variable || !variable.name) throw new Error("no variable is chosen.");
	const reference = container && container.variablesReference;

	if (reference) await search({ variablesReference: reference, name: variable.name });
	else await search({ expression: variable.evaluateName || variable.name });
}

const EXPRESSION = /[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*|\[\w+\])*/;

function underCursor(editor) {
	if (!editor) return "";
	if (!editor.selection.isEmpty) return editor.document.getText(editor.selection);
	const word = editor.document.getWordRangeAtPosition(editor.selection.active, EXPRESSION);

	return word ? editor.document.getText(word) : "";
}

async function reverseWatchpointHere() {
	const value = underCursor(vscode.window.activeTextEditor);
	const expression = value || (await vscode.window.showInputBox({ prompt: "Which expression changed?" }));

	if (expression) await search({ expression });
}

async function when() {
	const now = await session().customRequest("when");
	const text = `Event ${now.event} of ${now.events}, ${now.percent}% of the run, position ${now.position}`;

	if ((await vscode.window.showInformationMessage(text, "Copy the Position")) !== undefined)
		await vscode.env.clipboard.writeText(now.position);
}

async function jump(direction) {
	const location = await vscode.window.showInputBox({
		prompt: "A function, file:line, *address, start, end, a percentage, or a position",
	});

	if (location) await session().customRequest("jump", { location, direction });
}

const request = (name) => () => session().customRequest(name, {});

module.exports = {
	commands: {
		"lizard.reverseWatchpoint": reverseWatchpoint,
		"lizard.reverseWatchpointHere": reverseWatchpointHere,
		"lizard.stepBackInto": request("bs"),
		"lizard.undoMove": request("undo_move"),
		"lizard.redoMove": request("redo_move"),
		"lizard.when": when,
		"lizard.jumpForward": () => jump("forward"),
		"lizard.jumpBackward": () => jump("backward"),
	},
};
