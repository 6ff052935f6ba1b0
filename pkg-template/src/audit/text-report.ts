// An audit as tables for a terminal, at most 100 columns wide.
import { cell, safe, table } from "../cli/print.js";
import type { Paint } from "../cli/print.js";
import type { SessionAccount } from "./events.js";
import type { AuditReport, AuditSums, BreakReason, StrategySums } from "./types.js";
import { BREAKS, STRATEGIES, changed, counted, dollars, percent, sameCalls, short, shortId } from "./words.js";

const MAX_SESSIONS = 15;
const MAX_REPEATS = 5;
const MAX_PROBLEMS = 10;

/** Writes a report. */
export function auditText(report: AuditReport, paint: Paint): string {
  const parts = [
    summary(report, paint),
    accounts(report),
    sessions(report, paint),
    breaks(report, paint),
    strategies(report, paint),
    results(report, paint),
    repeats(report, paint),
    forecast(report, paint),
    problems(report, paint),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function summary({ total, models, files, bytes }: AuditReport, paint: Paint): string {
  const {
    conversations,
    calls,
    counted_calls,
    tokens,
    new_tokens,
    repeated_tokens,
    rewritten_tokens,
    usd,
    unpriced_calls,
    output_tokens,
  } = total;
  const unpriced = models.filter(({ price }) => !price).map(({ model }) => model);
  const uncounted = calls - counted_calls;
  const rows = [
    ["new", new_tokens],
    ["read from the cache", repeated_tokens],
    ["sent before, paid again", rewritten_tokens],
  ] as const;
  return [
    `${paint(counted(conversations, "conversation"), "bold")} in ${counted(files, "file")} (${short(bytes)} bytes): ${counted(calls, "call")} of models, ${paint(dollars(usd), "bold")} at list prices`,
    ...(unpriced_calls > 0
      ? [
          paint(
            `  ${counted(unpriced_calls, "call")} without a price: ${cell(unpriced.join(", "), 50)}; give one with --prices`,
            "yellow",
          ),
        ]
      : []),
    ...(uncounted > 0
      ? [paint(`  ${counted(uncounted, "call")} without the provider's count: tokens are estimated there`, "dim")]
      : []),
    table(
      ["tokens of prompts", "", ""],
      [
        ...rows.map(([name, count]) => [name, short(count), percent(count, tokens)]),
        ["all", short(tokens), ""],
        ...(output_tokens > 0 ? [["and of answers", short(output_tokens), ""]] : []),
      ],
      paint,
      [1, 2],
    ),
  ].join("\n");
}

/** What sessions of contextweaver counted while they ran: the other figures are those of a replay. */
function accounts({ sessions: all }: AuditReport): string {
  const told = all.flatMap(({ account }) => account ?? []);
  if (told.length === 0) return "";
  const sum = (key: keyof SessionAccount): number => told.reduce((total, account) => total + account[key], 0);
  const share = sum("cost_without") === 0 ? 1 : sum("cost") / sum("cost_without");
  return `Counted while ${told.length === 1 ? "it" : `${told.length} of them`} ran with contextweaver: ${counted(sum("steps"), "call")}, ${short(sum("tokens"))} tokens in place of ${short(sum("tokens_without"))} (${changed(share)}); as recorded is the whole conversation`;
}

function sessions({ sessions: all, budgets }: AuditReport, paint: Paint): string {
  if (all.length < 2) return "";
  const middle = budgets[Math.floor(budgets.length / 2)];
  const ours = (strategies: readonly StrategySums[]): string => {
    const found = strategies.find(({ name, budget }) => name === "contextweaver" && budget === middle);
    return found ? changed(found.share) : "";
  };
  const rows = all
    .slice(0, MAX_SESSIONS)
    .map((one) => [
      shortId(one.session),
      cell(one.parent === undefined ? one.agent : `${one.agent} ↳`, 14),
      cell(one.task, 22),
      String(one.calls),
      short(one.tokens),
      percent(one.repeated_tokens, one.tokens),
      percent(one.rewritten_tokens, one.tokens),
      dollars(one.usd),
      ours(one.strategies),
    ]);
  const rest = all.length - rows.length;
  const head = [
    "session",
    "agent",
    "task",
    "calls",
    "tokens",
    "cached",
    "again",
    "paid",
    middle === undefined ? "" : `at ${short(middle).replace(/\.0+k$/, "k")}`,
  ];
  return `${paint("Conversations, the dearest first", "bold")}\n${table(head, rows, paint, [3, 4, 5, 6, 7, 8])}${rest > 0 ? `\n${paint(`and ${rest} more (--json lists all)`, "dim")}` : ""}`;
}

function breaks({ total, breaks: dearest }: AuditReport, paint: Paint): string {
  const reasons = Object.entries(total.breaks).sort((a, b) => b[1].cost - a[1].cost);
  if (reasons.length === 0) return "";
  const rows = reasons.map(([why, { calls, tokens, usd }]) => [
    BREAKS[why as BreakReason],
    String(calls),
    short(tokens),
    dollars(usd),
  ]);
  const [first] = dearest;
  const told =
    first && first.tokens > 0
      ? `\n${paint(`the dearest: call ${first.call} of ${shortId(first.session)}${first.at === undefined ? "" : `, ${first.at.slice(0, 16).replace("T", " ")}`}: ${short(first.tokens)} tokens`, "dim")}`
      : "";
  return `${paint("Calls that lost the cache", "bold")}\n${table(["why", "calls", "paid again", "lost"], rows, paint, [1, 2, 3])}${told}`;
}

function strategies({ total, budgets }: AuditReport, paint: Paint): string {
  if (total.strategies.length === 0) return "";
  const names = [...new Set(total.strategies.map(({ name }) => name))];
  const find = (name: string, budget: number | undefined): StrategySums | undefined =>
    total.strategies.find((one) => one.name === name && one.budget === budget);
  const figure = (one: StrategySums | undefined): string => {
    if (!one) return "";
    return [
      changed(one.share),
      ...(one.usd === undefined ? [] : [dollars(one.usd)]),
      ...(total.copied > 0 ? [percent(one.shown, total.copied)] : []),
    ].join("  ");
  };
  const rows = names.map((name) => {
    const whole = find(name, undefined);
    return [
      STRATEGIES[name],
      ...budgets.map((budget, at) => figure(whole ? (at === 0 ? whole : undefined) : find(name, budget))),
    ];
  });
  const over = total.strategies.filter((one) => one.name === "contextweaver" && (one.over ?? 0) > 0);
  const notes = over.map(
    ({ budget, over: calls = 0 }) =>
      `${counted(calls, "call")} as recorded at ${(budget ?? 0).toLocaleString("en")}: instructions and tools alone take more than half of it`,
  );
  return [
    paint(sameCalls(total.usd), "bold"),
    table(
      ["with at most so many tokens", ...budgets.map((budget) => budget.toLocaleString("en"))],
      rows,
      paint,
      budgets.map((_, at) => at + 1),
    ),
    ...(total.copied > 0
      ? [paint("change, price, and how much of what later steps copied from results was still in the prompt", "dim")]
      : []),
    ...notes.map((note) => paint(note, "dim")),
  ].join("\n");
}

function results({ results: dearest, total }: AuditReport, paint: Paint): string {
  if (dearest.length === 0) return "";
  const { count, used_lines, lines, unused, idle_cost, idle_usd, cost, usd } = total.results;
  const rows = dearest.map((one) => [
    cell(`${one.tool} ${one.arguments}`, 42),
    short(one.tokens),
    String(one.calls),
    dollars(one.usd),
    `${one.used_lines} of ${one.lines}`,
    String(one.idle_calls),
  ]);
  return [
    paint(
      `${counted(count, "result")} of tools: ${dollars(usd)}, ${percent(idle_cost, cost)} of it (${dollars(idle_usd)}) after their last use`,
      "bold",
    ),
    `Later calls and answers copied from ${percent(used_lines, lines)} of their lines; nothing from ${counted(unused, "result")}.`,
    table(["the dearest", "tokens", "sent in", "paid", "lines used", "idle calls"], rows, paint, [1, 2, 3, 4, 5]),
  ].join("\n");
}

function repeats({ repeats: all, total }: AuditReport, paint: Paint): string {
  if (all.length === 0) return "";
  const rows = all
    .slice(0, MAX_REPEATS)
    .map((one) => [
      cell(`${one.tool} ${one.arguments}`, 54),
      String(one.times),
      String(one.unchanged),
      short(one.tokens),
    ]);
  return `${paint(`Read more than once: ${counted(total.results.repeats, "time")}, ${short(total.results.repeat_tokens)} tokens`, "bold")}\n${table(["what", "times", "unchanged", "tokens again"], rows, paint, [1, 2, 3])}`;
}

function forecast({ total }: AuditReport, paint: Paint): string {
  const { forecast: told } = total as AuditSums;
  if (!told) return "";
  const error = (value: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)} %`;
  const rows = [
    [
      "read from the cache",
      short(told.cached_tokens),
      short(told.recorded_cached_tokens),
      error(told.cached_error_percent),
    ],
    [
      "not from the cache",
      short(told.uncached_tokens),
      short(told.recorded_uncached_tokens),
      error(told.uncached_error_percent),
    ],
  ];
  const missed =
    told.missed_calls > 0
      ? `\n${paint(`${counted(told.missed_calls, "call")} found less than half of what was expected, for no reason that the log says: ${short(told.missed_tokens)} tokens`, "dim")}`
      : "";
  return `${paint(`Forecast beside the provider's count, ${counted(told.calls, "call")}`, "bold")}\n${table(["tokens", "forecast", "recorded", "of the prompts"], rows, paint, [1, 2, 3])}${missed}`;
}

function problems({ problems: all, problem_count: count }: AuditReport, paint: Paint): string {
  if (count === 0) return "";
  const lines = all
    .slice(0, MAX_PROBLEMS)
    .map(
      ({ file, line, reason }) =>
        `  ${safe(`${file}${line === undefined ? "" : `:${line}`}: ${reason}`).replaceAll("\n", " ")}`,
    );
  const rest = count - lines.length;
  return [paint("Not read", "yellow"), ...lines, ...(rest > 0 ? [paint(`  and ${rest} more`, "dim")] : [])].join("\n");
}
