// Bundles for Node, made without any setting; bundles for the browser are in chromium.test.mjs.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { build } from "esbuild";
import { printCases, project, report, run } from "./harness.mjs";

const folder = await project("bundlers", { "main.mjs": printCases });
const common = { bundle: true, platform: "node", logLevel: "silent" };

for (const [format, name] of [
  ["esm", "bundle.mjs"],
  ["cjs", "bundle.cjs"],
]) {
  test(`esbuild, one ${format} file`, async (t) => {
    // Far from the project, so that nothing can be found but the bundle.
    const elsewhere = await mkdtemp(join(tmpdir(), "contextweaver-bundle-"));
    t.after(() => rm(elsewhere, { recursive: true }));
    const { warnings } = await build({
      ...common,
      entryPoints: [join(folder, "main.mjs")],
      format,
      outfile: join(elsewhere, name),
    });
    assert.deepEqual(warnings, []);
    await report(t, (await run("node", [name], { cwd: elsewhere })).stdout);
  });
}

/** Which module each name needs; a name that is not here fails the test. */
const NEEDS = {
  Catalog: "routing",
  ContextManager: ["convert", "core"],
  ContextWeaverError: undefined,
  DecisionStore: "decisions",
  ERROR_CODES: undefined,
  LoopMemo: undefined,
  MetaPolicy: undefined,
  Router: "routing",
  ToolCallContext: "convert",
  assertPropagates: "convert",
  buildReport: "core",
  capabilityDiff: "routing",
  capabilitySnapshot: "routing",
  contextKey: undefined,
  contextKeys: undefined,
  countTokens: "core",
  decorate: "convert",
  decoratorsOf: undefined,
  defineTool: "convert",
  drilldownTool: "core",
  effectiveContext: "convert",
  explainRoute: "routing",
  inferNamespace: "convert",
  loadMcpSessionJsonl: "convert",
  mcpPromptToEnvelope: "convert",
  mcpPromptToSelectable: "convert",
  mcpResourceToEnvelope: "convert",
  mcpResourceToSelectable: "convert",
  mcpResultToEnvelope: "convert",
  itemsToMessages: "convert",
  messagesToItems: "convert",
  mcpToolToSelectable: "convert",
  firstTimeIn: undefined,
  fromAiSdk: "convert",
  fromConfigurable: "convert",
  fromExecutable: "convert",
  fromExtra: "convert",
  fromForeign: "convert",
  fromMcpMeta: "convert",
  normalizeTools: "routing",
  oncePerLoop: "convert",
  redactSecrets: "core",
  renderCards: "routing",
  runTool: "convert",
  sanitizeText: "core",
  selectableToMcpTool: "convert",
  toAiSdk: "convert",
  toConfigurable: "convert",
  toMcpMeta: "convert",
  tokenize: "core",
  bindTools: "convert",
  mcpToToolDefinition: "convert",
  mcpToToolResult: "convert",
  toolDefinitionToMcp: "convert",
  toolDefinitionToSelectable: "convert",
  toolResultToMcp: "convert",
  validateArgs: "convert",
  unwrap: undefined,
  version: "core",
};

test("esbuild keeps the modules that an imported name needs, and drops the others", async () => {
  const { stdout } = await run("node", ["-p", "JSON.stringify(Object.keys(require('contextweaver')).sort())"], { cwd: folder });
  assert.deepEqual(JSON.parse(stdout), Object.keys(NEEDS).sort());
  for (const [name, module] of Object.entries(NEEDS)) {
    const kept = await modulesIn(`export { ${name} } from "contextweaver";`);
    assert.deepEqual(kept, module ? [module].flat() : [], name);
  }
  assert.deepEqual(await modulesIn(`import "contextweaver";`), []);
  assert.deepEqual(await modulesIn(`import { Catalog, version } from "contextweaver"; new Catalog(version());`), ["core", "routing"]);
});

/** The WebAssembly modules, and the JavaScript around each, in the bundle of a text. */
async function modulesIn(contents) {
  const { metafile } = await build({
    ...common,
    stdin: { contents, resolveDir: folder },
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  const has = (file) => Object.entries(inputs).some(([path, { bytesInOutput }]) => path.endsWith(`/dist/${file}`) && bytesInOutput > 0);
  const modules = ["convert", "core", "decisions", "routing"];
  for (const name of modules) assert.equal(has(`${name}.js`), has(`${name}_inline.js`), name);
  return modules.filter((name) => has(`${name}_inline.js`));
}
