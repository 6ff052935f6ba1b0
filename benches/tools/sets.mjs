// Sets of queries with the tools that serve them. What may not be part of this repository is read from clones (`--mirror`) and
// from a folder of sets (`--sets`); how queries and labels were made is in benches/README.md.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { clone, noClone } from "../mirror.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

/** A numbered list of an annotation, without its numbers. */
const listed = (text = "") =>
  text
    .split(/[\n;]+/)
    .map((line) => line.replace(/^\s*\d+[.)]\s*/, "").trim())
    .filter(Boolean);

const LIVEMCP = "icip-cas/LiveMCPBench";

/**
 * The tasks of LiveMCPBench over its tools: a task wants every tool that has the name of one that an annotator used, on whatever
 * server; tasks whose tools are all unknown are left out. The second set has the annotated steps of a task, each as a query.
 */
function liveMcp(mirror) {
  const source = clone(mirror, LIVEMCP);
  if (source === undefined) return undefined;
  const servers = JSON.parse(source.read("tools/LiveMCPTool/tools.json"));
  const items = servers.flatMap(({ tools }) =>
    Object.entries(tools).flatMap(([server, { tools: list }]) =>
      list.map(({ name, description, inputSchema }) => ({
        id: `${server}/${name}`,
        name,
        namespace: server,
        description: description ?? "",
        args_schema: inputSchema ?? {},
      })),
    ),
  );
  const tasks = JSON.parse(source.read("annotated_data/all_annotations.json")).map(({ Question: query, "Annotator Metadata": { Tools, Steps } }) => {
    const names = new Set(listed(Tools));
    return { query, steps: listed(Steps), expected: items.filter(({ name }) => names.has(name)).map(({ id }) => id) };
  });
  const queries = tasks.filter(({ expected }) => expected.length > 0);
  return [
    { name: "livemcpbench", revision: source.revision, items, queries },
    { name: "livemcpbench, by step", revision: source.revision, items, queries: queries.map(({ steps, ...task }) => ({ ...task, query: steps })) },
  ];
}

const GITHUB = "github/github-mcp-server";
const SNAPSHOTS = "pkg/github/__toolsnaps__/";

/** Requests of our own over the tools of GitHub's server, those behind a feature flag left out. */
function gitHub(mirror) {
  const source = clone(mirror, GITHUB);
  if (source === undefined) return undefined;
  const files = source.list(SNAPSHOTS).filter((file) => !file.includes("_ff_"));
  const tools = files.map((file) => JSON.parse(source.read(file)));
  const items = tools.map(({ name, description, inputSchema, annotations }) => ({
    id: name,
    name,
    title: annotations?.title,
    namespace: "github",
    description: description ?? "",
    args_schema: inputSchema ?? {},
  }));
  return [{ name: "github-mcp-server", revision: source.revision, items, queries: readJson(join(here, "github.json")).queries }];
}

/** Sets in the format of benches/routing.mjs, in a folder of sets. */
const STORED = { "bfcl-core": "routing", metatool: "routing", "contextweaver-83": "routing", livemcp: "routing", "seal-multi-dev": "multitool" };

function stored(folder) {
  const found = Object.entries(STORED)
    .map(([name, kind]) => [name, join(folder, kind, `${name}.json`)])
    .filter(([, file]) => existsSync(file));
  return found.map(([name, file]) => ({ name: name === "livemcp" ? "livemcp, our conversion" : name, ...readJson(file) }));
}

/** The sets that are here; `say` is told which are not. */
export function toolSets({ sets, mirror, say }) {
  const made = [
    [LIVEMCP, liveMcp],
    [GITHUB, gitHub],
  ].flatMap(([repository, read]) => {
    const found = read(mirror);
    if (found === undefined) say(noClone(repository));
    return found ?? [];
  });
  const known = stored(sets);
  if (known.length < Object.keys(STORED).length)
    say(`SKIPPED: ${sets} has ${known.length} of ${Object.keys(STORED).length} sets (${Object.keys(STORED).join(", ")})`);
  const own = readJson(join(here, "../../tests/quality/routing/mcp-servers.json"));
  return [...made, ...known, { name: "mcp-servers", items: own.items, queries: own.queries }].map((set) => ({
    ...set,
    items: set.items.map((item) => ({ kind: "tool", ...item })),
  }));
}
