// OpenAI's chat completions, whole and in chunks.
import { lastQuery } from "../adapters/openai-turn.js";
import { sumOf } from "../adapters/usage-sum.js";
import { errorOf, isSameSet, isSameText, leading, objectsOf } from "./dialect.js";
import type { AnswerMaker, Asked, Dialect, Fields, OwnCall, RoundEnd, Visible } from "./dialect.js";
import { dataOf, rewritten } from "./event-stream.js";
import type { StreamEvent } from "./event-stream.js";

export const CHAT: Dialect = {
  format: "openai-chat",
  field: "messages",
  read,
  offer: ({ name, description, schema }) => ({ type: "function", function: { name, description, parameters: schema } }),
  answer: (own) => new ChatAnswer(own),
  results: (answered) => answered.map(({ id, output }) => ({ role: "tool", tool_call_id: id, content: output })),
  putBack(messages, at, { said, beside, ids, text }) {
    const answer = messages[at] as Fields | undefined;
    if (answer?.["role"] !== "assistant") return undefined;
    const calls = objectsOf(answer["tool_calls"]).map(({ id }) => String(id));
    const isSaid = isSameSet(calls, ids) && (ids.length > 0 || isSameText(textOf(answer["content"]), text));
    return isSaid ? { messages: [...said, ...beside], taken: 1 } : undefined;
  },
  failure: (status, body) =>
    rewritten(
      { name: "" },
      { error: { ...errorOf(status, body), code: ((body["error"] ?? {}) as Fields)["code"] ?? status } },
    ),
};

function read(body: Fields): Asked | string {
  if (!Array.isArray(body["messages"])) return "unread";
  // Answers beside each other cannot go on each in its own way.
  if (Number(body["n"] ?? 1) > 1) return "several_answers";
  const messages = body["messages"] as readonly object[];
  return { messages, query: lastQuery(messages), leading: leading(messages, () => false) };
}

function textOf(content: unknown): string {
  return typeof content === "string"
    ? content
    : objectsOf(content)
        .map(({ text }) => String(text ?? ""))
        .join("");
}

const BETWEEN_TEXTS = "\n\n";
/** Why an answer ended whose calls may have broken off. */
const BROKEN_OFF = ["length", "content_filter"];

interface HeldEvent {
  readonly event: StreamEvent;
  readonly data: Fields | undefined;
}

interface HeldChunk extends HeldEvent {
  readonly data: Fields;
}

class ChatAnswer implements AnswerMaker {
  readonly #own: ReadonlySet<string>;
  /** The calls of the present round by their index. */
  #calls = new Map<unknown, Fields>();
  /** Which of them the client is told of, and as the how manieth. */
  #places = new Map<unknown, number>();
  #count = 0;
  #text = "";
  /** What providers add to say how a model came to its answer, which some of them want back. */
  #details: object[] = [];
  #round = 0;
  #isChanged = false;
  #shownText = "";
  #shown: Fields[] = [];
  #reason: unknown;
  #usage: Fields | undefined;
  #sum: Fields | undefined;
  /** The first chunk, whose id all others have. */
  #first: Fields | undefined;
  /** The end of the present round, which is told if it is the last, and that of the round before. */
  #finish: HeldChunk | undefined;
  #ends: HeldEvent[] = [];
  #told: { readonly finish?: HeldChunk; readonly ends: readonly HeldEvent[] } = { ends: [] };
  #body: Fields = {};
  #hasCalls = false;

  constructor(own: ReadonlySet<string>) {
    this.#own = own;
  }

  get visible(): Visible {
    return { ids: this.#shown.map(({ id }) => String(id)), text: this.#shownText };
  }

  event(event: StreamEvent): string {
    const data = dataOf(event);
    if (!data) {
      if (event.data !== "[DONE]") return event.raw;
      this.#ends.push({ event, data });
      return "";
    }
    this.#first ??= data;
    const [choice] = objectsOf(data["choices"]);
    const usage = data["usage"] as Fields | null | undefined;
    if (usage) this.#usage = usage;
    if (!choice) {
      if (!usage) return event.raw;
      this.#ends.push({ event, data });
      return "";
    }
    return this.#chunk(event, data, choice);
  }

  #chunk(event: StreamEvent, data: Fields, choice: Fields): string {
    const delta = (choice["delta"] ?? {}) as Fields;
    const { content, reasoning_details: details, tool_calls: given } = delta;
    this.#details.push(...objectsOf(details));
    const joint = typeof content === "string" && content !== "" ? this.#joint() : "";
    if (typeof content === "string") this.#text += content;
    const all = objectsOf(given);
    const calls = all.flatMap((call) => this.#call(call));
    const { tool_calls: _, ...rest } = delta;
    const changed = {
      ...rest,
      ...(joint !== "" && { content: `${joint}${String(content)}` }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const isSame =
      joint === "" && this.#round === 0 && calls.length === all.length && calls.every((call, at) => call === all[at]);
    if (choice["finish_reason"] == null) {
      if (isSame) return event.raw;
      const isEmpty =
        calls.length === 0 &&
        Object.values(rest).every((value) => value === null || value === "" || value === "assistant");
      return isEmpty ? "" : this.#written(event, data, { ...choice, delta: changed });
    }
    this.#reason = choice["finish_reason"];
    const isBare =
      Object.keys(changed).length === 0 || (Object.keys(changed).length === 1 && changed["content"] === "");
    this.#finish = {
      event: isSame && isBare ? event : { ...event, raw: "" },
      data: { ...data, choices: [{ ...choice, delta: {} }] },
    };
    return isBare ? "" : this.#written(event, data, { ...choice, delta: changed, finish_reason: null });
  }

  /** What stands between the texts of two rounds. */
  #joint(): string {
    return this.#text === "" && this.#shownText !== "" && !/\s$/.test(this.#shownText) ? BETWEEN_TEXTS : "";
  }

  #written(event: StreamEvent, data: Fields, choice: Fields): string {
    const { id, created } = this.#first ?? {};
    return rewritten(event, {
      ...data,
      ...(id !== undefined && { id }),
      ...(created !== undefined && { created }),
      choices: [choice],
    });
  }

  /** Takes a piece of a call: as the client is told of it, or nothing where it is not. */
  #call(piece: Fields): Fields[] {
    const index = piece["index"] ?? piece["id"];
    const { function: said, ...rest } = piece;
    const { arguments: more, ...named } = (said ?? {}) as Fields;
    const before = this.#calls.get(index);
    const made = (before?.["function"] ?? {}) as Fields;
    const call = {
      ...before,
      ...definedOf(rest),
      function: { ...made, ...definedOf(named), arguments: `${String(made["arguments"] ?? "")}${String(more ?? "")}` },
    };
    this.#calls.set(index, call);
    if (!before && !this.#isOwn(call)) this.#places.set(index, this.#count++);
    const place = this.#places.get(index);
    if (place === undefined) {
      this.#isChanged = true;
      return [];
    }
    return [place === index || piece["index"] === undefined ? piece : { ...piece, index: place }];
  }

  whole(body: Fields): void {
    this.#body = body;
    this.#usage = body["usage"] as Fields | undefined;
    const [choice = {}] = objectsOf(body["choices"]);
    this.#reason = choice["finish_reason"];
    const message = (choice["message"] ?? {}) as Fields;
    this.#text = textOf(message["content"]);
    this.#details = [...objectsOf(message["reasoning_details"])];
    for (const [index, call] of objectsOf(message["tool_calls"]).entries()) this.#calls.set(index, call);
  }

  end(): RoundEnd {
    const calls = [...this.#calls.values()].map(({ index: _, ...call }): Fields => call);
    const isWhole = !BROKEN_OFF.includes(String(this.#reason));
    const own = isWhole ? calls.filter((call) => this.#isOwn(call)) : [];
    const shown = calls.filter((call) => !this.#isOwn(call));
    const said = isWhole ? calls : shown;
    this.#hasCalls = shown.length > 0;
    if (shown.length < calls.length) this.#isChanged = true;
    this.#shown.push(...shown);
    if (this.#text !== "")
      this.#shownText += `${this.#shownText !== "" && !/\s$/.test(this.#shownText) ? BETWEEN_TEXTS : ""}${this.#text}`;
    this.#sum = this.#sum ? sumOf(this.#sum, this.#usage) : this.#usage;
    const message = {
      role: "assistant",
      content: this.#text === "" ? null : this.#text,
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(said.length > 0 && { tool_calls: said }),
    };
    const isSaid = this.#text !== "" || said.length > 0;
    const usage = this.#usage;
    this.#next();
    return { own: own.map(callOf), isOpen: own.length > 0 && !this.#hasCalls, said: isSaid ? [message] : [], usage };
  }

  #next(): void {
    this.#calls = new Map();
    this.#places = new Map();
    [this.#text, this.#details, this.#usage] = ["", [], undefined];
    this.#round += 1;
    this.#told = { ...(this.#finish && { finish: this.#finish }), ends: this.#ends };
    [this.#finish, this.#ends] = [undefined, []];
  }

  #isOwn(call: Fields): boolean {
    return this.#own.has(String(((call["function"] ?? {}) as Fields)["name"]));
  }

  /** The reason that a client is told: it has nothing to run where the calls were all answered here. */
  #toldReason(reason: unknown): unknown {
    return reason === "tool_calls" && !this.#hasCalls && this.#isChanged ? "stop" : reason;
  }

  close(): string {
    const { finish, ends } = this.#told;
    const isChanged = this.#isChanged || this.#round > 1;
    const end =
      finish && (isChanged || finish.event.raw === "" ? this.#ended(finish.event, finish.data) : finish.event.raw);
    const rest = ends.map(({ event, data }) =>
      data && isChanged ? rewritten(event, { ...data, ...this.#identity(), usage: this.#sum }) : event.raw,
    );
    return [end ?? "", ...rest].join("");
  }

  #ended(event: StreamEvent, data: Fields): string {
    const [choice = {}] = objectsOf(data["choices"]);
    const told = { ...choice, finish_reason: this.#toldReason(choice["finish_reason"]) };
    return rewritten(event, {
      ...data,
      ...this.#identity(),
      choices: [told],
      ...(data["usage"] != null && { usage: this.#sum }),
    });
  }

  #identity(): Fields {
    const { id, created } = this.#first ?? {};
    return { ...(id !== undefined && { id }), ...(created !== undefined && { created }) };
  }

  merged(): Fields {
    const [choice = {}, ...more] = objectsOf(this.#body["choices"]);
    const { tool_calls: _, ...message } = (choice["message"] ?? {}) as Fields;
    const merged = {
      ...message,
      content: this.#shownText === "" ? (message["content"] ?? null) : this.#shownText,
      ...(this.#shown.length > 0 && { tool_calls: this.#shown }),
    };
    return {
      ...this.#body,
      choices: [{ ...choice, finish_reason: this.#toldReason(choice["finish_reason"]), message: merged }, ...more],
      ...(this.#sum && { usage: this.#sum }),
    };
  }
}

function callOf({ id, function: said }: Fields): OwnCall {
  const { name, arguments: input } = (said ?? {}) as Fields;
  return { id: String(id), name: String(name), input };
}

function definedOf(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}
