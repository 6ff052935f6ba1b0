// Bundles for Node, made without any setting; bundles for the browser are in chromium.test.mjs.
import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { printCases, project, report, run, temporaryFolder } from "./harness.mjs";

const folder = await project("bundlers", { "main.mjs": printCases });
const common = { bundle: true, platform: "node", logLevel: "silent" };

for (const [format, name] of [
  ["esm", "bundle.mjs"],
  ["cjs", "bundle.cjs"],
]) {
  test(`esbuild, one ${format} file`, async (t) => {
    // Far from the project, so that nothing can be found but the bundle.
    const elsewhere = await temporaryFolder("bundle");
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

const MODULES = ["agent", "context", "convert", "decisions", "gateway", "routing"];

/** Which module each name of the package's own entry needs; a name that is not here fails the test. */
const NEEDS = {
  Catalog: "routing",
  ContextManager: "agent",
  ContextWeaverError: undefined,
  DecisionStore: "decisions",
  ERROR_CODES: undefined,
  LoopMemo: undefined,
  MetaPolicy: undefined,
  Router: "routing",
  ToolCallContext: "agent",
  assertPropagates: "agent",
  buildReport: "agent",
  capabilityDiff: "routing",
  capabilitySnapshot: "routing",
  contextKey: undefined,
  contextKeys: undefined,
  countTokens: "agent",
  decorate: "agent",
  decoratorsOf: undefined,
  defineTool: "agent",
  drilldownTool: "agent",
  effectiveContext: "agent",
  explainRoute: "routing",
  inferNamespace: "agent",
  loadMcpSessionJsonl: "agent",
  mcpPromptToEnvelope: "agent",
  mcpPromptToSelectable: "agent",
  mcpResourceToEnvelope: "agent",
  mcpResourceToSelectable: "agent",
  mcpResultToEnvelope: "agent",
  itemsToMessages: "agent",
  messagesToItems: "agent",
  findMessages: "agent",
  mcpToolToSelectable: "agent",
  firstTimeIn: undefined,
  fromAiSdk: "agent",
  fromConfigurable: "agent",
  fromExecutable: "agent",
  fromExtra: "agent",
  fromForeign: "agent",
  fromMcpMeta: "agent",
  normalizeTools: "routing",
  oncePerLoop: "agent",
  openDecisions: "decisions",
  openRecords: "agent",
  openSession: "agent",
  StoredDecisions: "decisions",
  StoredRecords: "agent",
  StoredSession: "agent",
  recallTool: "agent",
  redactSecrets: "agent",
  renderCards: "routing",
  runTool: "agent",
  sanitizeText: "agent",
  selectableToMcpTool: "agent",
  toAiSdk: "agent",
  toConfigurable: "agent",
  toMcpMeta: "agent",
  tokenize: "agent",
  bindTools: "agent",
  mcpToToolDefinition: "agent",
  mcpToToolResult: "agent",
  toolDefinitionToMcp: "agent",
  toolDefinitionToSelectable: "agent",
  toolResultToMcp: "agent",
  validateArgs: "agent",
  unwrap: undefined,
  version: "agent",
};

test("esbuild keeps the modules that an imported name needs, and drops the others", async () => {
  const { stdout } = await run("node", ["-p", "JSON.stringify(Object.keys(require('contextweaver')).sort())"], { cwd: folder });
  assert.deepEqual(JSON.parse(stdout), Object.keys(NEEDS).sort());
  for (const [name, module] of Object.entries(NEEDS)) {
    const kept = await modulesIn(`export { ${name} } from "contextweaver";`);
    assert.deepEqual(kept, module ? [module].flat() : [], name);
  }
  assert.deepEqual(await modulesIn(`import "contextweaver";`), []);
  assert.deepEqual(await modulesIn(`import { Catalog, version } from "contextweaver"; new Catalog(version());`), ["agent", "routing"]);
});

test("esbuild keeps no module for what stores sessions", async () => {
  for (const entry of ["storage", "node", "cloudflare"]) assert.deepEqual(await modulesIn(`export * from "contextweaver/${entry}";`), [], entry);
});

test("esbuild keeps the gateway for those alone who import it", async () => {
  const of = (name) => modulesIn(`export { ${name} } from "contextweaver/mcp";`);
  for (const name of ["connectDecisions", "decisionsHandler", "firewalled", "serveDecisionsStdio", "sidecar"]) assert.deepEqual(await of(name), [], name);
  assert.deepEqual(await of("gateway"), ["agent", "gateway"]);
  for (const name of ["decisionsHandler", "firewalled"])
    assert.deepEqual(await filesIn(`export { ${name} } from "contextweaver/mcp";`, /\/dist\/gateway\//), [], name);
  assert.deepEqual(await modulesIn(`export { otelGateway } from "contextweaver/otel";`), []);
});

test("esbuild keeps what writes reports for those alone who import it", async (t) => {
  for (const entry of ["contextweaver", "contextweaver/context"]) {
    assert.deepEqual(await filesIn(`export { ContextManager } from "${entry}";`, /\/report(?:-page)?\.js$/), [], entry);
  }
  const kept = await filesIn(`export { htmlReport } from "contextweaver/report";`, /\/report-page\.js$/);
  assert.equal(kept.length, 1);
  assert.deepEqual(await modulesIn(`export { htmlReport } from "contextweaver/report";`), []);
  // In a bundle there is no package to import from; the function that is imported works there.
  const elsewhere = await temporaryFolder("report");
  t.after(() => rm(elsewhere, { recursive: true }));
  const contents = `
    import { ContextManager } from "contextweaver";
    import { htmlReport } from "contextweaver/report";
    const manager = new ContextManager();
    manager.ingest({ id: "u1", kind: "user_turn", text: "x" });
    const code = await manager.report({ format: "html", phase: "answer" }).catch((error) => error.code + error.hint);
    console.log(JSON.stringify([code, (await htmlReport(manager, { phase: "answer" })).includes('"prompt_tokens":')]));`;
  await build({ ...common, stdin: { contents, resolveDir: folder }, format: "esm", outfile: join(elsewhere, "bundle.mjs") });
  const [code, isWritten] = JSON.parse((await run("node", ["bundle.mjs"], { cwd: elsewhere })).stdout);
  assert.match(code, /^UNSUPPORTED.*htmlReport/);
  assert.equal(isWritten, true);
});

/** The WebAssembly modules, and the JavaScript around each, in the bundle of a text. */
async function modulesIn(contents) {
  const files = await filesIn(contents, /\/dist\/wasm\//);
  const has = (file) => files.some((path) => path.endsWith(`/dist/wasm/${file}`));
  for (const name of MODULES) assert.equal(has(`${name}.js`), has(`${name}_inline.js`), name);
  return MODULES.filter((name) => has(`${name}_inline.js`));
}

/** The files of which something is in the bundle of a text. */
async function filesIn(contents, wanted) {
  const { metafile } = await build({
    ...common,
    stdin: { contents, resolveDir: folder },
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    // Whoever starts a gateway has it.
    external: ["@modelcontextprotocol/*"],
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  return Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (wanted.test(path) && bytesInOutput > 0 ? [path] : []));
}

/** What a bundle for the browser may weigh beside the WebAssembly that it needs: the facade, the code around it, and text instead of bytes. */
const ALLOWANCE = { factor: 1.1, bytes: 15 * 1024 };

/** A line of a user's, and the module that it needs. */
const IMPORTS = [
  ["contextweaver", "ContextManager", "agent"],
  ["contextweaver", "Router", "routing"],
  ["contextweaver", "DecisionStore", "decisions"],
  ["contextweaver/context", "ContextManager", "context"],
  ["contextweaver/convert", "messagesToItems", "convert"],
  ["contextweaver/routing", "Router", "routing"],
  ["contextweaver/decisions", "DecisionStore", "decisions"],
];

for (const [entry, name, module] of IMPORTS) {
  test(`esbuild for browsers: ${name} of ${entry} is one copy of ${module}_bg.wasm and little else`, async (t) => {
    const wasm = gzipped(await readFile(join(folder, "node_modules/contextweaver/dist/wasm", `${module}_bg.wasm`)));
    const contents = `export { ${name} } from "${entry}";`;
    assert.deepEqual(await modulesIn(contents), [module]);
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      platform: "browser",
      logLevel: "silent",
    });
    const bundle = gzipped(outputFiles[0].contents);
    t.diagnostic(`${(bundle / 1024).toFixed(0)} KiB gzip, of which WebAssembly is ${(wasm / 1024).toFixed(0)}`);
    assert.ok(bundle <= wasm * ALLOWANCE.factor + ALLOWANCE.bytes, `${bundle} bytes for ${wasm} of WebAssembly`);
  });
}

function gzipped(bytes) {
  return gzipSync(bytes, { level: 9 }).length;
}
