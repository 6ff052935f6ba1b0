// An audit as one HTML file, which asks for nothing and runs nothing.
import { safe } from "../cli/print.js";
import type { AuditReport, BreakReason, StrategySums } from "./types.js";
import { BREAKS, STRATEGIES, changed, counted, dollars, percent, sameCalls, short, shortId } from "./words.js";

/** Conversations that are listed. */
const MAX_SESSIONS = 500;

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --new: #3b7dd8; --old: #2e9e6b; --again: #d9702b; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 500; opacity: .7; } td.n, th.n { text-align: right; white-space: nowrap; }
.bar { display: flex; height: 1rem; border-radius: .25rem; overflow: hidden; min-width: 6rem; background: var(--line); }
.bar > i { display: block; } .new { background: var(--new); } .old { background: var(--old); } .again { background: var(--again); }
.key > span { margin-right: 1.5rem; } .key i { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; margin-right: .4rem; }
code { font: .9em ui-monospace, monospace; } .dim { opacity: .7; }
@media (max-width: 40rem) { table { display: block; overflow-x: auto; } }
`;

/** Writes a report. */
export function auditHtml(report: AuditReport): string {
  const { total, files, bytes } = report;
  const title = `${counted(total.conversations, "conversation")}, ${dollars(total.usd)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Audit: ${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title} at list prices</h1>
<p>${counted(total.calls, "call")} of models in ${counted(files, "file")} (${short(bytes)} bytes), ${short(total.tokens)} tokens of prompts${total.output_tokens > 0 ? ` and ${short(total.output_tokens)} of answers` : ""}.${total.unpriced_calls > 0 ? ` ${counted(total.unpriced_calls, "call")} are of models without a price.` : ""}</p>
${bar(total)}
<p class="key"><span><i class="new"></i>new: ${short(total.new_tokens)}</span><span><i class="old"></i>read from the cache: ${short(total.repeated_tokens)}</span><span><i class="again"></i>sent before, paid again: ${short(total.rewritten_tokens)}</span></p>
${[strategies(report), breaks(report), results(report), repeats(report), forecast(report), models(report), sessions(report), problems(report)].filter((part) => part !== "").join("\n")}
</body>
</html>
`;
}

function escaped(text: string): string {
  return safe(text).replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}

/** A cell: texts are escaped, numbers stand right, and what is made here is an object. */
type Cell = string | { readonly number: string } | { readonly html: string };
const n = (number: string): Cell => ({ number });

function table(title: string, head: readonly Cell[], rows: readonly (readonly Cell[])[], note = ""): string {
  const cellOf =
    (tag: "td" | "th") =>
    (cell: Cell): string => {
      if (typeof cell === "string") return `<${tag}>${escaped(cell)}</${tag}>`;
      return "number" in cell ? `<${tag} class="n">${escaped(cell.number)}</${tag}>` : `<${tag}>${cell.html}</${tag}>`;
    };
  const row = (cells: readonly Cell[], tag: "td" | "th"): string => `<tr>${cells.map(cellOf(tag)).join("")}</tr>`;
  return `<h2>${escaped(title)}</h2>\n${note === "" ? "" : `<p>${escaped(note)}</p>\n`}<table>\n${row(head, "th")}\n${rows.map((cells) => row(cells, "td")).join("\n")}\n</table>`;
}

function bar({
  tokens,
  new_tokens,
  repeated_tokens,
  rewritten_tokens,
}: {
  readonly tokens: number;
  readonly new_tokens: number;
  readonly repeated_tokens: number;
  readonly rewritten_tokens: number;
}): string {
  const part = (name: string, count: number): string =>
    `<i class="${name}" style="width:${tokens === 0 ? 0 : ((100 * count) / tokens).toFixed(2)}%"></i>`;
  return `<div class="bar">${part("new", new_tokens)}${part("old", repeated_tokens)}${part("again", rewritten_tokens)}</div>`;
}

function strategies({ total, budgets }: AuditReport): string {
  if (total.strategies.length === 0) return "";
  const names = [...new Set(total.strategies.map(({ name }) => name))];
  const figure = (one: StrategySums | undefined): Cell =>
    n(
      one
        ? [
            changed(one.share),
            ...(one.usd === undefined ? [] : [dollars(one.usd)]),
            ...(total.copied > 0 ? [percent(one.shown, total.copied)] : []),
          ].join(" · ")
        : "",
    );
  const rows = names.map((name): Cell[] => {
    const own = total.strategies.filter((one) => one.name === name);
    return [
      STRATEGIES[name],
      ...budgets.map((budget, at) =>
        figure(
          own.find((one) => one.budget === budget) ??
            (at === 0 ? own.find((one) => one.budget === undefined) : undefined),
        ),
      ),
    ];
  });
  return table(
    sameCalls(total.usd),
    ["with at most so many tokens", ...budgets.map((budget) => n(budget.toLocaleString("en")))],
    rows,
    "Change, price, and how much of what later steps copied from results was still in the prompt.",
  );
}

function sessions({ sessions: all }: AuditReport): string {
  const rows = all
    .slice(0, MAX_SESSIONS)
    .map((one): Cell[] => [
      { html: `<code>${escaped(shortId(one.session))}</code>` },
      one.parent === undefined ? one.agent : `${one.agent}, subagent`,
      one.task,
      (one.first ?? "").slice(0, 16).replace("T", " "),
      n(String(one.calls)),
      n(short(one.tokens)),
      { html: bar(one) },
      n(dollars(one.usd)),
    ]);
  return table(
    "Conversations, the dearest first",
    ["session", "agent", "task", "begun", n("calls"), n("tokens"), "", n("paid")],
    rows,
    all.length > rows.length ? `The first ${rows.length} of ${all.length}; --json lists all.` : "",
  );
}

function models({ models: all }: AuditReport): string {
  const rows = all.map(({ model, calls, tokens, usd, price }): Cell[] => [
    model,
    n(calls.toLocaleString("en")),
    n(short(tokens)),
    n(dollars(usd)),
    n(price ? `${price.input} · ${price.cached} · ${price.output}` : "not known"),
    price ? `${price.source}, ${price.as_of}` : "",
  ]);
  return table(
    "Models",
    ["model", n("calls"), n("tokens"), n("paid"), n("$ per million: input · cached · output"), "source"],
    rows,
  );
}

function breaks({ total, breaks: dearest }: AuditReport): string {
  const reasons = Object.entries(total.breaks).sort((a, b) => b[1].cost - a[1].cost);
  if (reasons.length === 0) return "";
  const rows = reasons.map(([why, { calls, tokens, usd }]): Cell[] => [
    BREAKS[why as BreakReason],
    n(String(calls)),
    n(short(tokens)),
    n(dollars(usd)),
  ]);
  const calls = dearest.map(({ session, call, at, why, tokens, usd }): Cell[] => [
    shortId(session),
    n(String(call)),
    (at ?? "").slice(0, 16).replace("T", " "),
    BREAKS[why],
    n(short(tokens)),
    n(dollars(usd)),
  ]);
  return `${table("Calls that lost the cache", ["why", n("calls"), n("tokens paid again"), n("lost")], rows)}\n${table("The dearest of them", ["session", n("call"), "when", "why", n("tokens paid again"), n("lost")], calls)}`;
}

function results({ results: dearest, total }: AuditReport): string {
  if (dearest.length === 0) return "";
  const { count, used_lines, lines, unused, idle_cost, idle_usd, cost, usd } = total.results;
  const rows = dearest.map((one): Cell[] => [
    { html: `<code>${escaped(`${one.tool} ${one.arguments}`)}</code>` },
    shortId(one.session),
    n(short(one.tokens)),
    n(String(one.calls)),
    n(dollars(one.usd)),
    n(`${one.used_lines} of ${one.lines}`),
    n(String(one.idle_calls)),
  ]);
  const note = `${counted(count, "result")}: ${dollars(usd)}, ${percent(idle_cost, cost)} of it (${dollars(idle_usd)}) in calls after the one that used them last. Later calls and answers copied from ${percent(used_lines, lines)} of their lines, and nothing from ${counted(unused, "result")}.`;
  return table(
    "The dearest results of tools",
    ["result", "session", n("tokens"), n("sent in calls"), n("paid"), n("lines used"), n("idle calls")],
    rows,
    note,
  );
}

function repeats({ repeats: all, total }: AuditReport): string {
  if (all.length === 0) return "";
  const rows = all.map((one): Cell[] => [
    { html: `<code>${escaped(`${one.tool} ${one.arguments}`)}</code>` },
    shortId(one.session),
    n(String(one.times)),
    n(String(one.unchanged)),
    n(short(one.tokens)),
  ]);
  return table(
    `Read more than once: ${counted(total.results.repeats, "time")}, ${short(total.results.repeat_tokens)} tokens`,
    ["what", "session", n("times"), n("unchanged"), n("tokens again")],
    rows,
  );
}

function forecast({ total: { forecast: told } }: AuditReport): string {
  if (!told) return "";
  const rows: Cell[][] = [
    [
      "read from the cache",
      n(short(told.cached_tokens)),
      n(short(told.recorded_cached_tokens)),
      n(`${told.cached_error_percent.toFixed(1)} %`),
    ],
    [
      "not from the cache",
      n(short(told.uncached_tokens)),
      n(short(told.recorded_uncached_tokens)),
      n(`${told.uncached_error_percent.toFixed(1)} %`),
    ],
  ];
  const note =
    told.missed_calls > 0
      ? `${counted(told.missed_calls, "call")} found less than half of what was expected, for no reason that the log says: ${short(told.missed_tokens)} tokens.`
      : "";
  return table(
    `Forecast beside the provider's count, ${counted(told.calls, "call")}`,
    ["tokens", n("forecast"), n("recorded"), n("error, of the prompts")],
    rows,
    note,
  );
}

function problems({ problems: all, problem_count: count }: AuditReport): string {
  if (count === 0) return "";
  return table(
    `Not read: ${count}`,
    ["file", n("line"), "reason"],
    all.map(({ file, line, reason }): Cell[] => [file, n(line === undefined ? "" : String(line)), reason]),
  );
}
