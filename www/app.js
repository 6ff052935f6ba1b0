// The page: a session, a phase, a query and a budget go in; the prompt and the fate of every item come out.
// Text of a session enters the document through textContent alone, after sanitizeText; nothing leaves the page.

const PHASES = {
  route: {
    budget: 2000,
    caption: "Choose the next tool: turns, plans and policies are enough for that, calls and results stay out.",
  },
  call: {
    budget: 3000,
    caption: "Fill in the arguments of the chosen tool: calls made so far are shown, their results only as stubs.",
  },
  interpret: {
    budget: 4000,
    caption: "Understand what a tool returned: results enter, large ones as the excerpts that matter.",
  },
  answer: {
    budget: 6000,
    caption: "Answer the user: everything may enter, and the budget decides.",
  },
};
const KINDS = [
  "policy",
  "memory_fact",
  "plan_state",
  "user_turn",
  "agent_msg",
  "tool_call",
  "tool_result",
  "retrieved_doc",
  "doc_snippet",
];
const OVERHEAD = "header and footer";
/** Text of these labels stays out of the list as it stays out of the prompt. */
const WITHHELD = ["confidential", "restricted"];

const MAX_BUDGET = 2 ** 24;
const SLIDER_FROM = 50;
const SLIDER_STEPS = 200;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_PROBLEMS = 10;
const MAX_QUERY = 2000;
const ROWS = 300;
const PROMPT_CHARS = 100_000;
const PREVIEW_CHARS = 110;

const element = (id) => document.getElementById(id);
const format = (number) => number.toLocaleString("en");

let cw;
let session;
let pack;
let phase = "answer";
/** Query and budget of each phase. */
let settings = defaults({});
let shownRows = ROWS;
let wholePrompt = false;
let sliderTo = 8000;

function defaults(queries) {
  return Object.fromEntries(
    Object.entries(PHASES).map(([name, { budget }]) => [name, { query: queries[name] ?? "", budget }]),
  );
}

// ---- Sessions

/** What is wrong with a session, one line per problem. */
class SessionError extends Error {}

/** Items with the numbers of their lines. */
function parseLines(text) {
  const lines = [];
  const problems = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      lines.push({ number: index + 1, value: JSON.parse(line) });
    } catch {
      // Not the browser's own sentence: it quotes the line, which may hold a secret.
      problems.push(`line ${index + 1}: not valid JSON`);
    }
  }
  const rest = problems.length - MAX_PROBLEMS;
  if (rest > 0) problems.splice(MAX_PROBLEMS, rest, `and ${format(rest)} more lines`);
  if (problems.length > 0) throw new SessionError(problems.join("\n"));
  if (lines.length === 0) throw new SessionError("there is no item in it");
  return lines;
}

function ingest(manager, lines) {
  try {
    manager.ingestAll(lines.map(({ value }) => value));
  } catch (error) {
    if (!cw.ContextWeaverError.is(error)) throw error;
    // The engine knows the index of an item; people know lines.
    const [, index, rest] = /^\/items\/(\d+)(.*)$/s.exec(error.path ?? "") ?? [];
    const place = index === undefined ? "" : `line ${lines[Number(index)].number}${rest && ` at ${rest}`}: `;
    throw new SessionError(`${place}${explain(error)}`);
  }
}

const explain = (error) => `${error.message}${error.hint ? ` (${error.hint})` : ""} [${error.code}]`;

/** Replaces the session, or says what is wrong with the new one and keeps the old. */
function load(name, text, queries = {}) {
  const manager = new cw.ContextManager();
  let tokens;
  try {
    ingest(manager, parseLines(text));
    tokens = manager.build({ phase: "answer", budget_tokens: MAX_BUDGET }).stats.prompt_tokens;
  } catch (error) {
    manager.free();
    throw error;
  }
  session?.manager.free();
  const items = manager.events.list();
  session = { manager, items, previews: new Map() };
  settings = defaults(queries);
  sliderTo = Math.max(8000, Math.ceil(tokens / 1000) * 1000);
  shownRows = ROWS;
  wholePrompt = false;
  const count = `${format(items.length)} ${items.length === 1 ? "item" : "items"}`;
  const line = `${name}: ${count}; without a limit the prompt would have ${format(tokens)} tokens.`;
  element("session").textContent = safe(line);
}

/** Runs what loads a session, then shows it; problems go to their place. */
async function attempt(name, loading) {
  const problems = element("problems");
  problems.hidden = true;
  problems.textContent = "";
  try {
    await loading();
  } catch (error) {
    problems.textContent = safe(`${name} was not loaded.\n${error.message}`);
    problems.hidden = false;
    return;
  }
  showControls();
  render();
  writeAddress();
}

async function loadSample() {
  const [text, meta] = await Promise.all([fetchText("shop.jsonl"), fetchText("shop.meta.json")]);
  const { queries } = JSON.parse(meta);
  const ofPhases = Object.keys(PHASES).map((name) => [name, queries[name].query]);
  load("Recorded session shop.jsonl", text, Object.fromEntries(ofPhases));
}

async function fetchText(name) {
  const response = await fetch(`./pkg/demo/${name}`);
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response.text();
}

async function loadFile(file) {
  if (file.size > MAX_FILE_BYTES) throw new SessionError(`it has more than ${format(MAX_FILE_BYTES)} bytes`);
  const bytes = await file.arrayBuffer();
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new SessionError("it is not UTF-8 text");
  }
  load(file.name, text);
}

// ---- Text

/** Text that shows what it is made of. */
const safe = (text) => cw.sanitizeText(text);

/** The first characters, never half of a surrogate pair. */
function head(text, chars) {
  if (text.length <= chars) return text;
  const half = /[\ud800-\udbff]/.test(text[chars - 1]);
  return text.slice(0, half ? chars - 1 : chars);
}

/** One line of an item; the same rules as for the prompt hold: no secrets, nothing above the floor. */
function preview(item, sensitivity) {
  if (WITHHELD.includes(sensitivity)) return `text withheld: ${sensitivity}`;
  if (!session.previews.has(item.id)) {
    // Masked before it is cut: half a secret is no longer recognised.
    const line = safe(cw.redactSecrets(item.text)).replace(/\s+/g, " ");
    session.previews.set(item.id, line.length > PREVIEW_CHARS ? `${head(line, PREVIEW_CHARS)}…` : line);
  }
  return session.previews.get(item.id);
}

/** An element with text; nothing else ever becomes part of the document. */
function make(tag, className, text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}

// ---- Results

function render() {
  if (!session) return;
  const { query, budget } = settings[phase];
  const failure = element("failure");
  pack = undefined;
  try {
    pack = session.manager.build({ phase, query, budget_tokens: budget, explain: true });
  } catch (error) {
    failure.textContent = safe(cw.ContextWeaverError.is(error) ? explain(error) : String(error));
  }
  failure.hidden = pack !== undefined;
  element("results").hidden = pack === undefined;
  if (!pack) return;
  const { stats, warnings = [] } = pack;
  element("numbers").textContent =
    `${format(stats.prompt_tokens)} of ${format(stats.budget_tokens)} tokens; ` +
    `${format(stats.included_count)} of ${format(session.items.length)} items in the prompt.`;
  element("warnings").replaceChildren(...warnings.map((warning) => make("li", "", safe(warning))));
  element("warnings").hidden = warnings.length === 0;
  renderBar(stats);
  renderItems();
  renderPrompt();
}

function renderBar(stats) {
  const parts = KINDS.map((kind) => ({ name: kind, tokens: stats.tokens_per_section[kind] ?? 0 }));
  parts.push({ name: OVERHEAD, tokens: stats.header_footer_tokens });
  const used = parts.filter(({ tokens }) => tokens > 0);
  const free = Math.max(0, stats.budget_tokens - stats.prompt_tokens);
  const total = Math.max(stats.budget_tokens, 1);
  const bar = element("bar");
  bar.replaceChildren();
  let from = 0;
  for (const { name, tokens } of used) {
    const rect = document.createElementNS(bar.namespaceURI, "rect");
    const width = (tokens / total) * 1000;
    const set = { x: from, y: 0, width: Math.max(width - 2, 1), height: 10, class: swatch(name) };
    for (const [key, value] of Object.entries(set)) rect.setAttribute(key, value);
    bar.append(rect);
    from += width;
  }
  const shares = [...used, { name: "free", tokens: free }].map(({ name, tokens }) => ({
    name,
    text: `${name} ${format(tokens)} (${Math.round((tokens / total) * 100)} %)`,
  }));
  bar.setAttribute("aria-label", `Budget of ${format(total)} tokens: ${shares.map(({ text }) => text).join(", ")}`);
  const legend = shares.map(({ name, text }) => {
    const entry = make("li", "", text);
    entry.prepend(make("span", `swatch ${swatch(name)}`));
    return entry;
  });
  element("legend").replaceChildren(...legend);
}

/** The class of a kind's colour. */
const swatch = (name) => `kind-${name.replaceAll(" ", "_")}`;

function renderItems() {
  const fates = new Map(pack.explanation.candidates.map((candidate) => [candidate.item_id, candidate]));
  const forms = new Map(pack.items.map((item) => [item.id, item]));
  const shown = session.items.slice(0, shownRows);
  element("rows").replaceChildren(...shown.map((item) => row(item, fates.get(item.id), forms.get(item.id))));
  const left = session.items.length - shown.length;
  const more = element("more-items");
  more.hidden = left === 0;
  more.textContent = `Show ${format(Math.min(ROWS, left))} more of ${format(left)} items`;
}

function row(item, fate, form) {
  const line = make("tr", fate?.included ? "" : "out");
  line.setAttribute("role", "row");
  const name = cell(line, "item");
  name.append(make("b", "", safe(item.id)), " ", make("span", `kind ${swatch(item.kind)}`, item.kind));
  name.append(make("span", "preview", preview(item, fate?.sensitivity ?? item.sensitivity)));
  const state = !fate?.included ? "dropped" : fate.rendered_as === "whole" ? "kept" : fate.rendered_as;
  cell(line, "state").append(make("span", `badge ${state}`, state));
  cell(line, "stage", fate?.stage ?? "candidates");
  cell(line, "reason", safe(reason(fate, form)));
  cell(line, "number tokens", fate ? format(fate.tokens) : "");
  cell(line, "number score", fate?.score == null ? "" : fate.score.toFixed(2));
  return line;
}

function cell(line, className, text = "") {
  const made = make("td", className, text);
  made.setAttribute("role", "cell");
  line.append(made);
  return made;
}

function reason(fate, form) {
  // Not even a candidate: the phase does not admit its kind.
  if (!fate) return "phase";
  if (!fate.included) return fate.drop_reason;
  if (fate.pinned) return `pinned: ${fate.pinned}`;
  if (form?.omitted_chars) return `${format(form.omitted_chars)} characters left out`;
  return fate.dependency_closure ? "needed by another item" : "";
}

function renderPrompt() {
  const { prompt } = pack;
  const shown = wholePrompt ? prompt : head(prompt, PROMPT_CHARS);
  element("prompt").textContent = shown === "" ? "(empty)" : safe(shown);
  const more = element("more-prompt");
  more.hidden = shown.length === prompt.length;
  more.textContent = `Show the other ${format(prompt.length - shown.length)} characters`;
}

// ---- Controls and the address

let waiting;
let cost = 0;

/** Renders soon; where that takes long, less often than the slider moves. */
function changed() {
  waiting ??= setTimeout(() => {
    waiting = undefined;
    const start = performance.now();
    render();
    cost = performance.now() - start;
  }, cost < 100 ? 0 : Math.min(cost, 300));
  writeAddress();
}

let writing;

/** Browsers limit how often a page may change its address. */
function writeAddress() {
  clearTimeout(writing);
  writing = setTimeout(() => {
    const { query, budget } = settings[phase];
    history.replaceState(null, "", `#${new URLSearchParams({ phase, query, budget })}`);
  }, 300);
}

/** Takes over what the address says, as far as it makes sense. */
function readAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  if (!Object.hasOwn(PHASES, address.get("phase"))) return;
  phase = address.get("phase");
  const budget = Number(address.get("budget"));
  if (isBudget(budget)) settings[phase].budget = budget;
  if (address.has("query")) settings[phase].query = head(address.get("query").toWellFormed(), MAX_QUERY);
}

const isBudget = (budget) => Number.isInteger(budget) && budget >= 1 && budget <= MAX_BUDGET;

/** The slider is logarithmic: a hundred tokens matter to a small budget, not to a large one. */
const budgetAt = (position) => Math.round(SLIDER_FROM * (sliderTo / SLIDER_FROM) ** (position / SLIDER_STEPS));
const positionOf = (budget) => (Math.log(budget / SLIDER_FROM) / Math.log(sliderTo / SLIDER_FROM)) * SLIDER_STEPS;

function showControls() {
  for (const tab of element("tabs").children) {
    const selected = tab.id === `tab-${phase}`;
    tab.setAttribute("aria-selected", selected);
    tab.tabIndex = selected ? 0 : -1;
  }
  element("panel").setAttribute("aria-labelledby", `tab-${phase}`);
  element("caption").textContent = PHASES[phase].caption;
  element("query").value = settings[phase].query;
  element("budget-exact").value = settings[phase].budget;
  showSlider();
}

function showSlider() {
  const { budget } = settings[phase];
  element("budget").value = Math.round(positionOf(budget));
  element("budget").setAttribute("aria-valuetext", `${format(budget)} tokens`);
}

function choose(name) {
  phase = name;
  showControls();
  changed();
}

function makeTabs() {
  const names = Object.keys(PHASES);
  for (const name of names) {
    const tab = make("button", "", name);
    Object.assign(tab, { id: `tab-${name}`, type: "button" });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", "panel");
    tab.addEventListener("click", () => choose(name));
    element("tabs").append(tab);
  }
  element("tabs").addEventListener("keydown", (event) => {
    const last = names.length - 1;
    const at = names.indexOf(phase);
    const [left, right] = [at === 0 ? last : at - 1, at === last ? 0 : at + 1];
    const to = { ArrowLeft: left, ArrowRight: right, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(names[to]);
    element(`tab-${phase}`).focus();
  });
}

/** Wires a button that shows more and goes away: the focus must not go with it. */
function onMore(id, heading, show) {
  element(id).addEventListener("click", () => {
    show();
    if (element(id).hidden) element(heading).focus();
  });
}

function listen() {
  element("sample").addEventListener("click", () => attempt("The sample", loadSample));
  element("file").addEventListener("change", ({ target }) => {
    const [file] = target.files;
    if (file) attempt(file.name, () => loadFile(file));
    // So that the same file can be chosen again after it was corrected.
    target.value = "";
  });
  element("paste-form").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt("The text", () => load("Pasted text", element("pasted").value.toWellFormed()));
  });
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    attempt(file.name, () => loadFile(file));
  });

  element("settings").addEventListener("submit", (event) => event.preventDefault());
  element("query").addEventListener("input", ({ target }) => {
    settings[phase].query = target.value.toWellFormed();
    changed();
  });
  element("budget").addEventListener("input", ({ target }) => {
    settings[phase].budget = budgetAt(Number(target.value));
    element("budget-exact").value = settings[phase].budget;
    element("budget").setAttribute("aria-valuetext", `${format(settings[phase].budget)} tokens`);
    changed();
  });
  element("budget-exact").addEventListener("input", ({ target }) => {
    if (!isBudget(target.valueAsNumber)) return;
    settings[phase].budget = target.valueAsNumber;
    showSlider();
    changed();
  });
  element("budget-exact").addEventListener("change", showControls);
  addEventListener("hashchange", () => {
    readAddress();
    showControls();
    changed();
  });
  onMore("more-items", "items-title", () => {
    shownRows += ROWS;
    renderItems();
  });
  onMore("more-prompt", "prompt-title", () => {
    wholePrompt = true;
    renderPrompt();
  });
}

try {
  cw = await import("./pkg/dist/index.js");
  cw.version(); // starts the engine, which would otherwise fail later and say so elsewhere
} catch (error) {
  element("session").textContent = "";
  element("problems").textContent = `The package in ./pkg did not start: ${error.message}`;
  element("problems").hidden = false;
  throw error;
}
makeTabs();
listen();
await attempt("The sample", async () => {
  await loadSample();
  readAddress();
});
