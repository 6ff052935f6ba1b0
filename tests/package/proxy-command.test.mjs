// `contextweaver proxy` and `contextweaver run` as programs, before a provider on this machine.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import http, { createServer, request as sendOn } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import test from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { run, temporaryFolder } from "./harness.mjs";
import { listening } from "./proxy-listening.mjs";
import { PROGRAM, raw, started } from "./proxy-program.mjs";
import { Agent } from "./proxy-reader.mjs";

/** Of Node 24.14 and later. */
const { setGlobalProxyFromEnv } = http;
const KEY = "sk-live-not-to-be-told-0123456789";

test("contextweaver proxy: the official SDKs of three providers, streams, counts, and what it says at the end", async (t) => {
  const gemini = { candidates: [{ content: { role: "model", parts: [{ text: "ciao" }] }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 3 } };
  const provider = await listening(
    t,
    () => ({ text: "hello there" }),
    ({ url }) =>
      /:generateContent$/.test(url)
        ? Response.json(gemini)
        : /:streamGenerateContent\?alt=sse$/.test(url)
          ? new Response(`data: ${JSON.stringify(gemini)}\n\n`, { headers: { "content-type": "text/event-stream" } })
          : undefined,
  );
  const { address, stop } = await started(t, ["--openai", provider.address, "--anthropic", provider.address, "--gemini", provider.address]);
  const openai = new OpenAI({ apiKey: KEY, baseURL: `${address}/v1` });
  const anthropic = new Anthropic({ apiKey: KEY, baseURL: address });
  const google = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: address } });
  const messages = [{ role: "user", content: "hi" }];
  assert.equal((await openai.chat.completions.create({ model: "gpt-5", messages })).choices[0].message.content, "hello there");
  assert.equal((await openai.responses.create({ model: "gpt-5", input: "hi" })).output_text, "hello there");
  let text = "";
  for await (const event of anthropic.messages.stream({ model: "claude-opus-5", max_tokens: 9, messages })) text += event.delta?.text ?? "";
  assert.equal(text, "hello there");
  assert.equal((await google.models.generateContent({ model: "gemini-3", contents: "hi" })).text, "ciao");
  text = "";
  for await (const chunk of await google.models.generateContentStream({ model: "gemini-3", contents: "hi" })) text += chunk.text;
  assert.equal(text, "ciao");
  const stats = await (await fetch(`${address}/stats`)).json();
  assert.deepEqual([stats.requests, stats.whole, stats.passed, stats.conversations], [5, 5, 0, 4]);
  const { code, stdout, stderr } = await stop();
  assert.equal(code, 0);
  for (const line of [
    `export ANTHROPIC_BASE_URL=${address}\n`,
    `export OPENAI_BASE_URL=${address}/v1\n`,
    `export GOOGLE_GEMINI_BASE_URL=${address} CODE_ASSIST_ENDPOINT=${address}\n`,
  ])
    assert.ok(stdout.includes(line), stdout);
  assert.match(
    stderr,
    /^POST \/v1\/chat\/completions gpt-5 200 whole [\d,]+ tokens\nPOST \/v1\/responses gpt-5 200 whole [\d,]+ tokens\nPOST \/v1\/messages claude-opus-5 200 whole [\d,]+ tokens\nPOST \/v1(?:beta)?\/models\/gemini-3:generateContent gemini-3 200 whole [\d,]+ tokens\nPOST \/v1(?:beta)?\/models\/gemini-3:streamGenerateContent gemini-3 200 whole [\d,]+ tokens\ncontextweaver proxy: 5 calls of a model, 0 with a shorter prompt, cut 0 times; input for 100 % of the price without, by our forecast/,
  );
  assert.ok(![stdout, stderr].some((said) => said.includes(KEY) || said.includes("hello there")));
});

test("contextweaver proxy: requests that no client writes, and an answer that breaks off", async (t) => {
  let breakOff;
  const begun = new Promise((done) => (breakOff = done));
  const broken = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from("data: {}\n\n")),
      pull: () => begun.then(() => Promise.reject(new Error("cut"))),
    });
  const provider = await listening(t, () => new Response(broken(), { headers: { "content-type": "text/event-stream" } }));
  const { address, stop } = await started(t, ["--openai", provider.address, "--anthropic", provider.address]);
  const { host } = new URL(address);
  for (const [line, headers, status] of [
    ["GET /v1/../../etc/passwd HTTP/1.1", `host: ${host}`, "200"],
    ["GET /v1/%2e%2e%2f%2e%2e%2fadmin HTTP/1.1", `host: ${host}`, "400"],
    ["GET //evil.example/v1/models HTTP/1.1", `host: ${host}`, "400"],
    ["GET http://evil.example/v1/models HTTP/1.1", `host: ${host}`, "400"],
    ["GET /v1/models HTTP/1.1", "host: evil.example", "403"],
    ["GET /v1/models HTTP/1.1", `host: user:pass@${host}`, "400"],
    ["GET /stats HTTP/1.1", `host: ${host}\r\norigin: https://evil.example`, "403"],
  ]) {
    const said = await raw(address, `${line}\r\n${headers}\r\nconnection: close\r\n\r\n`);
    assert.match(said, new RegExp(`^HTTP/1.1 ${status} `), `${line} ${headers}: ${said.slice(0, 200)}`);
  }
  assert.deepEqual(
    provider.sent.map(({ path }) => path),
    ["/etc/passwd"],
  );
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hi" }] }),
  });
  breakOff();
  await assert.rejects(response.text(), "an answer that broke off looks whole");
  const { stderr } = await stop();
  assert.doesNotMatch(stderr, /at .*\.js/);
});

test("contextweaver proxy: beyond this machine it needs a token", async (t) => {
  const { code, stderr } = await run(process.execPath, [PROGRAM, "proxy", "--host", "0.0.0.0", "--port", "0"], {
    check: false,
    env: { CONTEXTWEAVER_TOKEN: undefined },
  });
  assert.equal(code, 2);
  assert.match(stderr, /needs --token/);
  for (const [args, said] of [
    [["--thrift", "2"], /--thrift is a number from 0 to 1/],
    [["--budget", "10"], /budget_tokens/],
    [["--openai", "nowhere"], /upstreams\/openai/],
    [["claude"], /contextweaver run -- <agent>/],
  ]) {
    const { code: exit, stderr: told } = await run(process.execPath, [PROGRAM, "proxy", ...args], { check: false });
    assert.equal(exit, 2);
    assert.match(told, said);
  }
  const { address } = await started(t, ["--host", "0.0.0.0", "--token", "t0ken"]);
  const at = address.replace("0.0.0.0", "127.0.0.1");
  assert.equal((await fetch(`${at}/stats`)).status, 401);
  assert.equal((await fetch(`${at}/stats`, { headers: { "x-contextweaver-token": "t0ken" } })).status, 200);
});

test("contextweaver proxy --store: a conversation goes on in the next process with the prompt that it had", async (t) => {
  const provider = await listening(t, () => ({ text: "Go on." }));
  const store = join(await temporaryFolder("proxy-store"), "prompts");
  let address;
  const agent = new Agent("agent", async (body) => {
    const response = await fetch(`${address}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": KEY, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", max_tokens: 9, tools: [{ name: "read", input_schema: { type: "object" } }], ...body }),
    });
    await response.text();
    return response.headers.get("x-contextweaver");
  });
  const said = [];
  for (const steps of [7, 3]) {
    const { address: at, stop } = await started(t, ["--anthropic", provider.address, "--budget", "4000", "--store", store]);
    address = at;
    for (let step = 0; step < steps; step += 1) said.push(await agent.step());
    await stop();
  }
  assert.match(said[6], /^shortened; .*cut=full/);
  // The second process goes on behind what the first has sent.
  const bare = (key, value) => (key === "cache_control" ? undefined : value);
  const [before, after] = [6, 7].map((at) => provider.sent[at].body.messages.map((message) => JSON.stringify(message, bare)));
  assert.deepEqual(after.slice(0, before.length), before);
  for (const one of said.slice(7)) assert.match(one, /^shortened; tokens=\d+; without=\d+$/);
  assert.ok(!(await readdir(store, { recursive: true })).some((name) => name.includes(KEY)));
});

/** Runs a program of a few lines behind a proxy. */
async function agent(code, args = [], env = {}) {
  const folder = await temporaryFolder("run");
  const file = join(folder, "agent.mjs");
  await writeFile(file, code);
  return run(process.execPath, [PROGRAM, "run", ...args, "--", process.execPath, file, "--verbose", "-x"], { check: false, env });
}

test("contextweaver run: the agent finds the proxy by its variables, and its exit code and arguments are its own", async (t) => {
  const provider = await listening(t, () => ({ text: "hello" }));
  const code = `
    const { OPENAI_BASE_URL: openai, ANTHROPIC_BASE_URL: anthropic, GOOGLE_GEMINI_BASE_URL: gemini, OPENCODE_CONFIG_CONTENT: opencode } = process.env;
    const response = await fetch(openai + "/chat/completions", { method: "POST", body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }) });
    const { choices } = await response.json();
    console.log(JSON.stringify({ said: choices[0].message.content, openai, anthropic, gemini, opencode: JSON.parse(opencode), args: process.argv.slice(2) }));
    process.exit(7);`;
  // The address that the environment names already stands behind the proxy.
  const { code: exit, stdout, stderr } = await agent(code, ["--budget", "9000"], { OPENAI_BASE_URL: `${provider.address}/v1/` });
  assert.equal(exit, 7, stderr);
  const { said, openai, anthropic, gemini, opencode, args } = JSON.parse(stdout);
  assert.deepEqual([said, args], ["hello", ["--verbose", "-x"]]);
  assert.match(openai, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  assert.deepEqual([`${anthropic}/v1`, `${gemini}/v1`, opencode.provider.anthropic.options.baseURL], [openai, openai, openai]);
  assert.notEqual(openai, `${provider.address}/v1`);
  assert.match(stderr, /^contextweaver run: 1 calls of a model, 0 with a shorter prompt/);
  assert.equal(provider.sent.length, 1);
});

test("contextweaver run: an address without `/v1` is asked as the agent asks it by itself", async (t) => {
  const provider = await listening(t, () => ({ text: "hello" }));
  const code = `
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
    await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", { method: "POST", body });
    await fetch(process.env.OPENAI_BASE_URL + "/models?limit=9");`;
  for (const path of ["", "/v1beta/openai/", "/v1"]) {
    const { stderr } = await agent(code, [], { ...BARE, OPENAI_BASE_URL: provider.address + path });
    assert.match(stderr, /^contextweaver run: 1 calls of a model/);
    const base = path.replace(/\/$/, "");
    assert.deepEqual(
      provider.sent.splice(0).map(({ method, path: asked, search, text }) => [method, asked + search, text]),
      [
        ["POST", `${base}/chat/completions`, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`],
        ["GET", `${base}/models?limit=9`, ""],
      ],
    );
  }
});

test("contextweaver run: a budget that made the session dearer, or is smaller than the instructions, is told", async (t) => {
  const provider = await listening(t, () => ({ text: "Noted." }));
  const code = `
    const messages = [{ role: "system", content: "Keep what is told. ".repeat(360) }];
    for (let turn = 0; turn < 12; turn += 1) {
      messages.push({ role: "user", content: Array.from({ length: 40 }, (_, at) => "part " + turn + " of order " + at * 7919 % 10007).join(", ") });
      const response = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", { method: "POST", body: JSON.stringify({ model: "gpt-5", messages }) });
      messages.push((await response.json()).choices[0].message);
    }`;
  const said = async (budget, ...more) => (await agent(code, ["--budget", budget, "--openai", provider.address, ...more], BARE)).stderr;
  assert.match(await said("3000"), /, cut \d+ times; input for 1\d{2} % of the price without, by our forecast; a larger --budget would cost less/);
  assert.match(await said("60000"), /, cut 0 times; input for 100 % of the price without, by our forecast(?!; a larger)/);
  // Once, and not for each request: the agent may draw on the same terminal.
  const small = await said("2000", "--verbose");
  assert.equal(small.match(/^contextweaver proxy: requests pass as they come: .* take a larger --budget$/gm).length, 1, small);
  assert.match(small, /\nPOST \/v1\/chat\/completions gpt-5 200 bypassed \(budget_exceeded\)\n/);
  assert.match(small, /; 12 bypassed \(budget_exceeded\)\n$/);
});

const TELLS = `
  const { ENABLE_TOOL_SEARCH: search, NO_PROXY: past, no_proxy: other } = process.env;
  console.log(JSON.stringify({ search, past, other, args: process.argv.slice(2) }));`;
const told = ({ stdout, stderr }) => {
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
};
/** No proxy, no key and no address of the machine that tests run on. */
const BARE = Object.fromEntries(
  "ENABLE_TOOL_SEARCH HTTP_PROXY HTTPS_PROXY http_proxy https_proxy NO_PROXY no_proxy OPENAI_API_KEY OPENAI_BASE_URL ANTHROPIC_BASE_URL NODE_OPTIONS NODE_USE_ENV_PROXY"
    .split(" ")
    .map((name) => [name, undefined]),
);

test("contextweaver run: Claude Code searches its tools as it does without a proxy, and only where it did", async () => {
  assert.equal(told(await agent(TELLS, [], BARE)).search, "true");
  assert.equal(told(await agent(TELLS, [], { ...BARE, ENABLE_TOOL_SEARCH: "false" })).search, "false");
  assert.equal(told(await agent(TELLS, [], { ...BARE, ANTHROPIC_BASE_URL: "https://api.anthropic.com" })).search, "true");
  // Before a host that is not Anthropic's it did not.
  assert.equal(told(await agent(TELLS, [], { ...BARE, ANTHROPIC_BASE_URL: "https://gateway.example" })).search, undefined);
  assert.equal(told(await agent(TELLS, ["--anthropic", "https://gateway.example"], BARE)).search, undefined);
});

test("contextweaver run: behind a company's proxy the agent reaches us past it, and we the provider through it", async (t) => {
  const HTTPS_PROXY = "http://127.0.0.1:9";
  const past = async (env) => told(await agent(TELLS, [], { ...BARE, ...env }));
  assert.deepEqual(await past({}).then(({ past: one, other }) => [one, other]), [undefined, undefined]);
  for (const [env, list] of [
    [{ HTTPS_PROXY }, "localhost,127.0.0.1"],
    [{ http_proxy: HTTPS_PROXY, NO_PROXY: "corp.example .local" }, "corp.example,.local,localhost,127.0.0.1"],
    [{ HTTPS_PROXY, no_proxy: "*" }, "*"],
  ])
    assert.deepEqual(await past(env).then(({ past: one, other }) => [one, other]), [list, list]);
  // Anything that is asked for by CONNECT or by its whole address is there.
  const asked = [];
  const provider = await listening(t, () => ({ text: "from afar" }));
  const { port } = new URL(provider.address);
  const company = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { pathname } = new URL(request.url);
    request.pipe(sendOn({ port, path: pathname, method: request.method, headers: request.headers }, (answer) => answer.pipe(response)));
  });
  company.on("connect", (request, socket, head) => {
    asked.push(`CONNECT ${request.url}`);
    const far = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      far.write(head);
      socket.pipe(far).pipe(socket);
    });
    for (const end of [far, socket]) end.on("error", () => [far, socket].forEach((one) => one.destroy()));
  });
  await new Promise((done) => company.listen(0, "127.0.0.1", done));
  t.after(() => company.close());
  const asks = `
    const response = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", { method: "POST", body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }) });
    console.log(response.status, await response.text());`;
  const env = { ...BARE, HTTP_PROXY: `http://127.0.0.1:${company.address().port}` };
  const { stdout, stderr } = await agent(asks, ["--openai", "http://provider.example"], env);
  if (setGlobalProxyFromEnv) {
    assert.match(stdout, /^200 .*from afar/, stderr);
    assert.match(asked.join(), /provider\.example/);
  } else {
    assert.match(stdout, /^502 /);
    assert.match(stderr, /^contextweaver: requests do not go through HTTP_PROXY: .*take Node 24\.14 or later\n/);
  }
  // One on this machine is asked without it.
  const near = await agent(asks, ["--openai", provider.address], env);
  assert.match(near.stdout, /^200 .*from afar/, near.stderr);
});

test("contextweaver run: Codex pays as it does without a proxy: with its login, or with a key where it has none", async () => {
  const folder = await temporaryFolder("codex");
  const codex = join(folder, "codex");
  const lines = ["#!/bin/sh", `if [ "$1 $2" = "login status" ]; then exit $LOGGED_OUT; fi`, `for one in "$@"; do echo "$one"; done`];
  await writeFile(codex, lines.join("\n"), { mode: 0o755 });
  const started = async (env) => {
    const { stdout, stderr, code } = await run(process.execPath, [PROGRAM, "run", "--", codex, "exec"], { check: false, env: { ...BARE, ...env } });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /\nmodel_provider="contextweaver"\nexec\n$/);
    return /\.(env_key|requires_openai_auth)=(.*)/.exec(stdout).slice(1);
  };
  const [login, key] = [
    ["requires_openai_auth", "true"],
    ["env_key", '"OPENAI_API_KEY"'],
  ];
  assert.deepEqual(await started({ LOGGED_OUT: "0" }), login);
  assert.deepEqual(await started({ LOGGED_OUT: "1" }), login, "it asks for a login");
  assert.deepEqual(await started({ LOGGED_OUT: "0", OPENAI_API_KEY: KEY }), login, "a key is paid from another purse");
  assert.deepEqual(await started({ LOGGED_OUT: "1", OPENAI_API_KEY: KEY }), key);
});

test("contextweaver run: pi is led to the proxy by an extension, where its calls go to the providers' own addresses", async () => {
  const folder = await temporaryFolder("pi");
  const pi = join(folder, "pi");
  await writeFile(pi, `#!/bin/sh\nfor one in "$CONTEXTWEAVER_PROXY" "$@"; do echo "$one"; done`, { mode: 0o755 });
  const started = async (...args) => {
    const { stdout, stderr, code } = await run(process.execPath, [PROGRAM, "run", "--", pi, ...args], { check: false, env: BARE });
    assert.equal(code, 0, stderr);
    return stdout.trim().split("\n");
  };
  const [address, flag, extension, ...args] = await started("-p", "Fix the build");
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual([flag, args], ["--extension", ["-p", "Fix the build"]]);
  // Beside conversations it takes none.
  assert.deepEqual(await started("install", "npm:a-package"), ["install", "npm:a-package"]);
  const models = [
    { provider: "anthropic", baseUrl: "https://api.anthropic.com" },
    { provider: "openai", baseUrl: "https://gateway.example/v1" },
    { provider: "openai-codex", baseUrl: "https://chatgpt.com/backend-api" },
    { provider: "openrouter", baseUrl: "https://openrouter.ai/api/v1" },
  ];
  const lead = `
    import toProxy from ${JSON.stringify(extension)};
    const led = [];
    const on = (_event, begins) => begins({}, { modelRegistry: { getAll: () => ${JSON.stringify(models)} } });
    toProxy({ on, registerProvider: (...one) => led.push(one) });
    console.log(JSON.stringify(led));`;
  const led = async (env) => JSON.parse((await run(process.execPath, ["--input-type=module", "-e", lead], { env })).stdout);
  // A key for another host stays with it.
  assert.deepEqual(await led({ CONTEXTWEAVER_PROXY: "http://127.0.0.1:1" }), [
    ["anthropic", { baseUrl: "http://127.0.0.1:1" }],
    ["openai-codex", { baseUrl: "http://127.0.0.1:1/codex" }],
  ]);
  assert.deepEqual(await led({}), []);
  // Nor does a variable that it does not read lead it there.
  const web = join(folder, "web.mjs");
  await writeFile(
    web,
    `const { fetch } = globalThis;
    globalThis.fetch = (asked) => {
      const { hostname } = new URL(asked.url ?? asked);
      return hostname === "127.0.0.1" ? fetch(asked) : Promise.resolve(Response.json({ hostname }));
    };`,
  );
  const asks = `
    const headers = { "authorization": "Bearer sk-ant-oat-none", "anthropic-version": "2023-06-01" };
    const body = JSON.stringify({ model: "claude-opus-5", max_tokens: 9, messages: [{ role: "user", content: "hi" }] });
    const answer = await fetch(process.env.CONTEXTWEAVER_PROXY + "/v1/messages", { method: "POST", headers, body });
    console.log((await answer.json()).hostname);`;
  await writeFile(pi, `#!/bin/sh\nexec "${process.execPath}" --input-type=module -e '${asks}'`);
  const elsewhere = { ...BARE, NODE_OPTIONS: `--import ${web}`, ANTHROPIC_BASE_URL: "https://gateway.example" };
  const { stdout } = await run(process.execPath, [PROGRAM, "run", "--", pi], { check: false, env: elsewhere });
  assert.equal(stdout.trim(), "api.anthropic.com");
});

test("contextweaver run: on Windows it starts the scripts that npm installs", async () => {
  const folder = await temporaryFolder("windows");
  // What Node says of the system, and a shell that tells what it is asked to run.
  await writeFile(join(folder, "windows.mjs"), `Object.defineProperty(process, "platform", { value: "win32" });`);
  await writeFile(join(folder, "cmd.exe"), `#!/bin/sh\nfor one in "$@"; do echo "$one"; done`, { mode: 0o755 });
  const env = { ...BARE, NODE_OPTIONS: `--import=${join(folder, "windows.mjs")}`, PATH: folder, PATHEXT: ".EXE;.CMD", comspec: join(folder, "cmd.exe") };
  const { stdout, stderr, code } = await run(process.execPath, [PROGRAM, "run", "--", "codex", "exec", "Fix the build & more"], { check: false, env });
  assert.equal(code, 0, stderr);
  const [line, ...before] = stdout.trim().split("\n").reverse();
  assert.deepEqual(before, ["/c", "/s", "/d"]);
  assert.match(line, /^"codex \^"-c\^" .*\^"exec\^" \^"Fix\^ the\^ build\^ \^&\^ more\^""$/);
});

test("contextweaver run: signals reach the agent, and what cannot be started is said", async () => {
  const child = spawn(process.execPath, [
    PROGRAM,
    "run",
    "--",
    process.execPath,
    "-e",
    `process.on("SIGTERM", () => { console.log("asked to end"); process.exit(5); }); setInterval(() => {}, 1000); console.log("ready");`,
  ]);
  let stdout = "";
  child.stdout.on("data", (text) => (String(text).includes("ready") && child.kill("SIGTERM"), (stdout += text)));
  assert.equal(await new Promise((done) => child.on("close", done)), 5);
  assert.match(stdout, /asked to end/);
  const killed = await agent(`process.kill(process.pid, "SIGKILL")`);
  assert.equal(killed.code, 137);
  const missing = await run(process.execPath, [PROGRAM, "run", "--", "no-such-agent"], { check: false });
  assert.deepEqual([missing.code, missing.stderr.trim()], [2, "contextweaver: cannot start no-such-agent: there is no such program"]);
  assert.equal((await run(process.execPath, [PROGRAM, "run"], { check: false })).code, 2);
});
