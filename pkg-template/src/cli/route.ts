// `contextweaver route`: the short list for a query, why it is what it is, and the cards that a model gets.
import { Router } from "../api.js";
import type { Catalog, ChoiceCard, PackedCards, RouteMatch, RouteResult } from "../api.js";
import { UsageError, routeOptions, wholeNumber } from "./options.js";
import type { CommandLine } from "./options.js";
import { cell, painter, safe, safeJson, table } from "./print.js";
import type { Paint } from "./print.js";
import { readTools, tellSkipped } from "./tools.js";

/** Terms of a tool in the table. */
const TERMS = 4;
/** As large as a budget may be, so that no tool is without a card. */
const NO_LIMIT = 1_000_000;

/** Runs the command; returns what to print. */
export async function route({ files, values }: CommandLine): Promise<string> {
  const given = values["query"] as string | undefined;
  const [query, sources] = given === undefined ? [files.at(-1), files.slice(0, -1)] : [given, files];
  if (query === undefined || sources.length === 0) {
    throw new UsageError("route takes lists of tools, files or - for stdin, and a query");
  }
  const options = routeOptions(values);
  const budget = wholeNumber(values, "budget");
  const { catalog, skipped } = await readTools(sources);
  tellSkipped(skipped);
  for (const id of [...(options.pin_ids ?? []), ...(options.exclude_ids ?? [])]) known(catalog, id);
  const router = new Router(catalog);
  const asked = values["debug"] === true;
  const result = router.route(query, { ...options, debug: asked || !values["json"] });
  const cards = router.packCards(result, budget === undefined ? {} : { budget_tokens: budget });
  if (values["json"]) {
    const explanation = values["explain"] ? { explanation: router.explain(result).data } : {};
    return `${safeJson({ ...result, cards, ...explanation })}\n`;
  }
  if (values["explain"]) return safe(router.explain(result).markdown);
  const paint = painter(values["color"]);
  const parts = [
    `${paint("Query", "bold")}  ${cell(query, 200)}`,
    `${paint("Tools", "bold")}  ${toolCount(catalog.size, result)}`,
    "",
    shortList(router, result, paint),
  ];
  if (result.candidate_ids.length > 0) parts.push("", cardSummary(cards, budget !== undefined, paint));
  if (asked) parts.push("", details(result, paint));
  return `${parts.join("\n").trimEnd()}\n`;
}

function known(catalog: Catalog, id: string): void {
  if (!catalog.has(id)) throw new UsageError(`there is no tool ${JSON.stringify(id)}`, "input");
}

function toolCount(all: number, { excluded_count: excluded, gated_count: gated }: RouteResult): string {
  const out = excluded + gated;
  return out > 0 ? `${all}, ${out} of them ruled out` : `${all}`;
}

/** The candidates in a table, and whether the choice is clear. */
export function shortList(router: Router, result: RouteResult, paint: Paint): string {
  const out: string[] = [];
  if (result.candidate_ids.length > 0) out.push(candidateTable(router, result, paint));
  if (result.no_match) {
    out.push(`${paint("Nothing fits", "yellow")}  ${safe(result.no_match_reason ?? "")}`);
  }
  if (result.is_ambiguous) out.push(`${paint("Ambiguous", "yellow")}  ${safe(result.clarifying_question ?? "")}`);
  return out.join("\n");
}

function candidateTable(router: Router, result: RouteResult, paint: Paint): string {
  const cards = router.cards(result, { budget_tokens: NO_LIMIT, max_card_tokens: NO_LIMIT });
  const ofTool = new Map(cards.map((card): [string, ChoiceCard] => [card.id, card]));
  const rows = result.candidate_ids.map((id, at) => {
    const card = ofTool.get(id);
    return [
      `${at + 1}`,
      (result.scores[at] ?? 0).toFixed(2),
      // Whole, to be copied.
      safe(id),
      cell(card?.namespace ?? "", 24),
      card?.safety ?? "",
      cell(matched(result.trace.extra.matches?.[at]), 40),
      cell(card?.description ?? "", 48),
    ];
  });
  const head = ["#", "score", "tool", "namespace", "safety", "matched", "description"];
  const filled = head.map((_, column) => rows.some((row) => row[column] !== ""));
  const only = (row: readonly string[]): string[] => row.filter((_, column) => filled[column]);
  return table(only(head), rows.map(only), paint, [0, 1]);
}

function matched(match: RouteMatch | undefined): string {
  return (match ? byWeight(match) : [])
    .slice(0, TERMS)
    .map(({ term }) => term.replaceAll("_", " "))
    .join(", ");
}

/** The terms of a tool, those that count most first. */
function byWeight({ terms }: RouteMatch): RouteMatch["terms"] {
  return [...terms].sort((a, b) => b.contribution - a.contribution);
}

function cardSummary(packed: PackedCards, whole: boolean, paint: Paint): string {
  const { cards, tokens, text, shortened, dropped, skipped } = packed;
  const notes = [`${tokens} tokens for ${cards.length} of ${cards.length + dropped.length + skipped.length} tools`];
  if (shortened.length > 0) notes.push(`${shortened.length} shortened`);
  const title = `${paint("Cards", "bold")}  ${notes.join(", ")}`;
  return whole && text !== "" ? `${title}\n${safe(text)}` : title;
}

/** What every tool was found by. */
function details({ candidate_ids: ids, trace }: RouteResult, paint: Paint): string {
  const parts = (trace.extra.matches ?? []).map((match, at) => {
    const title = `${paint(cell(ids[at] ?? "", 80), "bold")}  ${match.score.toFixed(2)}, covers ${Math.round(match.coverage * 100)} %`;
    const rows = byWeight(match).map(({ term, origin, from, fields, contribution }) => [
      `  ${cell(term, 32)}`,
      from === undefined ? origin : `${origin} of ${cell(from, 24)}`,
      fields.map(({ field, count }) => `${field} ${count}`).join(", "),
      contribution.toFixed(2),
    ]);
    return rows.length === 0 ? title : `${title}\n${table(["  term", "origin", "found in", "score"], rows, paint)}`;
  });
  return parts.join("\n\n");
}
