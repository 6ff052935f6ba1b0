// The declarations under strict settings: an own consumer and every TypeScript example.
import { existsSync } from "node:fs";
import { cp, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { here, project, root, run } from "./harness.mjs";

const tsc = join(here, "node_modules", ".bin", "tsc");
const strict = {
  strict: true,
  noEmit: true,
  target: "ES2022",
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  // The package's own declarations are checked too.
  skipLibCheck: false,
  typeRoots: [join(here, "node_modules", "@types")],
};
const resolutions = {
  nodenext: { module: "NodeNext", moduleResolution: "NodeNext" },
  bundler: { module: "ESNext", moduleResolution: "Bundler" },
};
const libraries = {
  "Node types, no DOM": { lib: ["ES2023"], types: ["node"] },
  "DOM, no Node types": { lib: ["ES2023", "DOM"], types: [] },
};

const folder = await project("types");
await cp(join(here, "types"), join(folder, "consumer"), { recursive: true });
const examples = join(root, "examples");
const hasExamples = existsSync(examples) && (await readdir(examples, { recursive: true })).some((file) => file.endsWith(".ts"));
if (hasExamples) {
  await cp(examples, join(folder, "examples"), {
    recursive: true,
    // What runs in an object of Cloudflare is compiled with the types of its runtime, below.
    filter: (path) => !path.includes("node_modules") && !path.includes("worker-gateway") && !path.includes("worker-proxy"),
  });
}

// The example of an agent speaks MCP.
const sdk = join(here, "node_modules", "@modelcontextprotocol");
if (existsSync(sdk)) await symlink(sdk, join(folder, "node_modules", "@modelcontextprotocol"));

// Their own declarations are not ours to check.
const sdks = [
  "@cloudflare",
  "agents",
  "ai",
  "ai-6",
  "gpt-tokenizer",
  "js-tiktoken",
  "langchain",
  "@langchain",
  "@mastra",
  "openai",
  "@openai",
  "@anthropic-ai",
  "@opentelemetry",
  "@google",
  "@types",
  "zod",
];
for (const name of sdks) {
  const from = join(here, "node_modules", name);
  if (existsSync(from)) await symlink(from, join(folder, "node_modules", name));
}
await cp(join(here, "sdk-types"), join(folder, "sdks"), { recursive: true });
test("the SDKs of providers", () => compile({ ...resolutions.nodenext, lib: ["ES2023", "DOM"], types: ["node"], skipLibCheck: true }, ["sdks"]));

// Their globals are not those of a browser.
await cp(join(here, "worker-types"), join(folder, "workers"), { recursive: true });
if (hasExamples) for (const name of ["gateway", "proxy"]) await cp(join(examples, `worker-${name}`, "worker.ts"), join(folder, "workers", `${name}.ts`));
const roots = [join(folder, "node_modules", "@types"), join(folder, "node_modules")];
test("chat agents, a gateway and a proxy on Cloudflare", () =>
  compile(
    { ...resolutions.bundler, lib: ["ES2023", "ESNext.Disposable"], types: ["@cloudflare/workers-types", "node"], typeRoots: roots, skipLibCheck: true },
    ["workers"],
  ));

for (const [resolution, how] of Object.entries(resolutions)) {
  for (const [library, libs] of Object.entries(libraries)) {
    test(`consumer, ${resolution}, ${library}`, () => compile({ ...how, ...libs }, ["consumer"]));
  }
  test(`examples, ${resolution}`, { skip: !hasExamples && "examples/ holds no TypeScript" }, () =>
    compile({ ...how, lib: ["ES2023", "DOM"], types: ["node"] }, ["examples"]),
  );
}

async function compile(options, include) {
  const config = join(folder, `tsconfig.${include[0]}.json`);
  await writeFile(config, JSON.stringify({ compilerOptions: { ...strict, ...options }, include }));
  await run(tsc, ["--project", config], { cwd: folder });
}
