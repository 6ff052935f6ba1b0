// `contextweaver init`: each example that it writes is run with the framework itself, without a key and without a network.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { has, here, project, run } from "./harness.mjs";
import { configOf, deployed } from "./worker-deployed.mjs";

const ANSWER = "Order 4711 is in parcel 6475.";
const FILE = "contextweaver-example.mjs";
const CONFIG = "contextweaver-example.jsonc";
/** How a project shows what it uses. */
const FRAMEWORKS = {
  "ai-sdk": { dependencies: { ai: "*" } },
  "ai-sdk, version 6": { dependencies: { ai: "*" } },
  anthropic: { dependencies: { "@anthropic-ai/sdk": "*" } },
  langchain: { dependencies: { langchain: "*", "@langchain/core": "*" } },
  mastra: { dependencies: { "@mastra/core": "*" } },
  openai: { devDependencies: { openai: "*" } },
  "openai-agents": { dependencies: { "@openai/agents": "*" } },
  plain: { dependencies: { express: "*" } },
};

const folder = await project("cli-init");
const program = join(folder, "node_modules", "contextweaver", "bin", "contextweaver.js");
for (const name of ["@ai-sdk", "@anthropic-ai", "@langchain", "@mastra", "@openai", "ai", "langchain", "openai", "zod"]) {
  await symlink(join(here, "node_modules", name), join(folder, "node_modules", name));
}

/** Makes the folder of a project, in which frameworks are found above it. */
async function folderOf(name, manifest) {
  const place = join(folder, name.replaceAll(/\W+/g, "-"));
  await mkdir(place, { recursive: true });
  if (manifest !== undefined)
    await writeFile(join(place, "package.json"), typeof manifest === "string" ? manifest : JSON.stringify({ type: "commonjs", ...manifest }));
  return place;
}

const init = (cwd, ...args) => run("node", [program, "init", ...args], { cwd, check: false });

for (const [name, manifest] of Object.entries(FRAMEWORKS)) {
  test(`init writes an example that runs: ${name}`, async () => {
    const place = await folderOf(name, manifest);
    if (name.endsWith("6")) {
      await mkdir(join(place, "node_modules"));
      await symlink(join(here, "node_modules", "ai-6"), join(place, "node_modules", "ai"));
    }
    const framework = name.split(",")[0];
    const { code, stdout, stderr } = await init(place);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Wrote contextweaver-example\.mjs for [^]*\nNext\n {2}npm install contextweaver\n {2}node contextweaver-example\.mjs\n/);
    assert.equal(stdout.includes("no framework was found"), framework === "plain");
    assert.ok(!stdout.includes("Also found"), stdout);
    assert.deepEqual((await readdir(place)).filter((file) => file !== "node_modules").sort(), [FILE, "package.json"]);
    const text = await readFile(join(place, FILE), "utf8");
    if (framework !== "plain") assert.ok(text.includes(`from "contextweaver/${framework}"`), text);
    assert.match(text, /[Yy]ours|your model/);
    const said = (await run("node", [FILE], { cwd: place, env: { ...process.env, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" } })).stdout.trim().split("\n");
    assert.equal(said.at(-1), ANSWER);
    const sent = said
      .flatMap((line) => /^sent (\d+) of at most (\d+) tokens$/.exec(line) ?? [])
      .filter((_, at) => at % 3 !== 0)
      .map(Number);
    assert.equal(sent.length, 6, said.join("\n"));
    for (const tokens of [sent[0], sent[2], sent[4]]) assert.ok(tokens <= sent[1]);
    const [, whole] = /^The orders take (\d+) tokens\.$/.exec(said[0]);
    assert.ok(Number(whole) > 2 * sent[1]);
  });
}

test("init writes an example that runs: cloudflare", async (t) => {
  if (!has(t, existsSync(join(here, "node_modules", "workerd")), { missing: "workerd is not installed for this platform" })) return;
  const place = await folderOf("cloudflare", { devDependencies: { wrangler: "*" } });
  await writeFile(join(place, CONFIG), "mine");
  const refused = await init(place);
  assert.match(refused.stderr, /contextweaver-example\.jsonc is there already, and nothing was written/);
  assert.ok(!existsSync(join(place, FILE)));
  const { code, stdout } = await init(place, "--force");
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^Wrote contextweaver-example\.mjs and contextweaver-example\.jsonc for Cloudflare Workers[^]*\n {2}npx wrangler dev --config contextweaver-example\.jsonc\n/,
  );
  const { main, options } = configOf(await readFile(join(place, CONFIG), "utf8"));
  assert.equal(main, FILE);
  const worker = await deployed(t, join(place, main), options);
  const say = async (chat, id) =>
    (await worker.ask(`/chat/${chat}`, { method: "POST", body: JSON.stringify({ id, text: "Which parcel is order 4711 in?" }) })).json();
  // Two requests of one id are one turn.
  const both = await Promise.all([say("ada", "1"), say("ada", "1")]);
  assert.deepEqual(
    both.map(({ text, sent }) => [text, sent.length]).sort(([, a], [, b]) => a - b),
    [
      [ANSWER, 0],
      [ANSWER, 3],
    ],
  );
  for (const tokens of both.flatMap(({ sent }) => sent)) assert.ok(tokens <= 4_000);
  await worker.restart();
  assert.deepEqual(await say("ada", "1"), { text: ANSWER, sent: [] });
  // What was read stands in the log: one step is enough.
  const later = await say("ada", "2");
  assert.deepEqual([later.text, later.sent.length], [ANSWER, 1]);
  assert.equal((await say("bob", "1")).sent.length, 3);
  assert.equal((await worker.get("/")).status, 404);
});

test("init leaves alone what is there, unless it is told to write over it", async () => {
  const place = await folderOf("there", { dependencies: { contextweaver: "*", ai: "*", openai: "*" } });
  const other = join(place, FILE);
  await writeFile(other, "mine");
  const { code, stdout, stderr } = await init(place);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^contextweaver: contextweaver-example\.mjs is there already, and nothing was written; --force/);
  assert.equal(await readFile(other, "utf8"), "mine");
  const forced = await init(place, "--force");
  // What is there need not be installed; what was found besides is told.
  assert.match(
    forced.stdout,
    /^Wrote contextweaver-example\.mjs for AI SDK \(found in package\.json\)\.\nAlso found: openai\. .*--framework openai --force\n\nNext\n {2}node contextweaver-example\.mjs\n/,
  );
  assert.match(await readFile(other, "utf8"), /contextweaver\/ai-sdk/);
  const json = JSON.parse((await init(place, "--framework", "@anthropic-ai/sdk", "--force", "--json")).stdout);
  assert.deepEqual(json, { file: FILE, framework: "anthropic", others: [], next: ["npm install @anthropic-ai/sdk", "node contextweaver-example.mjs"] });
});

test("init says what it cannot do, and writes nothing", async () => {
  const place = await folderOf("nothing", "{ not json");
  for (const [args, message] of [
    [["file.mjs"], /init takes no file/],
    [["--framework", "opnai"], /--framework is one of .*did you mean 'openai'\?/],
    [["--framework"], /--framework needs a value/],
    [["--list", "--force"], /--list writes nothing/],
    [["--phase", "call"], /'init' has no option '--phase'/],
    [[], /package\.json is not valid JSON/],
  ]) {
    const { code, stdout, stderr } = await init(place, ...args);
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    assert.match(stderr, message);
  }
  assert.deepEqual(await readdir(place), ["package.json"]);
  const folderThere = await folderOf("folder");
  await mkdir(join(folderThere, FILE));
  assert.match((await init(folderThere, "--force")).stderr, /contextweaver-example\.mjs cannot be written/);
  // With a name, nothing of the project needs to be known.
  assert.equal((await init(place, "--framework", "plain")).code, 0);
});

test("init --list has the frameworks there are", async () => {
  const place = await folderOf("list");
  const names = ["mastra", "langchain", "openai-agents", "ai-sdk", "anthropic", "openai", "cloudflare", "plain"];
  const { code, stdout } = await init(place, "--list");
  assert.deepEqual(
    [
      code,
      stdout
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.split(" ")[0]),
    ],
    [0, names],
  );
  assert.deepEqual(
    JSON.parse((await init(place, "--list", "--json")).stdout).map(({ name }) => name),
    names,
  );
  assert.deepEqual(await readdir(place), []);
});
