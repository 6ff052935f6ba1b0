// `contextweaver hook`, `mcp`, `install` and `uninstall` as programs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, lstat, mkdir, readFile, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { packageDir, temporaryFolder, until } from "./harness.mjs";

const PROGRAM = join(packageDir, "bin/contextweaver.js");
const LARGE = Array.from({ length: 1_500 }, (_, at) => `export function handler${at}() { return ${at * 7}; }`).join("\n");
const HANDLE = /artifact:result:[a-z2-7]{10}-\d+/;

const project = () => temporaryFolder("hook");

/** Runs the program with a text on its standard input. */
function program(args, { cwd, input = "", env = {} } = {}) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...process.env, CLAUDE_PROJECT_DIR: undefined, GEMINI_PROJECT_DIR: undefined, ...env },
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].on("data", (text) => (said[name] += text));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((done) => child.on("close", (code) => done({ code, ...said })));
}

const hook = async (agent, event, options = {}) => {
  const { code, stdout, stderr } = await program(["hook", agent, ...(options.args ?? [])], { ...options, input: JSON.stringify(event) });
  assert.equal(code, 0, stderr);
  return stdout === "" ? undefined : JSON.parse(stdout);
};

/** A client of `contextweaver mcp`. */
async function reader(t, folder) {
  const child = spawn(process.execPath, [PROGRAM, "mcp", "--store", join(folder, ".contextweaver")], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill());
  const waiting = new Map();
  let rest = "";
  child.stdout.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) waiting.get(JSON.parse(line).id)?.(JSON.parse(line));
  });
  let id = 0;
  const ask = (method, params) =>
    new Promise((done) => (waiting.set((id += 1), done), child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)));
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const call = async (name, input) => (await ask("tools/call", { name, arguments: input })).result;
  return { ask, call, child };
}

/** What each agent sends, and where its answer has the text. */
const AGENTS = {
  "claude-code": [
    [
      "Bash",
      (text) => ({ stdout: text, stderr: "", interrupted: false, isImage: false }),
      ({
        hookSpecificOutput: {
          updatedToolOutput: { stdout, ...rest },
        },
      }) => (assert.deepEqual(rest, { stderr: "", interrupted: false, isImage: false }), stdout),
    ],
    [
      "Read",
      (text) => ({ type: "text", file: { filePath: "/a", content: text, numLines: 9 } }),
      ({
        hookSpecificOutput: {
          updatedToolOutput: { file },
        },
      }) => (assert.equal(file.filePath, "/a"), file.content),
    ],
    ["Grep", (text) => ({ mode: "content", content: text, numLines: 3 }), ({ hookSpecificOutput: { updatedToolOutput } }) => updatedToolOutput.content],
    [
      "mcp__other__find",
      (text) => [
        { type: "text", text },
        { type: "image", data: "AA==", mimeType: "image/png" },
      ],
      ({
        hookSpecificOutput: {
          updatedToolOutput: [block, image],
        },
      }) => (assert.equal(image.type, "image"), block.text),
    ],
    [
      "Agent",
      (text) => ({ status: "completed", content: [{ type: "text", text }], totalTokens: 3 }),
      ({ hookSpecificOutput: { updatedToolOutput } }) => updatedToolOutput.content[0].text,
    ],
  ],
  "gemini-cli": [
    ["run_shell_command", (text) => ({ llmContent: text, returnDisplay: text }), ({ decision, reason }) => (assert.equal(decision, "deny"), reason)],
    ["read_file", (text) => ({ llmContent: [{ text }] }), ({ reason }) => (assert.match(reason, /^\(The tool succeeded; /), reason)],
    ["other_find", (text) => ({ llmContent: text, error: { message: "exit 1" } }), ({ reason }) => (assert.match(reason, /^\(The tool failed; /), reason)],
  ],
  codex: [
    ["Bash", (text) => text, ({ decision, reason }) => (assert.equal(decision, "block"), reason)],
    ["mcp__other__find", (text) => ({ content: [{ type: "text", text }] }), ({ reason }) => reason],
  ],
  opencode: [["bash", (text) => text, ({ output }) => output]],
};

test("hook: a large result of each agent's tools is shown in part, and stands whole in the store", async (t) => {
  const cwd = await project();
  const { ask, call } = await reader(t, cwd);
  const { result } = await ask("tools/list", {});
  assert.deepEqual(
    result.tools.map(({ name }) => name),
    ["drilldown", "recall"],
  );
  for (const [agent, tools] of Object.entries(AGENTS)) {
    for (const [tool_name, response, textOf] of tools) {
      const event = (text) => ({ hook_event_name: "x", cwd, tool_name, tool_input: { command: "grep handler777" }, tool_response: response(text) });
      assert.equal(await hook(agent, event("ten lines\n".repeat(10)), { cwd: tmpdir() }), undefined, `${agent} ${tool_name}: a short result passes`);
      const shown = textOf(await hook(agent, event(`${LARGE}\n// ${agent} ${tool_name}`), { cwd: tmpdir() }));
      assert.ok(shown.length < LARGE.length / 4 && shown.includes("handler0()"), `${agent} ${tool_name}`);
      const [handle] = HANDLE.exec(shown);
      const {
        content: [{ text }],
      } = await call("drilldown", { handle, selector: { type: "search", text: "handler777(" } });
      assert.match(text, /handler777\(\) \{ return 5439; \}/);
      const tail = await call("drilldown", { handle, selector: { type: "lines", start: -1 } });
      assert.ok(tail.content[0].text.includes(`// ${agent} ${tool_name}`));
    }
  }
  const found = await call("recall", { query: "codex mcp__other__find" });
  assert.match(found.content[0].text, /codex mcp__other__find/);
  const missing = await call("drilldown", { handle: "artifact:result:aaaaaaaaaa-1" });
  assert.equal(missing.isError, true);
  assert.equal((await ask("tools/call", { name: "delete" })).error.code, -32602);
  assert.equal(await readFile(join(cwd, ".contextweaver/.gitignore"), "utf8"), "*\n");
});

test("hook: what it answers itself, and what no model reads, passes", async () => {
  const cwd = await project();
  for (const event of [
    { tool_name: "mcp__contextweaver__drilldown", tool_response: [{ type: "text", text: LARGE }] },
    { tool_name: "Write", tool_response: { type: "create", content: LARGE } },
    { tool_name: "Edit", tool_response: { originalFile: LARGE } },
    { tool_name: "Bash", tool_response: { stdout: LARGE, isImage: true } },
    { tool_name: "Bash" },
    {},
  ])
    assert.equal(await hook("claude-code", { cwd, ...event }), undefined, JSON.stringify(event).slice(0, 80));
  // Who answers with a text would lose what stands beside it.
  const image = { type: "image", data: "AA==", mimeType: "image/png" };
  for (const [agent, tool_response] of [
    ["gemini-cli", { llmContent: [{ text: LARGE }, { inlineData: { mimeType: "image/png", data: "AA==" } }] }],
    ["codex", { content: [{ type: "text", text: LARGE }, image] }],
    ["codex", [{ type: "text", text: LARGE }, image]],
  ])
    assert.equal(await hook(agent, { cwd, tool_name: "mcp__other__find", tool_response }), undefined, agent);
  assert.equal(existsSync(join(cwd, ".contextweaver")), false);
  const file = join(cwd, "whole.txt");
  await writeFile(file, `${LARGE}\n// the end that was cut off`);
  const answer = await hook("claude-code", {
    cwd,
    tool_name: "Bash",
    tool_response: { stdout: LARGE.slice(0, 30_000), stderr: "", persistedOutputPath: file, persistedOutputSize: 1 },
  });
  const { updatedToolOutput } = answer.hookSpecificOutput;
  assert.ok(updatedToolOutput.stdout.includes("// the end that was cut off"));
  assert.equal("persistedOutputPath" in updatedToolOutput, false);
});

test("hook: the plugin of OpenCode shortens a text, and the texts of a server's blocks", async () => {
  const cwd = await project();
  assert.equal((await program(["install", "opencode", "--yes"], { cwd })).code, 0);
  const plugin = join(cwd, "plugin.mjs");
  await cp(join(cwd, ".opencode/plugins/contextweaver.js"), plugin);
  const { ContextWeaver } = await import(pathToFileURL(plugin));
  const { "tool.execute.after": after } = await ContextWeaver({ directory: cwd });
  const entered = async (tool, output) => (await after({ tool, args: {} }, output), output);
  const native = await entered("bash", { title: "t", output: LARGE });
  assert.match(native.output, HANDLE);
  const image = { type: "image", data: "AA==", mimeType: "image/png" };
  const blocks = [{ type: "text", text: LARGE, annotations: { priority: 1 } }, image, { type: "text", text: "// the last" }];
  const { content, ...rest } = await entered("other_find", { content: blocks, isError: false });
  assert.deepEqual([content.length, content[0].annotations, content[1], rest], [2, { priority: 1 }, image, { isError: false }]);
  assert.ok(HANDLE.test(content[0].text) && content[0].text.includes("// the last") && content[0].text.length < LARGE.length / 4);
  for (const output of [{ content: blocks.slice(1) }, { content: [image] }, { title: "t" }, { output: "short" }, { content: 7 }])
    assert.deepEqual(await entered("other_find", structuredClone(output)), output);
  const own = { content: [{ type: "text", text: LARGE }] };
  assert.deepEqual(await entered("contextweaver_drilldown", structuredClone(own)), own);
});

test("hook: secrets stay as the agent would have seen them, and are masked by option", async () => {
  const cwd = await project();
  const key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij-AAAA";
  const event = { cwd, tool_name: "bash", tool_response: `ANTHROPIC_API_KEY=${key}\n${LARGE}` };
  assert.ok((await hook("opencode", event)).output.includes(key));
  assert.ok(!(await hook("opencode", event, { args: ["--mask"] })).output.includes(key));
});

test("hook: whatever goes wrong, the result stays as it is, the exit code is 0, and the log has no text of it", async () => {
  const cwd = await project();
  const event = JSON.stringify({ cwd, tool_name: "bash", tool_response: `secret-of-mine\n${LARGE}` });
  const folder = join(cwd, ".contextweaver");
  for (const [args, input] of [
    [["hook", "opencode"], "{"],
    [["hook", "opencode"], ""],
    [["hook", "opencode"], event.slice(0, 2_000)],
    [["hook", "opencode", "--result-tokens", "many"], event],
    [["hook", "opencode", "--no-such-option"], event],
    [["hook", "claud-code"], event],
    [["hook"], event],
    [["hook", "opencode", "--store", "/dev/null/nowhere"], event],
  ]) {
    const { code, stdout, stderr } = await program(args, { cwd, input });
    assert.deepEqual([code, stdout], [0, ""], args.join(" "));
    assert.match(stderr, /^contextweaver hook: .*; the result stays as it is\n$/);
    assert.ok(!stderr.includes("secret-of-mine") && !stderr.includes("handler"));
  }
  // A store that cannot be written: a handle without a result behind it is never told.
  await writeFile(join(folder, "results"), "a file in its way");
  assert.equal(await hook("opencode", JSON.parse(event)), undefined);
  const log = await readFile(join(folder, "hook.log"), "utf8");
  assert.ok(log.split("\n").length > 7 && !log.includes("secret-of-mine"), log);
});

test("hook: twenty at once on one store lose nothing", async (t) => {
  const cwd = await project();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => hook("opencode", { cwd, tool_name: "bash", tool_input: { at }, tool_response: `${LARGE}\n// number ${at} of all` })),
  );
  const { call } = await reader(t, cwd);
  const handles = answers.map(({ output }) => HANDLE.exec(output)[0]);
  assert.equal(new Set(handles).size, 20);
  for (const [at, handle] of handles.entries()) {
    const {
      content: [{ text }],
    } = await call("drilldown", { handle, selector: { type: "lines", start: -1 } });
    assert.ok(text.includes(`// number ${at} of all`), text);
  }
  assert.match((await call("recall", { query: "number 13 of all" })).content[0].text, /number 13 of all/);
});

test("hook: the server that an agent has started answers for hooks, and they go on without it", async (t) => {
  const cwd = await project();
  const { call, child } = await reader(t, cwd);
  await until("it listens", () => existsSync(join(cwd, ".contextweaver/hook.sock")));
  assert.equal((await stat(join(cwd, ".contextweaver/hook.sock"))).mode & 0o777, 0o600);
  const ask = async (at) =>
    HANDLE.exec((await hook("opencode", { cwd, tool_name: "bash", tool_input: {}, tool_response: `${LARGE}\n// resident ${at}` })).output)[0];
  const [one, two] = [await ask(1), await ask(2)];
  assert.match((await call("recall", { query: "resident 1" })).content[0].text, /resident 1/);
  const three = await ask(3);
  assert.match((await call("recall", { query: "resident 3" })).content[0].text, /resident 3/);
  child.kill("SIGKILL");
  await new Promise((done) => child.on("close", done));
  const four = await ask(4);
  const again = await reader(t, cwd);
  for (const [at, handle] of [one, two, three, four].entries()) {
    const {
      content: [{ text }],
    } = await again.call("drilldown", { handle, selector: { type: "lines", start: -1 } });
    assert.ok(text.includes(`// resident ${at + 1}`), text);
  }
});

test("hook: it asks whoever answers in the folder, and works by itself where the answer is none", async (t) => {
  const cwd = await project();
  await mkdir(join(cwd, ".contextweaver"));
  const answers = [JSON.stringify({ text: "from the server" }), JSON.stringify({ error: "failed" }), "{", ""];
  const asked = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = "";
    socket
      .on("data", (part) => (text += part))
      .on("error", () => {})
      .on("end", () => (asked.push(JSON.parse(text)), socket.end(answers.shift())));
  });
  await new Promise((done) => server.listen(join(cwd, ".contextweaver/hook.sock"), done));
  t.after(() => server.close());
  const event = { cwd, tool_name: "bash", tool_input: { command: "x" }, tool_response: LARGE };
  assert.deepEqual(await hook("opencode", event, { args: ["--mask"] }), { output: "from the server" });
  assert.deepEqual(asked, [{ options: { mask: true, drilldown: "contextweaver_drilldown" }, result: { tool: "bash", input: { command: "x" }, text: LARGE } }]);
  for (let left = 3; left > 0; left -= 1) assert.match((await hook("opencode", event)).output, HANDLE);
});

/** Installs and uninstalls; the files must be as they were before. */
async function thereAndBack(agent, files, { env = {}, meanwhile = async () => {} } = {}) {
  const cwd = await project();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(cwd, name, ".."), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
  const before = await readdir(cwd, { recursive: true });
  const given = Object.fromEntries(Object.entries(env).map(([name, path]) => [name, join(cwd, path)]));
  const installed = await program(["install", agent, "--yes"], { cwd, env: given });
  assert.equal(installed.code, 0, installed.stderr + installed.stdout);
  await meanwhile(cwd);
  const removed = await program(["uninstall", agent, "--yes"], { cwd, env: given });
  assert.equal(removed.code, 0, removed.stderr + removed.stdout);
  const after = (await readdir(cwd, { recursive: true })).filter((name) => !name.startsWith(".contextweaver"));
  assert.deepEqual(after.sort(), before.sort());
  return { cwd, shown: installed.stdout };
}

test("install and uninstall: every file is as it was, to the byte", async () => {
  const texts = [
    "",
    "{}\n",
    `{"a":1}`,
    `\ufeff{\r\n\t"hooks": {\r\n\t\t"PostToolUse": [ {"matcher": "x", "hooks": []} ]\r\n\t},\r\n}\r\n`,
    `// of mine\n{\n    "hooks": {"AfterTool": [], /* none */ "PostToolUse": [],},\n    "mcpServers": {"a": {"command": "b"}} // one\n}`,
    `{"permissions":{"allow":["Bash(ls)"]},"enabledMcpjsonServers":[],"mcpServers":{}}`,
  ];
  for (const text of texts) {
    const { cwd } = await thereAndBack("claude-code", { ".claude/settings.local.json": text, ".mcp.json": text });
    for (const file of [".claude/settings.local.json", ".mcp.json"]) assert.equal(await readFile(join(cwd, file), "utf8"), text, file);
    const gemini = await thereAndBack("gemini-cli", { ".gemini/settings.json": text });
    assert.equal(await readFile(join(gemini.cwd, ".gemini/settings.json"), "utf8"), text);
  }
  for (const text of ["", 'model = "o9"', '# mine\r\n[mcp_servers.a]\r\ncommand = "b"\r\n']) {
    const { cwd } = await thereAndBack("codex", { "home/config.toml": text }, { env: { CODEX_HOME: "home" } });
    assert.equal(await readFile(join(cwd, "home/config.toml"), "utf8"), text);
  }
  for (const agent of ["claude-code", "gemini-cli", "opencode", "codex"]) {
    const { shown } = await thereAndBack(agent, {}, { env: { CODEX_HOME: ".codex" } });
    assert.match(shown, / {2}\+ .*contextweaver/);
  }
});

test("install and uninstall: what somebody wrote meanwhile stays", async () => {
  const file = ".gemini/settings.json";
  const { cwd } = await thereAndBack(
    "gemini-cli",
    { [file]: `{"theme":"dark"}` },
    {
      meanwhile: async (folder) => {
        const settings = JSON.parse(await readFile(join(folder, file), "utf8"));
        settings.hooks.AfterTool.unshift({ matcher: "mine" });
        await writeFile(join(folder, file), JSON.stringify({ ...settings, added: true }));
      },
    },
  );
  assert.deepEqual(JSON.parse(await readFile(join(cwd, file), "utf8")), {
    theme: "dark",
    hooks: { AfterTool: [{ matcher: "mine" }] },
    mcpServers: {},
    added: true,
  });
  // What was altered itself is named, and nothing is forgotten.
  await program(["install", "gemini-cli", "--yes"], { cwd });
  const settings = JSON.parse(await readFile(join(cwd, file), "utf8"));
  settings.mcpServers.contextweaver.trust = false;
  await writeFile(join(cwd, file), JSON.stringify(settings));
  const { code, stdout } = await program(["uninstall", "gemini-cli", "--yes"], { cwd });
  assert.equal(code, 1);
  assert.match(stdout, /was changed since/);
  assert.equal(JSON.parse(await readFile(join(cwd, file), "utf8")).mcpServers.contextweaver.trust, false);
});

test("install: links and rights stay, and what cannot be read is not written", async () => {
  const cwd = await project();
  await mkdir(join(cwd, ".gemini"));
  await writeFile(join(cwd, "dotfile.json"), "{}\n");
  // More than the umask leaves to a new file.
  await chmod(join(cwd, "dotfile.json"), 0o662);
  await symlink("../dotfile.json", join(cwd, ".gemini/settings.json"));
  assert.equal((await program(["install", "gemini-cli", "--yes"], { cwd })).code, 0);
  assert.ok((await lstat(join(cwd, ".gemini/settings.json"))).isSymbolicLink());
  assert.equal((await stat(join(cwd, "dotfile.json"))).mode & 0o777, 0o662);
  assert.match(await readFile(join(cwd, "dotfile.json"), "utf8"), /AfterTool/);
  for (const text of ["{", "[]", `{"hooks":[]}`, `{"hooks":{"AfterTool":{}}}`, `{"mcpServers":{"contextweaver":{"command":"another"}}}`]) {
    const other = await project();
    await mkdir(join(other, ".gemini"));
    await writeFile(join(other, ".gemini/settings.json"), text);
    const { code, stderr } = await program(["install", "gemini-cli", "--yes"], { cwd: other });
    assert.deepEqual([code, await readFile(join(other, ".gemini/settings.json"), "utf8")], [2, text], stderr);
    assert.match(stderr, /nothing was written/);
  }
});

test("install: what Codex could not read with lines at its end is not written", async () => {
  const refused = {
    'mcp_servers = { a = { command = "b" } }': "mcp_servers",
    "[mcp_servers.contextweaver]": "mcp_servers.contextweaver",
    '[ mcp_servers . "contextweaver" ]': "mcp_servers.contextweaver",
    '[mcp_servers]\n"contextweaver" = { command = "b" }': "mcp_servers.contextweaver",
    '[mcp_servers]\n[mcp_servers.a]\nx = 1\n[mcp_servers.contextweaver.env]\nA = "b"': "mcp_servers.contextweaver.env",
    'mcp_servers.contextweaver.command = "b"': "mcp_servers.contextweaver.command",
    "[hooks]\nPostToolUse = [{ hooks = [] }]": "hooks.PostToolUse",
    "hooks.PostToolUse = []": "hooks.PostToolUse",
    "hooks = { PreToolUse = [] }": "hooks",
  };
  for (const [text, key] of Object.entries(refused)) {
    const cwd = await project();
    const file = join(cwd, "config.toml");
    await writeFile(file, text);
    const { code, stderr } = await program(["install", "codex", "--yes"], { cwd, env: { CODEX_HOME: cwd } });
    assert.deepEqual([code, await readFile(file, "utf8")], [2, text], text);
    assert.ok(stderr.includes(`has \`${key}\` already`) && stderr.includes("\n[[hooks.PostToolUse]]\n"), stderr);
  }
  // What they can stand beside.
  for (const text of [
    '[hooks]\nPreToolUse = [{ hooks = [] }]\n[mcp_servers]\na = { command = "contextweaver" }',
    '[[hooks.PostToolUse]]\nmatcher = "x"\n[[hooks.PostToolUse.hooks]]\ncommand = "y"\n[hooks.PostToolUse.more]\nz = 1',
    'mcp_servers.a.command = "b"\nhooks.PreToolUse = []\n[model_providers]\ncontextweaver = { name = "c" }',
    'notes = """\nhooks = { }\n"""\n# mcp_servers = { }\n[other.hooks]\nPostToolUse = 1',
  ])
    await thereAndBack("codex", { "home/config.toml": text }, { env: { CODEX_HOME: "home" } });
});

test("install: it asks, names agents, and knows what it has done", async () => {
  const cwd = await project();
  const asked = await program(["install", "claude-code"], { cwd });
  assert.deepEqual([asked.code, existsSync(join(cwd, ".mcp.json"))], [2, false]);
  assert.match(asked.stdout, /writes .*\.mcp\.json/);
  assert.match(asked.stderr, /--yes/);
  for (const [args, said] of [
    [["install", "claude"], /claude-code/],
    [["install"], /opencode/],
    [["uninstall", "codex"], /nothing is installed here for codex/],
    [["install", "codex", "--result-tokens", "7"], /whole number/],
  ]) {
    const { code, stderr } = await program(args, { cwd, env: { CODEX_HOME: cwd } });
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, said);
  }
  await program(["install", "opencode", "--yes"], { cwd });
  assert.match((await program(["install", "opencode", "--yes"], { cwd })).stderr, /already/);
});
