// SPDX-License-Identifier: GPL-3.0-or-later
// Walks through a recording with Eclipse's adapter, which talks MI to the debugger.
// Usage: cdt.js GDB PROGRAM SOURCE LINE      (NODE_PATH: where the packages are)
const { DebugClient } = require("@vscode/debugadapter-testsupport");
const adapter = require.resolve("cdt-gdb-adapter/dist/debugAdapter.js");
const [gdb, program, source, line] = process.argv.slice(2);

async function stop(client, request) {
	const stopped = client.waitForEvent("stopped", 30000);
	await request;
	const { reason, threadId } = (await stopped).body;
	const { stackFrames } = (await client.stackTraceRequest({ threadId })).body;
	console.log(`stopped: ${reason} ${stackFrames[0].name}:${stackFrames[0].line}`);
	return { threadId, frameId: stackFrames[0].id };
}

async function main() {
	const client = new DebugClient("node", adapter, "gdb");
	client.defaultTimeout = 30000;
	await client.start();
	client.on("output", (event) => console.log(`${event.body.category}: ${event.body.output}`.trim()));
	await client.initializeRequest();
	const initialized = client.waitForEvent("initialized", 30000);
	await client.launchRequest({ gdb, program, arguments: "a b", verbose: false });
	await initialized;
	await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [{ line: Number(line) }] });
	let { threadId, frameId } = await stop(client, client.configurationDoneRequest());
	const total = await client.evaluateRequest({ expression: "total", frameId, context: "watch" });
	console.log(`total: ${total.body.result}`);
	({ threadId } = await stop(client, client.nextRequest({ threadId })));
	await stop(client, client.evaluateRequest({ expression: ">prev", frameId, context: "repl" }));
	await client.disconnectRequest({});
	await client.stop();
}

main().catch((error) => {
	console.log(`failed: ${error.message}`);
	process.exit(1);
});
