// A memory of decisions: asking it, its guardrails, how well confidence foretold outcomes, and how decisions are linked.
import { DecisionStore } from "contextweaver/slim";
import type {
  DecisionRecord,
  DecisionStakes,
  DecisionSummary,
  DecisionToolArguments,
  DecisionToolContents,
  DecisionToolName,
  RetrievalMode,
} from "contextweaver/slim";
import { decode } from "./read.ts";
import { InputError, head, json, line, masked, safe } from "./text.ts";

export interface MemoryView {
  readonly line: string;
  readonly decisions: number;
  readonly categories: readonly string[];
  /** Records that could not be read, and why. */
  readonly leftOut: readonly string[];
}

interface Loaded {
  readonly store: DecisionStore;
  readonly records: readonly DecisionRecord[];
  readonly places: ReadonlyMap<string, number>;
  readonly edges: readonly Edge[];
  readonly rules: readonly Rule[];
}

/** Places of the decisions at its ends. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly type: string;
}

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly when: string;
}

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_LEFT_OUT = 20;
const TITLE_CHARS = 200;

let loaded: Loaded | undefined;

function memory(): Loaded {
  if (!loaded) throw new InputError("no memory is loaded");
  return loaded;
}

/** Runs a tool of the memory; what it says of wrong arguments is an error here. */
async function call<N extends DecisionToolName>(
  store: DecisionStore,
  name: N,
  args: DecisionToolArguments[N],
): Promise<DecisionToolContents[N]> {
  const { structuredContent, isError, content } = await store.callTool(name, args);
  if (isError || !structuredContent) throw new InputError(content.map(({ text }) => text).join("\n"));
  return structuredContent;
}

function load({ name, bytes }: { readonly name: string; readonly bytes: ArrayBuffer }): MemoryView {
  if (bytes.byteLength > MAX_BYTES) throw new InputError(`it has more than ${MAX_BYTES.toLocaleString("en")} bytes`);
  const store = new DecisionStore();
  try {
    const report = store.import(decode(bytes));
    if (store.size === 0)
      throw new InputError(
        report.errors[0] ? `no decision could be read: ${report.errors[0].message}` : "there is no decision in it",
      );
    const next = read(store);
    loaded?.store.free();
    loaded = next;
    return viewOf(
      name,
      next,
      report.errors.map(({ path, message }) => safe(`${path}: ${message}`)),
    );
  } catch (error) {
    if (loaded?.store !== store) store.free();
    throw error;
  }
}

function read(store: DecisionStore): Loaded {
  const { decisions, edges, guardrails } = store.export();
  const records = [...decisions].sort((a, b) => a.date.localeCompare(b.date) || a.id.localeCompare(b.id));
  const places = new Map(records.map(({ id }, place) => [id, place]));
  const found = (Array.isArray(edges) ? edges : []) as readonly Record<string, unknown>[];
  return {
    store,
    records,
    places,
    edges: found.flatMap(({ source_id, target_id, edge_type }) => {
      const [from, to] = [places.get(String(source_id)), places.get(String(target_id))];
      return from === undefined || to === undefined ? [] : [{ from, to, type: safe(String(edge_type)) }];
    }),
    rules: ((Array.isArray(guardrails) ? guardrails : []) as readonly Record<string, unknown>[]).map(ruleOf),
  };
}

function ruleOf({ id, description, action, message: _, ...conditions }: Record<string, unknown>): Rule {
  const when = Object.entries(conditions)
    .filter(([key]) => /^(?:condition|require|scope)/.test(key))
    .map(
      ([key, value]) =>
        `${key.replace(/^condition_/, "").replaceAll("_", " ")} ${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
  return {
    id: safe(String(id)),
    name: line(String(description ?? id), TITLE_CHARS),
    when: line(`${when.join(" and ") || "always"}: ${String(action ?? "")}`, TITLE_CHARS),
  };
}

function viewOf(name: string, { records, rules }: Loaded, leftOut: readonly string[]): MemoryView {
  const reviewed = records.filter(({ outcome }) => outcome !== undefined).length;
  const many = (count: number, one: string): string => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
  return {
    line: safe(
      `${name}: ${many(records.length, "decision")}, ${reviewed.toLocaleString("en")} with an outcome, ${many(rules.length, "guardrail")}.`,
    ),
    decisions: records.length,
    categories: [...new Set(records.map(({ category }) => category))]
      .filter((each) => typeof each === "string")
      .sort()
      .map(safe),
    leftOut: leftOut.slice(0, MAX_LEFT_OUT),
  };
}

/** A decision in a line. */
export interface DecisionLine {
  readonly place: number;
  readonly id: string;
  readonly title: string;
  readonly category: string;
  readonly stakes: string;
  readonly confidence: number | null;
  readonly outcome: string;
  readonly date: string;
}

function lineOf({ records }: Loaded, place: number): DecisionLine {
  const record = records[place];
  if (!record) throw new InputError("there is no such decision");
  const { id, decision, summary, category, stakes, confidence, outcome, date } = record;
  return {
    place,
    id: safe(id),
    title: line(decision || summary, TITLE_CHARS),
    category: safe(category ?? ""),
    stakes: safe(stakes ?? ""),
    confidence,
    outcome: safe(outcome ?? "open"),
    date: safe(date.slice(0, 10)),
  };
}

/** What was found for a question, with what its score is made of. */
export interface FoundDecision extends DecisionLine {
  readonly lessons: string;
  /** Parts of the score by which it is ranked, and their sum; 0 where a part was not asked for. */
  readonly meaning: number;
  readonly words: number;
  readonly score: number;
  readonly isSuperseded: boolean;
}

export interface Asked {
  readonly mode: string;
  readonly found: readonly FoundDecision[];
  readonly warnings: readonly string[];
}

/** Weight of meaning beside words where a store is made without options. */
const HYBRID_WEIGHT = 0.7;
/** What a decision that was replaced is ranked by, as a part of its score. */
const SUPERSEDED = 0.5;
const FOUND = 8;

async function ask({
  query,
  mode,
  category,
}: {
  readonly query: string;
  readonly mode: RetrievalMode;
  readonly category: string;
}): Promise<Asked> {
  const present = memory();
  const filters = category === "" ? {} : { filters: { category: nameOf(present, category) } };
  const {
    decisions,
    scores = {},
    retrievalMode,
    warnings = [],
  } = await call(present.store, "query_decisions", { query, limit: FOUND, retrieval_mode: mode, ...filters });
  return {
    mode: retrievalMode,
    found: decisions.map((found) => foundOf(present, found, retrievalMode, scores[found.id])),
    warnings: warnings.map(({ message }) => safe(message)),
  };
}

/** The category as the records write it: what is shown may have been made safe. */
function nameOf({ records }: Loaded, shown: string): string {
  return records.find(({ category }) => safe(category ?? "") === shown)?.category ?? shown;
}

function foundOf(
  present: Loaded,
  found: DecisionSummary,
  mode: RetrievalMode,
  scores: { semantic: number; keyword: number; combined: number } | undefined,
): FoundDecision {
  const isSuperseded = found.superseded === true;
  const own = {
    ...lineOf(present, present.places.get(found.id) ?? -1),
    lessons: line(found.lessons ?? "", TITLE_CHARS),
    isSuperseded,
  };
  const factor = isSuperseded ? SUPERSEDED : 1;
  const { semantic, keyword, combined } = scores ?? {
    semantic: 1 - found.distance,
    keyword: 0,
    combined: 1 - found.distance,
  };
  const [meaning, words] =
    mode === "hybrid" ? [HYBRID_WEIGHT * semantic, (1 - HYBRID_WEIGHT) * keyword] : [semantic, keyword];
  return { ...own, score: combined * factor, meaning: meaning * factor, words: words * factor };
}

/** One rule, and what it says of an action. */
export interface RuleResult extends Rule {
  readonly severity: "block" | "warn" | "log" | "silent";
  readonly message: string;
}

export interface Checked {
  readonly isAllowed: boolean;
  readonly rules: readonly RuleResult[];
}

async function check(action: {
  readonly description: string;
  readonly category: string;
  readonly stakes: DecisionStakes;
  readonly confidence: number;
}): Promise<Checked> {
  const present = memory();
  const category = action.category === "" ? {} : { category: nameOf(present, action.category) };
  const { allowed, violations, warnings } = await call(present.store, "check_action", { ...action, ...category });
  const said = new Map([...warnings, ...violations].map((result) => [safe(result.guardrailId), result]));
  const rules = present.rules.map((rule): RuleResult => {
    const result = said.get(rule.id);
    said.delete(rule.id);
    return { ...rule, severity: result?.severity ?? "silent", message: masked(result?.message ?? "") };
  });
  const more = [...said.values()].map(({ guardrailId, name, severity, message }) => ({
    id: safe(guardrailId),
    name: safe(name),
    when: "",
    severity,
    message: masked(message),
  }));
  return { isAllowed: allowed, rules: [...rules, ...more] };
}

/** Decisions of about the same confidence, and what came of them. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly decisions: number;
  readonly meanConfidence: number;
  readonly successRate: number;
}

export interface Calibration {
  readonly reviewed: number;
  readonly bins: readonly Bin[];
  /** Undefined while nothing has an outcome. */
  readonly overall?: {
    readonly brier: number;
    readonly accuracy: number;
    readonly gap: number;
    readonly interpretation: string;
    readonly ece: number | null;
  };
  readonly advice: readonly string[];
}

async function calibration(_: object): Promise<Calibration> {
  const { overall, extended, recommendations } = await call(memory().store, "get_stats", {
    window: "all",
    min_decisions: 1,
  });
  const { bins = [], ece = null } = (extended ?? {}) as unknown as { bins?: readonly Bin[]; ece?: number | null };
  const advice = recommendations.map(({ message }) => safe(message));
  if (!overall) return { reviewed: 0, bins: [], advice };
  const { brierScore: brier, accuracy, calibrationGap: gap, interpretation } = overall;
  return {
    reviewed: overall.reviewedDecisions,
    bins,
    overall: { brier, accuracy, gap, interpretation: interpretation.replaceAll("_", " "), ece },
    advice,
  };
}

/** Decisions that are linked, in the order of their dates. */
export interface Graph {
  readonly nodes: readonly DecisionLine[];
  readonly edges: readonly Edge[];
  /** Linked decisions that are not drawn. */
  readonly rest: number;
  /** Decisions without a link. */
  readonly alone: number;
}

const MAX_NODES = 150;

function graph(_: object): Graph {
  const present = memory();
  const linked = [...new Set(present.edges.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  // The newest, as what they replaced can be reached from them.
  const drawn = new Set(linked.slice(-MAX_NODES));
  return {
    nodes: [...drawn].map((place) => lineOf(present, place)),
    edges: present.edges.filter(({ from, to }) => drawn.has(from) && drawn.has(to)),
    rest: linked.length - drawn.size,
    alone: present.records.length - linked.length,
  };
}

/** A decision in full. */
export interface DecisionView extends DecisionLine {
  readonly text: string;
  readonly context: string;
  readonly reasons: readonly { readonly type: string; readonly text: string }[];
  readonly tags: readonly string[];
  readonly lessons: string;
  readonly links: readonly {
    readonly place: number;
    readonly title: string;
    readonly type: string;
    readonly isOutgoing: boolean;
  }[];
  readonly record: string;
}

const TEXT_CHARS = 8000;
const MAX_LINKS = 40;

async function decision({ place }: { readonly place: number }): Promise<DecisionView> {
  const present = memory();
  const own = lineOf(present, place);
  // Asked for by its tool, which masks credentials.
  const { decision: record } = await call(present.store, "get_decision", { id: present.records[place]?.id ?? "" });
  if (!record) throw new InputError("there is no such decision");
  const whole = (text: unknown): string => masked(head(typeof text === "string" ? text : "", TEXT_CHARS));
  const links = present.edges.filter(({ from, to }) => from === place || to === place).slice(0, MAX_LINKS);
  return {
    ...own,
    text: whole(record.decision),
    context: whole(record.context),
    reasons: (record.reasons ?? []).map(({ type, text }) => ({ type: safe(String(type)), text: whole(text) })),
    tags: (record.tags ?? []).map((tag) => safe(String(tag))),
    lessons: whole(record.lessons),
    links: links.map(({ from, to, type }) => {
      const other = from === place ? to : from;
      return { place: other, title: lineOf(present, other).title, type, isOutgoing: from === place };
    }),
    record: json(record),
  };
}

export const operations = {
  "decisions.load": load,
  "decisions.ask": ask,
  "decisions.check": check,
  "decisions.calibration": calibration,
  "decisions.graph": graph,
  "decisions.decision": decision,
};
