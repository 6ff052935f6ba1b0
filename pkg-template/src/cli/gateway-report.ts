// What the gateway says of its servers and of what it has counted, for a terminal.
import type { GatewayCounts, GatewayServerEvent } from "../gateway/gateway.js";
import type { ListingReport, OverriddenTool } from "../gateway/runtime-types.js";
import { safe } from "./print.js";
import type { Paint } from "./print.js";

/** Mended entries that are told by name. */
const MAX_NAMES = 5;

/** One line about a server that has come or gone; nothing for what is no news. */
export function serverLine(event: GatewayServerEvent, paint: Paint, ms: number): string | undefined {
  const rules = (event.unmatched_rules ?? []).map(
    ({ path, tool }) => `  ${paint("??", "yellow")} ${safe(`${path}: no tool is called \`${tool}\``)}`,
  );
  const lines = [stateLine(event, paint, ms), ...rules].filter((line) => line !== undefined);
  return lines.length > 0 ? lines.join("\n") : undefined;
}

function stateLine(
  { server, status, detail, report }: GatewayServerEvent,
  paint: Paint,
  ms: number,
): string | undefined {
  const name = safe(server);
  if (report) {
    const { tools, tokens, resources, prompts, quarantined, skipped, mended } = report;
    const less = [
      ...(quarantined.length > 0
        ? [`${quarantined.length} in quarantine: ${quarantined.map((tool) => tool.name).join(", ")}`]
        : []),
      ...(skipped.length > 0 ? [`${skipped.length} left out`] : []),
      ...(mended.length > 0 ? [`malformed and mended: ${mendedNames(mended).join(", ")}`] : []),
    ].map((text) => `; ${text}`);
    return `  ${paint("ok", "green")} ${name}: ${tools} tools (${tokens} tokens), ${resources} resources, ${prompts} prompts, ${(ms / 1000).toFixed(1)} s${safe(less.join(""))}`;
  }
  return status === "unavailable" ? `  ${paint("--", "red")} ${name}: ${safe(detail ?? "unavailable")}` : undefined;
}

/** Entries that were mended, each once. */
function mendedNames(mended: ListingReport["mended"]): readonly string[] {
  const names = [...new Set(mended.map(({ list, name }) => `${name} (${list})`))];
  return names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), `${names.length - MAX_NAMES} more`] : names;
}

/** How many calls of clients there were, and who answered them. */
export function callsText({ totals, searches, drilldowns, recalls, cache_hits }: GatewayCounts): string {
  return `${count(totals.calls, "call")} answered by servers, ${searches + drilldowns + recalls + cache_hits} by the gateway itself`;
}

/** What a gateway has counted. */
export function statsText(stats: GatewayCounts, paint: Paint): string {
  const {
    mode,
    front_tokens,
    sessions,
    totals,
    searches,
    drilldowns,
    recalls,
    cache_hits,
    retries,
    servers,
    tools,
    largest,
    refusals,
    unmatched_rules,
    overrides,
  } = stats;
  const listed = servers.reduce((sum, { tokens }) => sum + tokens, 0);
  const part = (title: string, rows: readonly (readonly string[])[]): readonly string[] =>
    rows.length === 0 ? [] : ["", paint(title, "bold"), ...table(rows)];
  return `${[
    `${paint(mode, "bold")} mode: clients list ${count(front_tokens, "token")}, the servers list ${count(listed, "token")}`,
    `${callsText(stats)}, for ${count(sessions, "client")}: ${totals.tokens} tokens came, ${totals.shown_tokens} were shown, ${paint(`${totals.saved_tokens} saved`, "green")}; ${totals.errors} errors, ${totals.failures} failures`,
    `${count(searches, "search", "searches")}, ${count(drilldowns, "drilldown")}, ${count(recalls, "recall")}, ${count(cache_hits, "cache hit")}, ${count(retries, "retry", "retries")}`,
    ...part(
      "Servers",
      servers.map(({ name, status, detail, tools: all, quarantined, resources, prompts, left_out, mended, tokens }) => [
        name,
        status,
        `${count(all, "tool")} (${count(tokens, "token")})${quarantined > 0 ? `, ${quarantined} in quarantine` : ""}${left_out > 0 ? `, ${left_out} entries left out` : ""}${mended > 0 ? `, ${mended} mended` : ""}, ${count(resources, "resource")}, ${count(prompts, "prompt")}${detail === undefined ? "" : `: ${detail}`}`,
      ]),
    ),
    ...part(
      "Tools by tokens saved",
      tools
        .slice(0, MAX_ROWS)
        .map((tool) => [
          `${tool.server}/${tool.tool}`,
          `${tool.saved_tokens} of ${tool.tokens}`,
          `${count(tool.calls, "call")}, ${tool.errors} errors`,
        ]),
    ),
    ...part(
      "Largest results",
      largest.map(({ server, tool, tokens, bytes, at_ms }) => [
        `${server}/${tool}`,
        `${tokens} tokens`,
        `${bytes} bytes, ${new Date(at_ms).toISOString()}`,
      ]),
    ),
    ...part(
      "Refused",
      refusals.map(({ error, reason, count: times }) => [error, String(times), reason]),
    ),
    ...part(
      "Rules and overrides that name no tool",
      unmatched_rules.map(({ path, tool }) => [path, tool]),
    ),
    ...part(
      "Overridden",
      overrides.map((one) => [
        `${one.server}/${one.tool}`,
        ...overrideText(one),
        ...one.problems.map(({ message }) => `! ${message}`),
      ]),
    ),
  ].join("\n")}\n`;
}

/** What an override makes of a tool, and what its server says of it. */
export function overrideText({
  tool,
  shown_as,
  hidden,
  description,
  defaults,
  fixed,
}: OverriddenTool): readonly [string, string] {
  const given = [
    ...(defaults.length > 0 ? [`${defaults.join(", ")} by default`] : []),
    ...(fixed.length > 0 ? [`${fixed.join(", ")} fixed`] : []),
  ];
  const shown = hidden ? "hidden" : shown_as === undefined || shown_as === tool ? "" : `shown as ${shown_as}`;
  return [
    [shown, ...given].filter((text) => text !== "").join("; ") || "described otherwise",
    description === undefined ? "" : `its server says: ${description}`,
  ];
}

/** Tools that are told; as JSON there are more. */
const MAX_ROWS = 20;

function count(number: number, of: string, many = `${of}s`): string {
  return `${number} ${number === 1 ? of : many}`;
}

/** Rows with their first two columns below each other. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const cells = rows.map((row) => row.map((text) => safe(text).replaceAll("\n", " ")));
  const width = (column: number): number => Math.max(...cells.map((row) => row[column]?.length ?? 0));
  const [first, second] = [width(0), width(1)];
  return cells.map(([one = "", two = "", ...rest]) =>
    `  ${one.padEnd(first)}  ${two.padEnd(second)}  ${rest.join("  ")}`.trimEnd(),
  );
}
