// Audits files of recorded sessions: readers say what happened, sessions account for it, one file after the other.
import { statSync } from "node:fs";
import type {
  AuditProblem,
  AuditReport,
  AuditSums,
  BreakReport,
  ModelReport,
  RepeatedResult,
  ResultReport,
  SessionReport,
} from "./types.js";
import type { SessionEvent } from "./events.js";
import { chunksOf, findFiles, folderAt } from "./files.js";
import type { FoundFiles } from "./files.js";
import { Factors } from "./ledger.js";
import type { Entry } from "./ledger.js";
import { PriceBook } from "./pricing.js";
import type { Pricing } from "./pricing.js";
import type { ModelPrice } from "./model-prices.js";
import { recognised } from "./readers/index.js";
import { readStorage } from "./readers/opencode.js";
import { readEvents } from "./readers/openhands.js";
import { ReplayPool } from "./replay-pool.js";
import type { PooledReplay } from "./replay-pool.js";
import { Session } from "./session.js";
import type { Shared } from "./session.js";
import { addSums, noSums, rounded, setShares } from "./sums.js";
import { valuesOf } from "./values.js";

/** How sessions are audited. */
export interface AuditOptions {
  /** Tokens of a prompt with contextweaver, and with the plain policies; none for no comparison. */
  readonly budgets: readonly number[];
  /** Whether sessions of contextweaver are compared at the budget that they had, too. */
  readonly has_own_budgets?: boolean;
  /** Prices of models, before those that are known. */
  readonly prices?: readonly ModelPrice[];
  /** Is told after each megabyte that was read. */
  readonly onProgress?: (progress: {
    readonly bytes: number;
    readonly files: number;
    readonly sessions: number;
  }) => void;
}

/** Dearest results, breaks and repeats that are told, and problems. */
const TOP = 10;
const MAX_PROBLEMS = 100;

/** Audits files, and what is below folders. */
export async function audit(paths: readonly string[], options: AuditOptions): Promise<AuditReport> {
  const found = findFiles(paths);
  const pool = new ReplayPool(options.budgets);
  try {
    const auditor = new Auditor(options, pool);
    await auditor.files(found);
    return auditor.report();
  } finally {
    await pool.close();
  }
}

/** A conversation that is being read. */
interface Open {
  readonly session: Session;
  readonly replay: PooledReplay;
}

class Auditor {
  readonly #options: AuditOptions;
  readonly #shared: Shared;
  readonly #sessions: SessionReport[] = [];
  readonly #total: AuditSums = noSums();
  readonly #models = new Map<string, ModelReport>();
  readonly #results: ResultReport[] = [];
  readonly #breaks: BreakReport[] = [];
  readonly #repeats: (RepeatedResult & { readonly cost: number })[] = [];
  readonly #problems: AuditProblem[] = [];
  readonly #pool: ReplayPool;
  /** Conversations that were read and are not reported yet, in order. */
  #reported = Promise.resolve();
  #problemCount = 0;
  #files = 0;
  #bytes = 0;
  /** Bytes of the files that were found. */
  #found = 0;
  #lineCharacters = 0;
  #peak = 0;

  constructor(options: AuditOptions, pool: ReplayPool) {
    [this.#options, this.#pool] = [options, pool];
    this.#shared = {
      book: new PriceBook(options.prices),
      factors: new Factors(),
      counted: new Set(),
      result: (result) => keepDearest(this.#results, result),
      broke: (broke) => keepDearest(this.#breaks, broke),
      repeated: (repeated) => keepDearest(this.#repeats, repeated),
      model: (name, pricing, entry) => this.#model(name, pricing, entry),
    };
  }

  async files({ files, problems }: FoundFiles): Promise<void> {
    for (const { file, reason } of problems) this.#problem(file, undefined, reason);
    this.#found = sizeOf(files);
    for (const { path, folderOf } of files) {
      this.#files += 1;
      try {
        if (folderOf)
          await this.#events(
            path,
            folderOf,
            folderOf === "opencode" ? readStorage(folderAt(path)) : readEvents(folderAt(path)),
          );
        else await this.#file(path);
      } catch (error) {
        const { code } = error as { readonly code?: string };
        // What the system says of a file concerns that file; all else is a fault of ours.
        if (!/^E[A-Z]+$/.test(code ?? "")) throw error;
        this.#problem(path, undefined, `cannot be read: ${code}`);
      }
    }
    await this.#reported;
  }

  report(): AuditReport {
    this.#sessions.sort((a, b) => priceOf(b) - priceOf(a) || (a.session < b.session ? -1 : 1));
    const budgets = this.#budgets();
    this.#total.strategies = this.#total.strategies.filter(
      ({ budget }) => budget === undefined || budgets.includes(budget),
    );
    setShares(this.#total);
    return rounded({
      version: 1,
      files: this.#files,
      bytes: this.#bytes,
      peak_characters: this.#peak,
      budgets,
      total: this.#total,
      models: [...this.#models.values()].sort((a, b) => b.cost - a.cost || (a.model < b.model ? -1 : 1)),
      sessions: this.#sessions,
      results: this.#results,
      breaks: this.#breaks,
      repeats: this.#repeats.map(({ cost: _, ...repeated }) => repeated),
      problems: this.#problems,
      problem_count: this.#problemCount,
    });
  }

  /** Those at which all conversations were compared: one that only some had says nothing of all. */
  #budgets(): number[] {
    const { budgets } = this.#options;
    const [first, ...others] = this.#sessions.map(({ strategies }) => strategies.flatMap(({ budget }) => budget ?? []));
    const own = (first ?? []).filter(
      (budget) => !budgets.includes(budget) && others.every((one) => one.includes(budget)),
    );
    return [...new Set([...budgets, ...own])].sort((a, b) => a - b);
  }

  async #file(path: string): Promise<void> {
    const told = Math.floor(this.#bytes / PROGRESS);
    let progress = told;
    const values = valuesOf(chunksOf(path), {
      problem: (line, reason) => this.#problem(path, line, reason),
      bytes: (count) => {
        this.#bytes += count;
        if (Math.floor(this.#bytes / PROGRESS) === progress) return;
        progress = Math.floor(this.#bytes / PROGRESS);
        this.#options.onProgress?.({ bytes: this.#bytes, files: this.#files, sessions: this.#sessions.length });
      },
      held: (characters) => {
        this.#lineCharacters = characters;
      },
    });
    const { reader, first, source } = await recognised(values, path);
    if (reader) await this.#events(path, reader.name, reader.read(source));
    else if (first.length > 0) this.#problem(path, undefined, "no format of recorded sessions that is known");
  }

  async #events(file: string, agent: string, events: AsyncGenerator<SessionEvent>): Promise<void> {
    const open = new Map<string, Open>();
    const end = (name: string): void => {
      const ended = open.get(name);
      open.delete(name);
      if (ended) this.#end(ended);
    };
    for await (const event of events) {
      if (event.kind === "problem") {
        this.#problem(file, event.line, event.reason);
        continue;
      }
      const { conversation } = event;
      if (event.kind === "begin") {
        end(conversation);
        const { session, parent, account } = event;
        const replay = this.#pool.replay(
          Math.max(this.#found, this.#bytes),
          this.#options.has_own_budgets === true ? account?.budget : undefined,
        );
        open.set(conversation, {
          session: new Session({ file, agent, session, parent, account }, this.#shared, replay),
          replay,
        });
        continue;
      }
      if (event.kind === "end") end(conversation);
      else open.get(conversation)?.session.take(event);
      if (this.#pool.isFull) await this.#pool.room();
      let held = this.#lineCharacters;
      for (const { session } of open.values()) held += session.held;
      this.#peak = Math.max(this.#peak, held);
    }
    for (const name of [...open.keys()]) end(name);
  }

  /** Ends a conversation; it is reported behind those that were read before. */
  #end({ session, replay }: Open): void {
    const reported = session.end();
    const outcomes = replay.end();
    this.#reported = Promise.all([outcomes, this.#reported]).then(([came]) => {
      const report = reported?.(came);
      if (!report) return;
      addSums(this.#total, report);
      this.#sessions.push(report);
    });
    // Whoever waits for all of them hears of what fails.
    this.#reported.catch(() => undefined);
  }

  #model(name: string, pricing: Pricing, { tokens, output, cost, usd }: Entry): void {
    let model = this.#models.get(name);
    if (!model) {
      model = { model: name, calls: 0, tokens: 0, output_tokens: 0, cost: 0 };
      const { model: price, cache } = pricing;
      if (price)
        model.price = {
          input: price.input,
          output: price.output,
          cached: price.input * cache.cached,
          written: price.input * cache.written,
          source: price.source,
          as_of: price.as_of,
        };
      this.#models.set(name, model);
    }
    model.calls += 1;
    model.tokens += tokens;
    model.output_tokens += output;
    model.cost += cost;
    if (usd !== undefined) model.usd = (model.usd ?? 0) + usd;
  }

  #problem(file: string, line: number | undefined, reason: string): void {
    this.#problemCount += 1;
    if (this.#problems.length < MAX_PROBLEMS)
      this.#problems.push({ file, ...(line !== undefined && { line }), reason });
  }
}

/** Bytes after which progress is told. */
const PROGRESS = 1_000_000;

/** Bytes of files, but for standard input and folders that are read as a whole. */
function sizeOf(files: FoundFiles["files"]): number {
  return files.reduce(
    (sum, { path, folderOf }) =>
      sum + (path === "-" || folderOf ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0)),
    0,
  );
}

/** The price by which the dearest are found; a token of a model without a price counts as one of a dollar a million. */
const priceOf = ({ cost, usd }: { readonly cost: number; readonly usd?: number | undefined }): number =>
  usd ?? cost / 1_000_000;

/** Keeps the dearest of many in order. */
function keepDearest<T extends { readonly cost: number; readonly usd?: number }>(list: T[], one: T): void {
  if (list.length === TOP && priceOf(list.at(-1) as T) >= priceOf(one)) return;
  const place = list.findIndex((other) => priceOf(other) < priceOf(one));
  list.splice(place === -1 ? list.length : place, 0, one);
  if (list.length > TOP) list.pop();
}
