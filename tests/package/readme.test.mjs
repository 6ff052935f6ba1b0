// Runs the code blocks of the documents in a project with the package and the frameworks installed, and follows their links.
//
//   ```js, ```ts         run, beside a scripted model in place of the network; TypeScript is also compiled under strict settings
//   ```js norun          only parsed: needs something a test has not, such as a deployed Worker
//   ```ts workers        compiled with the types of Cloudflare's runtime, and not run
//   ```sh run            run by sh in the project; other shell blocks are for the reader
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";
import { here, manifest, project, root, run } from "./harness.mjs";
import { pictures } from "../../docs/images/draw.mjs";
import { bundleWorker } from "./workerd-bundle.mjs";

const folder = await project("readme");
const installed = join(folder, "node_modules", "contextweaver");
const path = `${join(folder, "node_modules", ".bin")}:${process.env.PATH}`;
/** What the snippets import beside the package. */
const FRAMEWORKS = [
  "@anthropic-ai",
  "@cloudflare",
  "@types",
  "agents",
  "@langchain",
  "@mastra",
  "@modelcontextprotocol",
  "@openai",
  "@opentelemetry",
  "ai",
  "esbuild",
  "gpt-tokenizer",
  "js-tiktoken",
  "langchain",
  "openai",
  "zod",
];

for (const name of FRAMEWORKS) await symlink(join(here, "node_modules", name), join(folder, "node_modules", name));
await cp(join(here, "scripted-provider.mjs"), join(folder, "scripted-provider.mjs"));

/** The documents of the package, by their path in it. */
const shipped = (await readdir(installed, { recursive: true })).filter((file) => /(\.md|llms\.txt)$/.test(file)).sort();
const texts = new Map(await Promise.all(shipped.map(async (file) => [file, await readFile(join(installed, file), "utf8")])));

test("the documents of the repository are those of the package", async () => {
  const docs = (await readdir(join(root, "docs"))).filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`);
  const others = ["CHANGELOG.md", "README.md", "SECURITY.md", "llms.txt", "skills/contextweaver/SKILL.md"];
  assert.deepEqual(shipped, [...docs, ...others].sort());
  // Of the README the links may lead to the repository: `release.test.mjs`.
  const bare = (text) => text.replaceAll(new RegExp(`\\]\\(${manifest.repository?.url.replace(/^git\\+|\\.git$/g, "")}/(?:blob|raw)/v[^/]+/`, "g"), "](");
  for (const [file, text] of texts) assert.equal(file === "README.md" ? bare(text) : text, await readFile(join(root, file), "utf8"), file);
});

test("every document but the changelog and tables can be read in one go", () => {
  const ofFrameworks = ["ai-sdk", "anthropic", "cloudflare", "langchain", "mastra", "mcp", "openai", "openai-agents"];
  // Two screens of 50 lines for whoever comes from a framework.
  const LONGEST = { "README.md": 160, ...Object.fromEntries(ofFrameworks.map((page) => [`docs/${page}.md`, 100])) };
  for (const [file, text] of texts) {
    const lines = text.split("\n").length - 1;
    if (!["CHANGELOG.md", "docs/messages.md", "docs/api.md", "docs/options.md", "docs/gateway-conformance.md"].includes(file))
      assert.ok(lines <= (LONGEST[file] ?? 120), `${file}: ${lines} lines`);
  }
});

const snippets = [...texts]
  .filter(([file]) => file !== "CHANGELOG.md")
  .flatMap(([file, text]) => fences(text).map((fence) => ({ ...fence, file, stem: `${file.replaceAll(/[/.]/g, "-")}-${fence.line}` })));
const [forWorkers, anywhere] = [true, false].map((isWorker) =>
  snippets.filter(({ language, words }) => (isWorker || language === "ts") && words.includes("workers") === isWorker),
);

for (const { file, stem, language, words, line, code } of snippets) {
  const name = `${file}:${line} (${language})`;
  if (language === "js" || language === "ts") {
    test(name, async () => {
      if (words.includes("workers")) return compiles(stem, WORKERS, forWorkers);
      if (language === "ts") await compiles(stem, ANYWHERE, anywhere);
      const script = language === "ts" ? (await transform(code, { loader: "ts", target: "es2022" })).code : code;
      await writeFile(join(folder, `${stem}.mjs`), script);
      const how = words.includes("norun") ? ["--check"] : ["--import", "./scripted-provider.mjs"];
      await run("node", [...how, `${stem}.mjs`], { cwd: folder });
    });
  } else if (language === "sh" && words.includes("run")) {
    test(name, () => run("sh", ["-e", "-c", code], { cwd: folder, env: { PATH: path } }));
  }
}

test("every link leads somewhere, in the repository and in the package", async () => {
  const pages = [...texts].map(([file, text]) => [installed, file, text]);
  for (const file of ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "www/README.md", ...shipped])
    pages.push([root, file, await readFile(join(root, file), "utf8")]);
  for (const [place, file, text] of pages) {
    for (const target of links(text)) {
      // There is no address of the project to lead to.
      assert.doesNotMatch(target, /^[a-z]+:/, `${file} leads to an address: ${target}`);
      const [to, anchor] = target.split("#");
      const at = to === "" ? join(place, file) : join(place, dirname(file), to);
      assert.ok(existsSync(at), `${file} of ${place === root ? "the repository" : "the package"}: ${target}`);
      if (anchor !== undefined) assert.ok(anchors(await readFile(at, "utf8")).includes(anchor), `${file}: no heading for ${target}`);
    }
  }
});

const isPicture = (file) => /\.(jpg|svg)$/.test(file);

test("the package has the pictures that its documents show, and no other", async () => {
  const shown = [...texts].flatMap(([file, text]) => links(text).map((target) => join(dirname(file), target))).filter(isPicture);
  const carried = (await readdir(join(installed, "docs"), { recursive: true })).filter(isPicture);
  assert.ok(links(texts.get("README.md")).some(isPicture), "the README shows the page");
  assert.deepEqual(carried.map((file) => join("docs", file)).sort(), [...new Set(shown)].sort());
});

test("the drawn pictures are as docs/images/draw.mjs draws them", async () => {
  for (const [name, svg] of Object.entries(pictures()))
    assert.equal(await readFile(join(root, "docs", "images", name), "utf8"), svg, `${name}: node docs/images/draw.mjs`);
});

test("every page says which kind it is, and the index lists it there", () => {
  const sections = texts.get("docs/README.md").split(/^## /m).slice(1);
  assert.deepEqual(
    sections.map((section) => section.split("\n", 1)[0]),
    ["Tutorial", "How-to", "Explanation", "Reference"],
  );
  for (const section of sections) {
    const kind = section.split("\n", 1)[0];
    for (const page of links(section)) {
      const text = texts.get(join("docs", page));
      assert.ok(text.startsWith(`# ${kind}: `), `${page}: ${text.split("\n", 1)[0]}`);
      if (kind === "Explanation") assert.ok(links(text).some(isPicture), `${page} has no picture`);
    }
  }
});

test("package.json names no address", () => {
  assert.doesNotMatch(JSON.stringify(manifest), /https?:/);
  for (const field of ["homepage", "repository", "bugs"]) assert.equal(manifest[field], undefined, field);
});

test("the index and llms.txt lead to every document, and entries.md names every entry", () => {
  const docs = shipped.filter((file) => file.startsWith("docs/") && file !== "docs/README.md");
  for (const index of ["docs/README.md", "llms.txt"]) {
    const led = links(texts.get(index)).map((target) => join(dirname(index), target.split("#")[0]));
    assert.deepEqual(
      docs.filter((file) => !led.includes(file)),
      [],
      index,
    );
  }
  const entries = Object.keys(manifest.exports).filter((entry) => !/\.(wasm|json)$/.test(entry));
  for (const index of ["docs/entries.md", "llms.txt"]) {
    const missing = entries.map((entry) => `contextweaver${entry.slice(1)}`).filter((entry) => !texts.get(index).includes(`\`${entry}\``));
    assert.deepEqual(missing, [], index);
  }
});

test("every error code has its place on the page of errors, with what it means and how to mend it, and errors name it", async () => {
  const script =
    "const { ERROR_CODES, ContextWeaverError } = require('contextweaver'); JSON.stringify(ERROR_CODES.map((code) => [code, new ContextWeaverError(code, '').docs]))";
  const codes = JSON.parse((await run("node", ["-p", script], { cwd: folder })).stdout);
  const page = texts.get("docs/errors.md");
  const places = new Map([...page.matchAll(/^### `([A-Z_]+)`\n(.*) \*\*Mend:\*\* (.*)$/gm)].map(([, code, meaning, remedy]) => [code, [meaning, remedy]]));
  assert.deepEqual(
    [...places.keys()],
    codes.map(([code]) => code),
  );
  for (const [code, told] of places) for (const said of told) assert.ok(said.length > 20, `${code}: ${said}`);
  for (const [code, docs] of codes) {
    const [file, anchor] = docs.split("#");
    assert.ok(anchors(texts.get(file)).includes(anchor), `${code}: ${docs}`);
  }
});

test("the skill says when to use it", () => {
  const [, head] = /^---\n([\s\S]*?)\n---\n/.exec(texts.get("skills/contextweaver/SKILL.md"));
  const fields = Object.fromEntries(head.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
  assert.deepEqual(Object.keys(fields), ["name", "description"]);
  assert.equal(fields.name, "contextweaver");
  assert.ok(fields.description.length > 80 && fields.description.length <= 1024);
});

test("every section with figures names a benchmark that there is", async () => {
  const [intro, ...sections] = texts.get("docs/measurements.md").split(/^## /m);
  assert.match(intro, /Measured between .* 20\d\d on .* cores, Node/);
  for (const section of [
    ...sections,
    texts
      .get("docs/costs.md")
      .split(/^## /m)
      .find((one) => one.startsWith("Beside other ways")),
  ]) {
    const named = [...section.matchAll(/`(?:cargo xtask bench (\w+)|node benches\/([\w-]+)\.mjs)/g)].map(([, xtask, node]) => xtask ?? node);
    assert.ok(named.length > 0, section.split("\n", 1)[0]);
    for (const name of named) assert.ok(existsSync(join(root, "benches", `${name}.mjs`)), name);
  }
});

test("what costs.md says of this package is what the report of the benchmark says", async () => {
  const report = await readFile(join(root, "benches", "QUALITY.md"), "utf8");
  const measured = (set, what, budget) =>
    Number(new RegExp(`^\\| ${set} \\| ${what} at ${Number(budget.replace(",", "")) / 1000}k \\| \\d+ \\| ([\\d.]+)`, "m").exec(report)[1]);
  const rows = [...texts.get("docs/costs.md").matchAll(/^\| (.+?), ([\d,]+) \| 1\.00, 100 \| (\.\d+), (\d+) \|/gm)];
  assert.equal(rows.length, 8);
  let set;
  for (const [, about, budget, cost, recall] of rows) {
    if (about !== "the same") set = about.startsWith("four") ? "swe-mini, 4 joined" : "swe-mini";
    for (const [stated, what] of [
      [100 * Number(cost), "cost"],
      [Number(recall), "recall"],
    ])
      assert.ok(
        Math.abs(stated - measured(set, what, budget)) <= 0.6,
        `${set} at ${budget}: ${what} is stated as ${stated}, measured ${measured(set, what, budget)}`,
      );
  }
});

/** How far a stated size may be from what is measured. */
const TOLERANCE = 0.1;

test("the sizes in entries.md are those of bundles", async (t) => {
  const rows = [...texts.get("docs/entries.md").matchAll(/^\| `(contextweaver[\w/-]*)` \|.*\| `(.*)` \| ([\d,]+) KiB \| ([\d,]+) KiB \|$/gm)];
  assert.ok(rows.length >= 12, `${rows.length} rows`);
  for (const [, entry, names, ...stated] of rows) {
    const contents = `export { ${names} } from "${entry}";`;
    const browser = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      platform: "browser",
      logLevel: "silent",
    });
    await writeFile(join(folder, "measured.mjs"), contents);
    const worker = await bundleWorker(join(folder, "measured.mjs"), { minify: true });
    const measured = [gzipped([browser.outputFiles[0].contents]), gzipped(worker.map(({ contents }) => contents))];
    t.diagnostic(`${entry}, ${names}: ${measured.map((bytes) => (bytes / 1024).toFixed(0)).join(" and ")} KiB`);
    for (const [at, bytes] of measured.entries()) {
      const kib = Number(stated[at].replace(",", ""));
      assert.ok(Math.abs(bytes / 1024 - kib) <= 1 + kib * TOLERANCE, `${entry}: ${stated[at]} KiB are stated, ${(bytes / 1024).toFixed(0)} measured`);
    }
  }
});

function gzipped(files) {
  return files.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0);
}

/** How a Worker is compiled: its globals are not those of a browser. */
const WORKERS = [
  "--module",
  "ESNext",
  "--moduleResolution",
  "Bundler",
  "--lib",
  "ES2023,ESNext.Disposable",
  "--types",
  "@cloudflare/workers-types,node",
  "--skipLibCheck",
];
const ANYWHERE = ["--module", "NodeNext", "--lib", "ES2023,DOM", "--typeRoots", join(here, "node_modules", "@types"), "--types", "node"];

/** What the compiler says of all snippets that are compiled alike: it reads the packages once for all of them. */
const said = new Map();

async function compiles(stem, how, snippets) {
  if (!said.has(how)) said.set(how, compile(how, snippets));
  const files = snippets.map((snippet) => `${snippet.stem}.ts`);
  // Of another snippet its own test tells.
  const errors = (await said.get(how)).filter((error) => error.startsWith(`${stem}.ts(`) || !files.some((file) => error.startsWith(`${file}(`)));
  assert.deepEqual(errors, []);
}

async function compile(how, snippets) {
  // An import-free snippet would otherwise share the global scope.
  await Promise.all(snippets.map(({ stem, code }) => writeFile(join(folder, `${stem}.ts`), `${code}\nexport {};\n`)));
  const tsc = join(here, "node_modules", ".bin", "tsc");
  const files = snippets.map(({ stem }) => `${stem}.ts`);
  const options = ["--strict", "--noEmit", "--pretty", "false", "--target", "ES2022"];
  const { code, stdout, stderr } = await run(tsc, [...options, ...how, ...files], { cwd: folder, check: false });
  const errors = `${stdout}${stderr}`.split(/\n(?=\S)/).filter((error) => error.trim() !== "");
  return code === 0 || errors.length > 0 ? errors : [`tsc ended with ${code}`];
}

/** What a Markdown text leads to, code left out. */
function links(text) {
  const prose = text.replaceAll(/^(`{3,})[\s\S]*?^\1$/gm, "").replaceAll(/`[^`\n]*`/g, (code) => "`".repeat(code.length));
  return [...prose.matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)].map(([, link, image]) => link ?? image);
}

/** The anchors of the headings of a Markdown text. */
function anchors(text) {
  const headings = text.replaceAll(/^(`{3,})[\s\S]*?^\1$/gm, "").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The fenced blocks of a Markdown text with the line their code begins on. */
function fences(text) {
  const found = [];
  let open;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^(\s*)(`{3,}|~{3,})\s*(.*)$/.exec(line);
    if (open && fence && fence[3] === "" && fence[2].startsWith(open.mark)) {
      found.push({ language: open.language, words: open.words, line: open.line, code: open.code.join("\n") });
      open = undefined;
    } else if (open) {
      open.code.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    } else if (fence) {
      const [language = "", ...words] = fence[3].split(/\s+/);
      open = { indent: fence[1], mark: fence[2], language, words, line: index + 2, code: [] };
    }
  }
  return found;
}
