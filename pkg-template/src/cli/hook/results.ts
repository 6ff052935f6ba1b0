// Large results of the tools of agents that run in a project: stored whole, shown in the entry form, read on in by handle.
import { DEFAULT_ROOM, atMost, found } from "../../adapters/read-on.js";
import type { DrilldownInput, RecallInput } from "../../adapters/read-on.js";
import { GatewaySessions } from "../../gateway/session.js";
import type { GatewaySession } from "../../gateway/session.js";
import { ContextManager, countTokens } from "../../index.js";
import { resultTokens } from "../../mcp/result-size.js";
import { openSession } from "../../sessions/stored-session.js";
import type { SessionRecord, SessionStore } from "../../storage/storage-types.js";

/** Whose results they are: all agents of a project read what one of them has stored. */
const CALLER = "project";
const STORED = `gateway:${CALLER}:`;
/** Results that `recall` searches, the newest; the others are found by their handles. */
const MAX_SEARCHED = 1_000;
/** Characters of a token, at most: a text with more of them is not counted before it is read. */
const MOST_CHARS = 16;
/** What a store keeps, at most. */
const KEPT = { idle_ms: 30 * 86_400_000, max_bytes: 2 ** 29 };

/** How results are kept and shown. */
export interface ProjectResultsOptions {
  readonly store: SessionStore;
  /** Most tokens of a result that the agent sees. Default: as of `firewalled`. */
  readonly result_tokens?: number | undefined;
  /** Whether secrets are masked in what is shown. Default: false, as the agent was to see them anyway. */
  readonly mask?: boolean;
  /** What the agent calls the tool that reads on. */
  readonly drilldown?: string;
}

/** A result of a tool. */
export interface ProjectResult {
  readonly tool: string;
  readonly input: unknown;
  readonly text: string;
}

/** The results of a project. */
export class ProjectResults {
  readonly #store: SessionStore;
  readonly #most: number;
  readonly #session: GatewaySession;
  readonly #searched: SearchedResults;

  constructor({ store, result_tokens, mask = false, drilldown = "drilldown" }: ProjectResultsOptions) {
    this.#store = store;
    this.#most = resultTokens(result_tokens === undefined ? {} : { result_tokens });
    const manager = { redact_secrets: mask };
    this.#session = new GatewaySessions({
      store,
      result_tokens: this.#most,
      manager,
      drilldown,
      recall: "recall",
      // Whoever enters a result is told that it cannot be stored.
      onError: () => undefined,
    }).open(CALLER);
    this.#searched = new SearchedResults(store, mask);
  }

  /**
   * Stores a result that takes more than its share, and returns what stands in its place; undefined where it passes as it is. Rejects
   * where it cannot be stored whole: a handle that nothing stands behind is worse than a long result.
   */
  async entered({ tool, input, text }: ProjectResult): Promise<string | undefined> {
    if (text.length <= MOST_CHARS * this.#most && countTokens(text) <= this.#most) return undefined;
    let failure: unknown;
    const digested = await this.#session.digest(
      { name: tool, arguments: input, result: { content: [{ type: "text", text }] } },
      (error) => (failure ??= error),
    );
    if (failure !== undefined) throw failure;
    const { result, is_digested, shown_tokens, tokens, envelope } = digested;
    if (!is_digested || shown_tokens >= tokens) return undefined;
    if (envelope?.provenance["missing_bytes"] !== undefined)
      throw new Error("the result is too large to be stored whole");
    return (result["content"] as readonly { readonly text?: string }[]).map((block) => block.text ?? "").join("\n");
  }

  /** Reads a part of a stored result. */
  drilldown(input: DrilldownInput): Promise<{ readonly reply: Readonly<Record<string, unknown>> }> {
    return this.#session.read(input);
  }

  /** Finds again what stored results hold. */
  async recall(input: RecallInput): Promise<{ readonly reply: Readonly<Record<string, unknown>> }> {
    await this.#searched.refresh();
    const answer = await this.#searched.manager.recallAsync(input.query, atMost(input, DEFAULT_ROOM));
    return { reply: { content: [{ type: "text", text: found(answer) }] } };
  }

  /** Removes what is old, or too much. */
  async prune(): Promise<number> {
    return (await this.#store.prune(KEPT)).length;
  }

  async close(): Promise<void> {
    await this.#session.close();
    this.#searched.manager.free();
  }
}

/** The stored results in one log, so that a search compares them with each other. */
class SearchedResults {
  readonly manager: InstanceType<typeof ContextManager>;
  readonly #store: SessionStore;
  readonly #read = new Set<string>();

  constructor(store: SessionStore, mask: boolean) {
    [this.#store, this.manager] = [store, new ContextManager({ redact_secrets: mask, limits: { eviction: "lru" } })];
  }

  /** Takes what was stored since. */
  async refresh(): Promise<void> {
    const stored = (await this.#store.sessions()).filter(({ id }) => id.startsWith(STORED));
    const newest = [...stored].sort(byAge).slice(-MAX_SEARCHED);
    for (const { id } of newest) {
      if (this.#read.has(id)) continue;
      await this.#take(id);
      this.#read.add(id);
    }
  }

  async #take(id: string): Promise<void> {
    const { manager } = await openSession(this.#store.session(id), { salvage: true });
    try {
      for (const { parent_id: call, metadata } of manager.events.list({ kinds: ["tool_result"] })) {
        const handle = `artifact:result:${call}`;
        if (call == null || !manager.artifacts.exists(handle)) continue;
        const called = manager.events.get(call);
        const tool_name = String(metadata?.["tool_name"] ?? "tool");
        // A result of a turn that is over may leave memory for another.
        this.manager.ingest({ id: `${call}:turn`, kind: "user_turn", text: tool_name });
        this.manager.ingest({ id: call, kind: "tool_call", text: called.text, metadata: called.metadata });
        this.manager.ingestToolResult({
          tool_call_id: call,
          tool_name,
          raw_output: manager.artifacts.bytes(handle),
          media_type: "text/plain",
        });
      }
    } finally {
      manager.free();
    }
  }
}

function byAge({ written_at: one = 0 }: SessionRecord, { written_at: other = 0 }: SessionRecord): number {
  return one - other;
}
