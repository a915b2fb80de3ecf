// SPDX-License-Identifier: GPL-3.0-or-later
// Which program speaks the protocol: `lizard dap`.
"use strict";
const path = require("path");
const vscode = require("vscode");

const settings = () => vscode.workspace.getConfiguration("lizard");

// A program of Lizard's: beside `lizard` if that is a path.
function tool(name) {
	const lizard = settings().get("path") || "lizard";

	return name === "lizard" ? lizard : lizard.includes("/") ? path.join(path.dirname(lizard), name) : name;
}

function createDebugAdapterDescriptor() {
	const gdb = settings().get("gdb");

	return new vscode.DebugAdapterExecutable(tool("lizard"), gdb ? ["dap", "--gdb", gdb] : ["dap"]);
}

module.exports = { createDebugAdapterDescriptor, tool };
