// The part of `contextweaver demo` about tools: queries to the recorded tool lists of twelve MCP servers.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Router, countTokens } from "../api.js";
import type { Catalog, ContextManager, ContextPack } from "../api.js";
import { cell, safe } from "./print.js";
import type { Paint } from "./print.js";
import { shortList } from "./route.js";
import { readTools } from "./tools.js";

const QUERIES: readonly (readonly [string, string])[] = [
  ["Which tables does the database have?", "One tool is clearly the best."],
  ["Fill in the sign-up form and press submit", "Two servers drive a browser, so a question comes with the result."],
  ["Transfer the file to another folder", "Related words count, too: the tool has move and directory."],
  ["Brew me a cup of coffee", "No tool can do this, and the result says so."],
];
const TOP = 3;

/** Reads the tool lists that the package brings along. */
export async function bundledTools(): Promise<Catalog> {
  const folder = new URL("../../demo/catalogs/", import.meta.url);
  const index = JSON.parse(new TextDecoder().decode(readFileSync(new URL("index.json", folder)))) as {
    servers: readonly { file: string }[];
  };
  const { catalog } = await readTools(index.servers.map(({ file }) => fileURLToPath(new URL(file, folder))));
  return catalog;
}

/** Short lists for a few queries, and what they save. */
export function shortLists(router: Router, paint: Paint): string[] {
  const ids = router.items().map(({ id }) => id);
  const all = countTokens(JSON.stringify(router.toolsFor({ candidate_ids: ids }, "openai-chat")));
  const out = [`${ids.length} tools of ${router.browse("/").total} servers; all their schemas are ${all} tokens.`];
  for (const [query, caption] of QUERIES) {
    const result = router.route(query, { top_k: TOP, debug: true });
    out.push("", `Query: ${query}`, paint(caption, "dim"), "", shortList(router, result, paint));
    if (result.candidate_ids.length === 0) continue;
    const { text, tokens } = router.packCards(result);
    const schemas = countTokens(JSON.stringify(router.toolsFor(result, "openai-chat")));
    const lines = safe(text)
      .split("\n")
      .map((line) => `${paint("│", "dim")} ${cell(line, 118)}`);
    out.push(
      "",
      `Cards of ${tokens} tokens; with their schemas these tools are ${schemas} instead of ${all}`,
      ...lines,
    );
  }
  return out;
}

/** The prompt that lets a model choose, with the conversation so far. */
export function routePrompt(manager: ContextManager, router: Router, query: string): ContextPack {
  return manager.buildRoute({ query, router, route: { top_k: TOP } }).pack;
}
