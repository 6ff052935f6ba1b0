// OpenAI's chat completions, whole and in chunks.
import { lastQuery } from "../adapters/openai-turn.js";
import { sumOf } from "../adapters/usage-sum.js";
import { errorOf, isSameSet, isSameText, leading, objectsOf } from "./dialect.js";
import type { AnswerMaker, Asked, Dialect, Fields, HeldEvent, OwnCall, RoundEnd, Visible } from "./dialect.js";
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

function blockOf(text: string): Fields {
  return { type: "text", text };
}

/** Adds a block to others. Texts and thoughts of Mistral come in pieces, of which those behind each other are one. */
function join(blocks: Fields[], block: Fields): void {
  const { type, text, thinking } = block;
  const last = blocks.at(-1);
  if (!last || last["type"] !== type || (type !== "text" && type !== "thinking")) blocks.push(block);
  else if (type === "text")
    blocks[blocks.length - 1] = { ...last, text: `${String(last["text"] ?? "")}${String(text ?? "")}` };
  else {
    const thoughts = [...objectsOf(last["thinking"])];
    for (const thought of objectsOf(thinking)) join(thoughts, thought);
    blocks[blocks.length - 1] = { ...last, thinking: thoughts };
  }
}

const BETWEEN_TEXTS = "\n\n";
/** Why an answer ended whose calls may have broken off, in the words of several providers. */
const BROKEN_OFF = [
  "length",
  "model_length",
  "content_filter",
  "sensitive",
  "error",
  "network_error",
  "insufficient_system_resource",
];
/** Texts beside the content, in which providers tell how a model came to its answer. Some want them back. */
const THOUGHTS = ["reasoning_content", "reasoning"];

/** A call of the present round. */
interface HeldCall {
  call: Fields;
  /** As the how manieth the client is told of it; undefined where it is not. */
  readonly place: number | undefined;
}

/** What ends a stream may have no data. */
interface HeldEnd {
  readonly event: StreamEvent;
  readonly data: Fields | undefined;
}

class ChatAnswer implements AnswerMaker {
  readonly #own: ReadonlySet<string>;
  /** The calls of the present round, and the last of each index. */
  #calls: HeldCall[] = [];
  #open = new Map<unknown, HeldCall>();
  #count = 0;
  #text = "";
  /** Content that came as blocks. */
  #blocks: Fields[] = [];
  #thoughts: Readonly<Record<string, string>> = {};
  #details: object[] = [];
  /** Whether the client knows whose answer it is. */
  #hasRole = false;
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
  #finish: HeldEvent | undefined;
  #ends: HeldEnd[] = [];
  #told: { readonly finish?: HeldEvent; readonly ends: readonly HeldEnd[] } = { ends: [] };
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
    const { content, tool_calls: given } = delta;
    const text = textOf(content);
    const joint = text === "" ? "" : this.#joint();
    this.#say(delta, text);
    const all = objectsOf(given);
    const calls = all.flatMap((call) => this.#call(call));
    const { tool_calls: _, ...rest } = delta;
    const changed = {
      ...rest,
      ...(joint !== "" && {
        content: typeof content === "string" ? joint + content : [blockOf(joint), ...objectsOf(content)],
      }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const isSame =
      joint === "" && this.#round === 0 && calls.length === all.length && calls.every((call, at) => call === all[at]);
    const isFirst = !this.#hasRole && rest["role"] != null;
    this.#hasRole ||= isFirst;
    if (choice["finish_reason"] == null) {
      if (isSame) return event.raw;
      const isEmpty =
        calls.length === 0 &&
        !isFirst &&
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

  /** Takes what a delta or a message says beside its calls. */
  #say(said: Fields, text: string): void {
    const { content } = said;
    if (Array.isArray(content) || this.#blocks.length > 0) {
      if (this.#blocks.length === 0 && this.#text !== "") this.#blocks.push(blockOf(this.#text));
      for (const block of typeof content === "string" ? [blockOf(content)] : objectsOf(content))
        join(this.#blocks, block);
    }
    this.#text += text;
    for (const name of THOUGHTS) {
      const more = said[name];
      if (typeof more === "string") this.#thoughts = { ...this.#thoughts, [name]: (this.#thoughts[name] ?? "") + more };
    }
    this.#details.push(...objectsOf(said["reasoning_details"]));
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
    const known = this.#open.get(index);
    const held = known && !isOther(known.call, piece) ? known : this.#begun(index, piece);
    held.call = joinedTo(held.call, piece);
    const { place } = held;
    if (place === undefined) {
      this.#isChanged = true;
      return [];
    }
    return [place === index || piece["index"] === undefined ? piece : { ...piece, index: place }];
  }

  #begun(index: unknown, piece: Fields): HeldCall {
    const held = { call: {}, place: this.#isOwn(piece) ? undefined : this.#count++ };
    this.#open.set(index, held);
    this.#calls.push(held);
    return held;
  }

  whole(body: Fields): void {
    this.#body = body;
    this.#usage = body["usage"] as Fields | undefined;
    const [choice = {}] = objectsOf(body["choices"]);
    // What came at once did not break off on its way.
    this.#reason = choice["finish_reason"] ?? "stop";
    const message = (choice["message"] ?? {}) as Fields;
    this.#say(message, textOf(message["content"]));
    this.#calls = objectsOf(message["tool_calls"]).map((call) => ({ call, place: undefined }));
  }

  end(): RoundEnd {
    const calls = this.#calls.map(({ call: { index: _, ...call } }): Fields => call);
    const isWhole = this.#reason != null && !BROKEN_OFF.includes(String(this.#reason));
    const own = isWhole ? calls.filter((call) => this.#isOwn(call)) : [];
    const shown = calls.filter((call) => !this.#isOwn(call));
    const said = isWhole ? calls : shown;
    this.#hasCalls = shown.length > 0;
    const isHiding = shown.length < calls.length;
    this.#isChanged ||= isHiding;
    this.#shown.push(...shown);
    if (this.#text !== "")
      this.#shownText += `${this.#shownText !== "" && !/\s$/.test(this.#shownText) ? BETWEEN_TEXTS : ""}${this.#text}`;
    this.#sum = this.#sum ? sumOf(this.#sum, this.#usage) : this.#usage;
    const message = {
      role: "assistant",
      content: this.#blocks.length > 0 ? this.#blocks : this.#text === "" ? null : this.#text,
      ...this.#thoughts,
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(said.length > 0 && { tool_calls: said }),
    };
    const isSaid = this.#text !== "" || said.length > 0;
    const usage = this.#usage;
    this.#next();
    const isOpen = own.length > 0 && !this.#hasCalls;
    return { own: own.map(callOf), isOpen, isHiding, said: isSaid ? [message] : [], usage };
  }

  #next(): void {
    [this.#calls, this.#open] = [[], new Map()];
    [this.#text, this.#blocks, this.#thoughts, this.#details] = ["", [], {}, []];
    [this.#reason, this.#usage] = [undefined, undefined];
    this.#round += 1;
    this.#told = { ...(this.#finish && { finish: this.#finish }), ends: this.#ends };
    [this.#finish, this.#ends] = [undefined, []];
  }

  #isOwn(call: Fields): boolean {
    return this.#own.has(String(nameOf(call)));
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
      content: this.#round === 1 || this.#shownText === "" ? (message["content"] ?? null) : this.#shownText,
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

/** Whether a piece begins another call: some providers give one index to all of them. Pieces that go on may repeat its id and its name. */
function isOther(call: Fields, piece: Fields): boolean {
  const [name, known] = [nameOf(piece), nameOf(call)];
  if (!name || !known) return false;
  const [id, before] = [piece["id"], call["id"]];
  return id && before ? id !== before : !id && name !== known;
}

function nameOf({ function: said }: Fields): unknown {
  return ((said ?? {}) as Fields)["name"];
}

/** Adds a piece to a call. Some providers repeat what was said before as empty texts. */
function joinedTo(call: Fields, piece: Fields): Fields {
  const { function: said, ...rest } = piece;
  const made = (call["function"] ?? {}) as Fields;
  const { arguments: more, ...named } = (said ?? {}) as Fields;
  return {
    ...call,
    ...newOf(rest, call),
    function: {
      ...made,
      ...newOf(named, made),
      arguments: `${String(made["arguments"] ?? "")}${String(more ?? "")}`,
    },
  };
}

function newOf(said: Fields, known: Fields): Fields {
  return Object.fromEntries(
    Object.entries(said).filter(([name, value]) => value != null && (value !== "" || known[name] === undefined)),
  );
}
