// SPDX-License-Identifier: GPL-3.0-or-later
// The recordings that there are.
"use strict";
const { execFile } = require("child_process");
const vscode = require("vscode");
const { tool } = require("./adapter");

function list() {
	return new Promise((done, fail) => {
		execFile(tool("lizard"), ["ls", "--json"], { maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
			if (error) fail(new Error(stderr.trim() || error.message));
			else done(JSON.parse(stdout));
		});
	});
}

function item(entry) {
	const began = entry.start_time ? new Date(entry.start_time * 1000).toLocaleString() : "";
	const detail = [entry.program, began].filter(Boolean).join(", ");

	return { label: entry.name, description: entry.status, detail, recording: entry.path };
}

const newestFirst = (a, b) => (b.start_time || 0) - (a.start_time || 0);

// The path of the one that the user chooses.
async function choose() {
	const found = await list();
	if (!found.length) throw new Error("there are no recordings. `lizard-trace PROGRAM` makes one.");
	const chosen = await vscode.window.showQuickPick(found.sort(newestFirst).map(item), {
		placeHolder: "Which recording?",
		matchOnDetail: true,
	});

	return chosen && chosen.recording;
}

async function open() {
	const recording = await choose();
	if (!recording) return;
	const places = [{ label: "At its end, where a crash is", end: true }, { label: "At main", stopOnEntry: true }];
	const place = await vscode.window.showQuickPick(places, { placeHolder: "Where?" });
	if (!place) return;
	const { label, ...rest } = place;

	await vscode.debug.startDebugging(undefined, { type: "lizard", request: "launch", name: "Recording", recording, ...rest });
}

module.exports = { choose, open };
