// Anthropic's messages, whole and as events.
import { lastTurn } from "../adapters/anthropic-turn.js";
import { sumOf } from "../adapters/usage-sum.js";
import { errorOf, isSameSet, isSameText, objectsOf } from "./dialect.js";
import type {
  AnswerMaker,
  AnsweredCall,
  Asked,
  Dialect,
  Fields,
  HeldEvent,
  OwnCall,
  RoundEnd,
  Visible,
} from "./dialect.js";
import { dataOf, rewritten } from "./event-stream.js";
import type { StreamEvent } from "./event-stream.js";

export const ANTHROPIC: Dialect = {
  format: "anthropic",
  field: "messages",
  read,
  offer: ({ name, description, schema }) => ({ name, description, input_schema: schema }),
  answer: (own) => new AnthropicAnswer(own),
  results: (answered) => (answered.length === 0 ? [] : [{ role: "user", content: answered.map(resultOf) }]),
  putBack(messages, at, { said, beside, ids, text }) {
    const answer = messages[at] as Fields | undefined;
    if (answer?.["role"] !== "assistant" || !isSaid(answer, { ids, text })) return undefined;
    const results = objectsOf(beside).flatMap(({ content }) => objectsOf(content));
    const next = messages[at + 1] as Fields | undefined;
    if (results.length === 0) return { messages: said, taken: 1 };
    if (next?.["role"] !== "user") return undefined;
    const content =
      typeof next["content"] === "string" ? [{ type: "text", text: next["content"] }] : objectsOf(next["content"]);
    return { messages: [...said, { ...next, content: [...results, ...content] }], taken: 2 };
  },
  failure: (status, body) => rewritten({ name: "error" }, { type: "error", error: errorOf(status, body) }),
};

function read(body: Fields): Asked | string {
  if (!Array.isArray(body["messages"])) return "unread";
  // A thread is held by the provider, which is sent what is new alone.
  if (body["thread"] !== undefined && body["thread"] !== false) return "held";
  const messages = body["messages"] as readonly object[];
  const { query } = lastTurn(messages);
  const { system } = body;
  const billing = Array.isArray(system) ? objectsOf(system).filter(isBilling) : [];
  return {
    messages,
    query,
    leading: 0,
    ...(billing.length > 0
      ? { system: (system as Fields[]).filter((block) => !billing.includes(block)), billing }
      : system !== undefined && { system }),
  };
}

/** Whether a block of instructions is what Claude Code tells of itself: Anthropic takes it off, and it is another with every call. */
function isBilling({ type, text, cache_control: mark }: Fields): boolean {
  return type === "text" && mark === undefined && String(text).startsWith("x-anthropic-billing-header:");
}

function resultOf({ id, output }: AnsweredCall): object {
  return { type: "tool_result", tool_use_id: id, content: output };
}

function isSaid({ content }: Fields, { ids, text }: Visible): boolean {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content);
  const calls = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => String(id));
  return isSameSet(calls, ids) && (ids.length > 0 || isSameText(textsOf(blocks), text));
}

function textsOf(blocks: readonly Fields[]): string {
  return blocks
    .filter(({ type }) => type === "text")
    .map(({ text }) => String(text ?? ""))
    .join("");
}

/** Texts that come in pieces, by the kind of piece, with the field that it belongs to. */
const PIECES: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  signature_delta: "signature",
};

class AnthropicAnswer implements AnswerMaker {
  readonly #own: ReadonlySet<string>;
  /** The blocks of the present round by their index, and the JSON of arguments as it comes. */
  #blocks = new Map<number, Fields>();
  readonly #inputs = new Map<number, string>();
  /** Where a block of the present round stands for the client; hidden ones do not. */
  #places = new Map<number, number>();
  #count = 0;
  #round = 0;
  #isChanged = false;
  #shown: Fields[] = [];
  /** The end of the present round, as far as it came: what it says, and the events that say so. Those of the last round are told. */
  #last: Fields = {};
  #end: HeldEvent[] = [];
  #told: readonly HeldEvent[] = [];
  #usage: Fields | undefined;
  #sum: Fields | undefined;
  #body: Fields = {};
  #hasCalls = false;

  constructor(own: ReadonlySet<string>) {
    this.#own = own;
  }

  get visible(): Visible {
    const ids = this.#shown.filter(({ type }) => type === "tool_use").map(({ id }) => String(id));
    return { ids, text: textsOf(this.#shown) };
  }

  event(event: StreamEvent): string {
    const data = dataOf(event);
    if (!data) return event.raw;
    switch (data["type"]) {
      case "message_start":
        this.#usage = ((data["message"] ?? {}) as Fields)["usage"] as Fields | undefined;
        this.#end = [];
        return this.#round === 0 ? event.raw : "";
      case "content_block_start":
      case "content_block_delta":
      case "content_block_stop":
        return this.#block(event, data);
      case "message_delta":
        this.#last = (data["delta"] ?? {}) as Fields;
        this.#usage = { ...this.#usage, ...definedOf(data["usage"]) };
        this.#end.push({ event, data });
        return "";
      case "message_stop":
        this.#end.push({ event, data });
        return "";
      default:
        return event.raw;
    }
  }

  #block(event: StreamEvent, data: Fields): string {
    const index = Number(data["index"]);
    if (data["type"] === "content_block_start") {
      const block = (data["content_block"] ?? {}) as Fields;
      this.#blocks.set(index, block);
      if (!this.#isOwn(block)) this.#places.set(index, this.#count++);
    } else if (data["type"] === "content_block_delta") this.#piece(index, (data["delta"] ?? {}) as Fields);
    const place = this.#places.get(index);
    if (place === undefined) {
      this.#isChanged = true;
      return "";
    }
    return place === index ? event.raw : rewritten(event, { ...data, index: place });
  }

  #piece(index: number, delta: Fields): void {
    const { type, partial_json: json, citation } = delta;
    const block = this.#blocks.get(index) ?? {};
    const field = PIECES[String(type)];
    if (type === "input_json_delta") this.#inputs.set(index, `${this.#inputs.get(index) ?? ""}${String(json ?? "")}`);
    else if (type === "citations_delta")
      this.#blocks.set(index, { ...block, citations: [...objectsOf(block["citations"]), citation] });
    else if (type === "compaction_delta") {
      // It says all at once; nothing where the provider could not compact.
      const { type: _, ...compacted } = delta;
      this.#blocks.set(index, { ...block, ...compacted });
    } else if (field !== undefined)
      this.#blocks.set(index, { ...block, [field]: `${String(block[field] ?? "")}${String(delta[field] ?? "")}` });
  }

  whole(body: Fields): void {
    this.#body = body;
    this.#last = body;
    this.#usage = body["usage"] as Fields | undefined;
    for (const [index, block] of objectsOf(body["content"]).entries()) this.#blocks.set(index, block);
  }

  end(): RoundEnd {
    const blocks = [...this.#blocks]
      .map(([index, block]) => this.#finished(index, block))
      .filter((block) => block["type"] !== "text" || block["text"] !== "");
    const isWhole = this.#last["stop_reason"] === "tool_use";
    const own = isWhole ? blocks.filter((block) => this.#isOwn(block)).map(callOf) : [];
    const shown = blocks.filter((block) => !this.#isOwn(block));
    const said = isWhole ? blocks : shown;
    this.#hasCalls = shown.some(({ type }) => type === "tool_use");
    this.#shown.push(...shown);
    const isHiding = shown.length < blocks.length;
    this.#isChanged ||= isHiding;
    this.#sum = this.#sum ? sumOf(this.#sum, this.#usage) : this.#usage;
    const usage = this.#usage;
    this.#next();
    return {
      own,
      isOpen: own.length > 0 && !this.#hasCalls,
      isHiding,
      said: said.length > 0 ? [{ role: "assistant", content: said }] : [],
      usage,
    };
  }

  /** Forgets a round. What it ended with is told if it was the last. */
  #next(): void {
    [this.#told, this.#end, this.#last] = [this.#end, [], {}];
    this.#blocks = new Map();
    this.#places = new Map();
    this.#inputs.clear();
    this.#round += 1;
  }

  #finished(index: number, block: Fields): Fields {
    const json = this.#inputs.get(index);
    if (json === undefined || json === "") return block;
    try {
      return { ...block, input: JSON.parse(json) as unknown };
    } catch {
      // What broke off is answered as what is no JSON object.
      return { ...block, input: {} };
    }
  }

  #isOwn({ type, name }: Fields): boolean {
    return type === "tool_use" && this.#own.has(String(name));
  }

  /** The reason that a client is told: it has nothing to run where the calls were all answered here. */
  #reason(reason: unknown): unknown {
    return reason === "tool_use" && !this.#hasCalls && this.#isChanged ? "end_turn" : reason;
  }

  close(): string {
    const isSum = this.#round > 1;
    return this.#told
      .map(({ event, data }) => {
        if (data["type"] !== "message_delta" || (!isSum && !this.#isChanged)) return event.raw;
        const delta = (data["delta"] ?? {}) as Fields;
        return rewritten(event, {
          ...data,
          delta: { ...delta, stop_reason: this.#reason(delta["stop_reason"]) },
          usage: this.#sum,
        });
      })
      .join("");
  }

  merged(): Fields {
    return {
      ...this.#body,
      content: this.#shown,
      stop_reason: this.#reason(this.#body["stop_reason"]),
      usage: this.#sum,
    };
  }
}

function callOf({ id, name, input }: Fields): OwnCall {
  return { id: String(id), name: String(name), input };
}

function definedOf(usage: unknown): Fields {
  return Object.fromEntries(
    Object.entries((usage ?? {}) as Fields).filter(([, value]) => value !== null && value !== undefined),
  );
}
