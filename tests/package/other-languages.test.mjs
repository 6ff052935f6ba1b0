// The programs of docs/other-languages.md, each in its own language, behind `contextweaver run`.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { has, packageDir, root, run, temporaryFolder } from "./harness.mjs";
import { listening } from "./proxy-listening.mjs";

const PROGRAM = join(packageDir, "bin/contextweaver.js");
const PAGE = await readFile(join(root, "docs/other-languages.md"), "utf8");
const KEY = "sk-not-to-be-told-0123456789";

/** The program of a language, in a folder of its own. */
async function written(language, name) {
  const [, code] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(PAGE);
  const cwd = await temporaryFolder("language");
  await writeFile(join(cwd, name), code);
  return cwd;
}

const isThere = (program, args) =>
  run(program, args, { check: false }).then(
    ({ code }) => code === 0,
    () => false,
  );
const behind = (cwd, address, command, args = []) =>
  run(process.execPath, [PROGRAM, "run", ...args, "--", ...command], {
    cwd,
    env: { OPENAI_BASE_URL: `${address}/v1`, ANTHROPIC_BASE_URL: address, OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY },
  });

test("an agent in Python: below its budget what it sends passes, above it the conversation is shortened", async (t) => {
  if (!has(t, await isThere("python3", ["--version"]), { missing: "python3 is not installed", optional: true })) return;
  const cwd = await written("python", "agent.py");
  let step = 0;
  const provider = await listening(t, (body) => {
    if ((step += 1) > 8) return { text: `It is held, in ${body.messages.length} messages.` };
    return { text: `Step ${step}.`, calls: [{ id: `call_${step}`, name: "shell", input: { command: `seq ${step * 1_000} ${step * 1_000 + 400}` } }] };
  });
  const { stdout, stderr } = await behind(cwd, provider.address, ["python3", "agent.py"], ["--budget", "4000"]);
  assert.match(stdout, /^whole; tokens=\d+\n/);
  assert.match(stdout, /shortened; tokens=\d+; without=\d+; cut=full/);
  assert.match(stdout, /It is held, in \d+ messages\.\n$/);
  assert.match(stderr, /contextweaver run: 9 calls of a model, \d+ with a shorter prompt/);
  assert.ok(!stderr.includes(KEY));
  const { messages, tools } = provider.sent.at(-1).body;
  assert.match(JSON.stringify(messages), /How many lines does the log have/);
  assert.equal(tools[0].function.name, "shell");
  assert.equal(provider.sent.at(-1).headers.authorization, `Bearer ${KEY}`);
});

test("a program in Rust", async (t) => {
  if (!has(t, await isThere("rustc", ["--version"]), { missing: "rustc is not installed", optional: true })) return;
  const cwd = await written("rust", "main.rs");
  await run("rustc", ["--edition", "2021", "-o", "program", "main.rs"], { cwd });
  const provider = await listening(t, () => ({ text: "Order 12446." }));
  const { stdout } = await behind(cwd, provider.address, ["sh", "-c", `PROXY="\${OPENAI_BASE_URL#http://}"; PROXY="\${PROXY%/v1}" ./program`]);
  assert.match(stdout, /x-contextweaver: whole; tokens=\d+/i);
  assert.match(stdout, /Order 12446\./);
});

test("a program in Go", async (t) => {
  if (!has(t, await isThere("go", ["version"]), { missing: "go is not installed", optional: true })) return;
  const cwd = await written("go", "main.go");
  const provider = await listening(t, () => ({ text: "Order 12446." }));
  const { stdout } = await behind(cwd, provider.address, ["go", "run", "main.go"]);
  assert.match(stdout, /^whole; tokens=\d+ .*Order 12446\./);
});
