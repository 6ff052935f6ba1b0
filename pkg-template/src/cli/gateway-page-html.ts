// The page of `contextweaver gateway --page`: one file without anything from elsewhere. All text is put in as text.

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --line: #d9dee5; --ground: #f6f7f9; --card: #fff; --accent: #1f6f5c; --warn: #8a5300; --bad: #a3262a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaee; --soft: #9aa5b1; --line: #323a44; --ground: #14181d; --card: #1b2027; --accent: #6cc7ae; --warn: #e2b062; --bad: #f08b8e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 1120px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 24px; display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline; }
h1 { font-size: 22px; margin: 0; } h2 { font-size: 16px; margin: 0 0 10px; }
#state { color: var(--soft); }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(165px, 1fr)); gap: 12px; margin: 18px 0; padding: 0; list-style: none; }
.numbers li, section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; }
.numbers b { display: block; font-size: 24px; font-weight: 650; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; } .numbers span { color: var(--soft); font-size: 13px; }
.saved b { color: var(--accent); }
section { margin: 0 0 14px; } section > div { overflow-x: auto; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 14px; } .two section { margin: 0; } .two { margin-bottom: 14px; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: 6px 14px 6px 0; border-top: 1px solid var(--line); vertical-align: top; } th { color: var(--soft); font-weight: 500; font-size: 13px; border-top: 0; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } td.t { overflow-wrap: anywhere; min-width: 12ch; }
.none { color: var(--soft); margin: 0; } .ready { color: var(--accent); } .warning, .connecting { color: var(--warn); } .error, .unavailable { color: var(--bad); }
select { max-width: 100%; } button, select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--soft); border-radius: 7px; padding: 4px 12px; } button { cursor: pointer; } button:focus-visible, select:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
label { color: var(--soft); font-size: 13px; } ol { margin: 0; padding: 0; list-style: none; max-height: 320px; overflow: auto; font: 13px/1.55 ui-monospace, monospace; } ol li { overflow-wrap: anywhere; } ol time { color: var(--soft); margin-right: 10px; }
@media (max-width: 560px) { header, main { padding-left: 12px; padding-right: 12px; } .numbers { grid-template-columns: repeat(2, minmax(0, 1fr)); } .numbers b { font-size: 20px; } }
`;

const SCRIPT = `
const $ = (id) => document.getElementById(id);
const whole = (n) => Number(n).toLocaleString("en");
const many = (n, of) => whole(n) + " " + of + (n === 1 ? "" : "s");
const put = (tag, text, name) => { const made = document.createElement(tag); if (text !== undefined) made.textContent = text; if (name) made.className = name; return made; };
const pick = $("model");
let data;
function table(id, heads, rows, none) {
  const place = $(id);
  if (rows.length === 0) return place.replaceChildren(put("p", none, "none"));
  const all = put("table"), head = put("tr");
  for (const [text, kind] of heads) { const cell = put("th", text, kind); cell.scope = "col"; head.append(cell); }
  all.append(put("thead")); all.tHead.append(head);
  const body = all.createTBody();
  for (const cells of rows) {
    const row = body.insertRow();
    cells.forEach((cell, at) => {
      const made = row.insertCell();
      made.className = heads[at][1] ?? "";
      if (cell instanceof Node) made.append(cell); else made.textContent = cell;
    });
  }
  place.replaceChildren(all);
}
function money() {
  const price = data.prices.find(({ model }) => model === pick.value);
  const dollars = (data.stats.totals.saved_tokens * (price?.input ?? 0)) / 1e6;
  $("money").textContent = "$" + (dollars >= 100 ? dollars.toFixed(0) : dollars >= 0.01 || dollars === 0 ? dollars.toFixed(2) : dollars.toPrecision(2));
}
async function accept(button, server, tool) {
  button.disabled = true;
  const response = await fetch("accept", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ server, tool }) });
  if (!response.ok) { $("said").textContent = (await response.json().catch(() => ({}))).message ?? "it was not accepted"; button.disabled = false; return; }
  $("said").textContent = tool + " of " + server + " is listed and called from now on.";
  await load();
}
function show() {
  const { stats, quarantine, lines, prices } = data;
  const { totals } = stats;
  if (pick.options.length === 0) for (const { model } of prices) pick.add(new Option(model, model));
  $("state").textContent = stats.mode + " mode, " + many(stats.servers.length, "server") + ", " + many(stats.clients, "client");
  const listed = stats.servers.reduce((sum, { tokens }) => sum + tokens, 0);
  const numbers = { saved: totals.saved_tokens, came: totals.tokens, calls: totals.calls, front: stats.front_tokens, listed, open: stats.open_calls };
  for (const [id, value] of Object.entries(numbers)) $(id).textContent = whole(value);
  money();
  const status = ({ status, detail }) => put("span", detail === undefined ? status : status + ": " + detail, status);
  table("servers", [["Server"], ["Status", "t"], ["Tools", "n"], ["Tokens", "n"], ["Resources", "n"], ["Prompts", "n"]], stats.servers.map((one) => [one.name, status(one), whole(one.tools), whole(one.tokens), whole(one.resources), whole(one.prompts)]), "No servers.");
  const held = quarantine.map(({ server, tool, reasons }) => {
    const button = put("button", "Accept");
    button.setAttribute("aria-label", "Accept " + tool + " of " + server);
    button.onclick = () => accept(button, server, tool);
    return [server, tool, reasons.join("; "), button];
  });
  table("quarantine", [["Server"], ["Tool", "t"], ["Why", "t"], ["Action"]], held, "No tool is in quarantine.");
  table("tools", [["Tool", "t"], ["Calls", "n"], ["Tokens", "n"], ["Saved", "n"], ["Errors", "n"]], stats.tools.slice(0, 20).map((one) => [one.server + "/" + one.tool, whole(one.calls), whole(one.tokens), whole(one.saved_tokens), whole(one.errors + one.failures)]), "Nothing was called yet.");
  table("largest", [["Tool", "t"], ["Tokens", "n"], ["When", "n"]], stats.largest.map(({ server, tool, tokens, at_ms }) => [server + "/" + tool, whole(tokens), new Date(at_ms).toLocaleTimeString()]), "No results yet.");
  table("refused", [["Code"], ["Reason", "t"], ["Times", "n"]], stats.refusals.map(({ error, reason, count }) => [error, reason, whole(count)]), "Nothing was refused.");
  const said = (one) => one.hidden ? "hidden" : [one.shown_as !== one.tool ? "shown as " + one.shown_as : "", one.defaults.length ? one.defaults.join(", ") + " by default" : "", one.fixed.length ? one.fixed.join(", ") + " fixed" : ""].filter(Boolean).join("; ");
  table("overrides", [["Tool", "t"], ["Override", "t"], ["Its server says", "t"], ["Breaks", "t"]], stats.overrides.map((one) => [one.server + "/" + one.tool, said(one), one.description ?? "", one.problems.map(({ message }) => message).join("; ")]), "No tool is overridden.");
  const log = $("log"), atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 30;
  log.replaceChildren(...lines.map(({ at, level, text }) => { const line = put("li", undefined, level); line.append(put("time", new Date(at).toLocaleTimeString()), text); return line; }));
  if (atEnd) log.scrollTop = log.scrollHeight;
}
async function load() {
  try {
    const response = await fetch("data");
    if (!response.ok) throw new Error(String(response.status));
    data = await response.json();
    $("lost").hidden = true;
    show();
  } catch { $("lost").hidden = false; }
}
pick.onchange = money;
await load();
setInterval(load, 2000);
`;

const BODY = `
<header><h1>contextweaver gateway</h1><span id="state"></span></header>
<main>
<p id="lost" class="error" role="alert" hidden>The gateway does not answer. It may have been stopped.</p>
<ul class="numbers">
<li class="saved"><b id="saved">0</b><span>tokens of results saved</span></li>
<li class="saved"><b id="money">$0.00</b><label for="model">at least, as input of <select id="model"></select></label></li>
<li><b id="came">0</b><span>tokens came from servers</span></li>
<li><b id="calls">0</b><span>calls answered by servers; <span id="open">0</span> open</span></li>
<li><b id="front">0</b><span>tokens of the list that clients see, of <span id="listed">0</span></span></li>
</ul>
<section><h2>Servers</h2><div id="servers"></div></section>
<section><h2>Quarantine</h2><div id="quarantine"></div><p id="said" class="none" role="status"></p></section>
<section><h2>Tools by tokens saved</h2><div id="tools"></div></section>
<div class="two"><section><h2>Largest results</h2><div id="largest"></div></section><section><h2>Refused</h2><div id="refused"></div></section></div>
<section><h2>Overrides</h2><div id="overrides"></div></section>
<section><h2>Log</h2><ol id="log" tabindex="0" aria-label="Log"></ol></section>
</main>
`;

/** The page, with what a browser may do for it: its style and its script, which have the number `nonce`. */
export function gatewayPage(nonce: string): { readonly html: string; readonly policy: string } {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>contextweaver gateway</title><link rel="icon" href="data:,"><style nonce="${nonce}">${STYLE}</style>`;
  return {
    html: `<!doctype html>\n<html lang="en"><head>${head}</head><body>${BODY}<script type="module" nonce="${nonce}">${SCRIPT}</script></body></html>\n`,
    policy: `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}
