// SPDX-License-Identifier: GPL-3.0-or-later
// Walks through recordings of told.c with a Debug Adapter, and prints what it was told.
// Usage: dap.js SCENARIO SOURCE LAUNCH ADAPTER...    (LAUNCH: a JSON object; NODE_PATH: where the packages are)
const { spawn } = require("child_process");
const fs = require("fs");
const { DebugClient } = require("@vscode/debugadapter-testsupport");
const [scenario, source, launch, ...adapter] = process.argv.slice(2);
const LONG = 240000;

const lines = fs.readFileSync(source, "utf8").split("\n");
const lineOf = (text) => lines.findIndex((line) => line.includes(text)) + 1;

// What the adapter writes to its stdout must be messages, and nothing else.
function junk(bytes) {
	let at = 0;

	while (at < bytes.length) {
		const header = /^Content-Length: (\d+)\r\n\r\n/.exec(bytes.toString("latin1", at, at + 100));
		if (!header) return bytes.toString("latin1", at, at + 100);
		at += header[0].length + Number(header[1]);
	}
	return "none";
}

class Walk {
	constructor() {
		this.client = new DebugClient("", "", "lizard");
		this.client.defaultTimeout = LONG;
		this.child = spawn(adapter[0], adapter.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
		this.gone = new Promise((done) => this.child.on("exit", done));
		this.bytes = [];
		this.child.stdout.on("data", (data) => this.bytes.push(data));
		this.client.connect(this.child.stdout, this.child.stdin);
		this.written = "";
		this.stops = 0;
		this.client.on("stopped", () => this.stops++);
		this.client.on("output", ({ body }) => {
			if (body.category === "stdout" || body.category === "stderr") this.written += body.output;
			else this.console = (this.console || "") + body.output;
		});
	}

	async send(request, args) {
		return (await this.client.send(request, args)).body;
	}

	async begin() {
		this.can = await this.send("initialize", { adapterID: "lizard", linesStartAt1: true, pathFormat: "path" });
		await this.send("launch", JSON.parse(launch));
	}

	async breakpoints(...texts) {
		const breakpoints = texts.map((text) => ({ line: lineOf(text) }));
		return this.send("setBreakpoints", { source: { path: source }, breakpoints });
	}

	// The stop that a request leads to, and what was written on the way.
	async stop(request, args = {}) {
		const stopped = this.client.waitForEvent("stopped", LONG);
		this.written = "";
		this.answer = await this.send(request, { threadId: this.thread, ...args });
		const { body } = await stopped;
		this.thread = body.threadId;
		const { stackFrames } = await this.send("stackTrace", { threadId: this.thread, levels: 3 });
		this.frame = stackFrames[0].id;
		const written = this.written.trim().replace(/\n/g, ",");
		return { ...body, line: stackFrames[0].line, name: stackFrames[0].name, written };
	}

	async value(expression) {
		return (await this.send("evaluate", { expression, frameId: this.frame, context: "watch" })).result;
	}

	async end() {
		await this.send("disconnect", { terminateDebuggee: true });
		const status = await this.gone;
		say("gone", `status ${status}, junk: ${junk(Buffer.concat(this.bytes))}`);
	}
}

const say = (name, text) => console.log(`${name}: ${text}`);

const scenarios = {
	// From one breakpoint to the next, and all the way back.
	async output(walk) {
		const seen = [];

		await walk.begin();
		await walk.breakpoints("account.value = to");
		let at = await walk.stop("configurationDone");
		while (at.reason === "breakpoint") {
			seen.push(`${at.written}|`);
			at = await walk.stop("continue");
		}
		say("forwards", seen.join("") + at.written);
		say("end", `${at.reason} ${at.description}`);
		await walk.breakpoints();
		at = await walk.stop("reverseContinue");
		say("backwards", `${at.reason} '${at.written}'`);
		at = await walk.stop("jump", { location: "end" });
		say("jump", at.written);
		at = await walk.stop("restart");
		say("again", at.written);
	},

	// stepBack undoes next: by the source, and by what a variable is.
	async steps(walk) {
		const there = [], back = [];
		const place = async (at) => `${at.line}:${await walk.value("account.value")}`;

		await walk.begin();
		let at = await walk.stop("configurationDone");
		say("entry", `${at.reason} ${at.name}`);
		for (let i = 0; i < 12; i++) {
			there.push(await place(at));
			at = await walk.stop("next");
		}
		for (let i = 0; i < 12; i++) {
			at = await walk.stop("stepBack");
			back.unshift(await place(at));
		}
		say("steps", there.join(" ") === back.join(" ") && new Set(there).size > 6 ? "the same" : `${there} / ${back}`);

		const { instructionPointerReference: before } = (await walk.send("stackTrace", { threadId: walk.thread })).stackFrames[0];
		await walk.stop("stepIn", { granularity: "instruction" });
		const { instructionPointerReference: between } = (await walk.send("stackTrace", { threadId: walk.thread })).stackFrames[0];
		await walk.stop("stepBack", { granularity: "instruction" });
		const { instructionPointerReference: after } = (await walk.send("stackTrace", { threadId: walk.thread })).stackFrames[0];
		say("instruction", before === after && before !== between ? "the same" : `${before} ${between} ${after}`);
		at = await walk.stop("stepBack");
		while (at.name === "main") at = await walk.stop("stepBack");
		say("before main", at.reason);
	},

	// Each change of a member, forwards and back, and the way to the last one.
	async data(walk) {
		const there = [], back = [];

		await walk.begin();
		await walk.breakpoints("account.value = to");
		await walk.stop("configurationDone");
		await walk.breakpoints();
		const { scopes } = await walk.send("scopes", { frameId: walk.frame });
		const { variablesReference: locals } = scopes[0];
		const to = await walk.send("dataBreakpointInfo", { variablesReference: locals, name: "to" });
		const info = await walk.send("dataBreakpointInfo", { name: "account.value", frameId: walk.frame });
		const none = await walk.send("dataBreakpointInfo", { name: "account.value + 1", frameId: walk.frame });
		say("info", `${!!to.dataId} ${info.description} ${none.dataId} ${none.description}`);
		const { breakpoints } = await walk.send("setDataBreakpoints", {
			breakpoints: [{ dataId: info.dataId, accessType: "write" }, { dataId: "nonsense(", accessType: "write" }],
		});
		say("set", breakpoints.map((b) => b.verified).join(" "));
		let at = await walk.stop("continue");
		while (at.reason === "data breakpoint") {
			there.push(await walk.value("account.value"));
			at = await walk.stop("continue");
		}
		at = await walk.stop("reverseContinue");
		while (at.reason === "data breakpoint") {
			back.push(await walk.value("account.value"));
			at = await walk.stop("reverseContinue");
		}
		say("forwards", there.join(" "));
		say("backwards", back.join(" "));
		await walk.send("setDataBreakpoints", { breakpoints: [] });
		await walk.stop("continue");
		at = await walk.stop("reverse_watchpoint", { expression: "account.value" });
		say("last change", `${at.reason} ${lines[at.line - 1].trim()} ${walk.answer.output.match(/value = \S+/g)}`);
		await walk.stop("continue");
		at = await walk.stop("jump", { location: "set", direction: "backward" });
		const found = (await walk.send("scopes", { frameId: walk.frame })).scopes;
		const globals = found.find((scope) => scope.name === "Globals").variablesReference;
		const { variables } = await walk.send("variables", { variablesReference: globals });
		const { variablesReference: members } = variables.find((variable) => variable.name === "account");
		at = await walk.stop("reverse_watchpoint", { variablesReference: members, name: "value" });
		say("member", `${at.reason} ${walk.answer.output.match(/value = \S+/g)}`);
		at = await walk.stop("reverse_watchpoint", { expression: "account.number" });
		say("no change", `${at.reason} ${walk.answer.moved} ${/did not change/.test(walk.answer.output)}`);
		await walk.send("reverse_watchpoint", { expression: "nonesuch" }).catch((e) => say("no symbol", e.message));
	},

	// To places of the source, to instants, and back from where the walk went.
	async instants(walk) {
		await walk.begin();
		await walk.breakpoints("account.value = to");
		await walk.stop("configurationDone");
		await walk.breakpoints();
		const { targets } = await walk.send("gotoTargets", { source: { path: source }, line: lineOf("printf(\"value") });
		say("targets", targets.length);
		const none = await walk.send("gotoTargets", { source: { path: source }, line: 1 });
		say("no code", none.targets.length);
		let at = await walk.stop("goto", { targetId: targets[0].id });
		at = await walk.stop("goto", { targetId: targets[0].id });
		say("goto", `${at.reason} ${lines[at.line - 1].trim()} ${await walk.value("account.value")}`);
		const here = await walk.send("when");
		at = await walk.stop("jump", { location: "end" });
		const last = await walk.send("when");
		say("when", `${here.event < last.event} ${last.end} ${here.percent < last.percent && last.percent === 100}`);
		at = await walk.stop("jump", { location: here.position });
		say("position", `${lines[at.line - 1].trim()} ${await walk.value("account.value")}`);
		at = await walk.stop("jump", { location: "set", direction: "forward" });
		say("jump", `${at.name} ${await walk.value("to")}`);
		at = await walk.stop("undo_move");
		say("undo", `${lines[at.line - 1].trim()} ${await walk.value("account.value")}`);
		await walk.send("jump", { location: "nowhere" }).catch((e) => say("no place", e.message));
		const before = walk.stops;
		at = await walk.stop("evaluate", { expression: "prev", context: "repl", frameId: walk.frame });
		say("console", `${lines[at.line - 1].trim()} ${walk.stops - before}`);
	},

	// Opened where the program crashed.
	async crash(walk) {
		await walk.begin();
		let at = await walk.stop("configurationDone");
		say("crash", `${at.reason} ${at.description} ${lines[at.line - 1].trim()}`);
		say("written", at.written);
		await walk.stop("stepBack"); // to where that line began
		at = await walk.stop("stepBack");
		say("before", lines[at.line - 1].trim());
		at = await walk.stop("continue");
		say("again", `${at.reason} ${at.text || at.description}`);
	},

	// A run that takes long: a condition that GDB keeps for itself is evaluated at each of many rounds.
	async pause(walk) {
		await walk.begin();
		await walk.stop("configurationDone");
		const breakpoints = [{ line: lineOf("ticks += n"), condition: '$_streq("a", "b")' }];
		await walk.send("setBreakpoints", { source: { path: source }, breakpoints });
		for (const request of ["continue", "reverseContinue"]) {
			const stopped = walk.stop(request);
			await new Promise((done) => setTimeout(done, 1000));
			await walk.send("pause", { threadId: walk.thread });
			say(request, (await stopped).reason);
		}
	},

	// A search that takes long, and a request that waits behind it: both are cancelled.
	async cancel(walk) {
		const ends = (answer) => answer.then(() => "done", (error) => error.message);

		await walk.begin();
		await walk.stop("configurationDone");
		if (!walk.can.supportsCancelRequest) return say("cancel", "not known");
		await walk.breakpoints("puts(\"ends\")");
		await walk.stop("continue");
		const here = await walk.send("when");
		const stopped = walk.client.waitForEvent("stopped", LONG);
		const search = ends(walk.send("reverse_watchpoint", { expression: "account.number + 0" }));
		const first = walk.client.sequence - 1;
		const waits = ends(walk.send("when"));
		await new Promise((done) => setTimeout(done, 300));
		const cancels = [first + 1, first].map((requestId) => ends(walk.send("cancel", { requestId })));
		say("cancel", `${await search}, ${await waits}, ${await Promise.all(cancels)}`);
		say("cancel reason", (await stopped).body.reason);
		const there = await walk.send("when");
		say("cancel place", there.position === here.position ? "the same" : `${there.position} ${here.position}`);
		// One that is over already does no harm to others.
		await walk.send("cancel", { requestId: first });
		const at = await walk.stop("reverseContinue");
		say("cancel after", at.reason);
	},

	async launch(walk) {
		await walk.begin().then(() => say("launch", "done"), (error) => say("launch", error.message));
		say("console", (walk.console || "").trim());
	},
};

async function main() {
	const walk = new Walk();

	await scenarios[scenario](walk);
	await walk.end();
	process.exit(0);
}

main().catch((error) => {
	console.log(`failed: ${error.message}`);
	process.exit(1);
});
