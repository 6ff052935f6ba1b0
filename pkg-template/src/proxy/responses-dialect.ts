// OpenAI's responses, whole and as events.
import { lastQuery } from "../adapters/openai-turn.js";
import { sumOf } from "../adapters/usage-sum.js";
import { errorOf, isSameSet, isSameText, leading, objectsOf } from "./dialect.js";
import type { AnswerMaker, Asked, Dialect, Fields, HeldEvent, OwnCall, RoundEnd, Visible } from "./dialect.js";
import { dataOf, rewritten } from "./event-stream.js";
import type { StreamEvent } from "./event-stream.js";

export const RESPONSES: Dialect = {
  format: "openai-responses",
  field: "input",
  read,
  offer: ({ name, description, schema }) => ({
    type: "function",
    name,
    description,
    parameters: schema,
    strict: false,
  }),
  place(messages, given, own) {
    const items = messages as readonly Fields[];
    const at = given.length > 0 ? -1 : items.map(({ type }) => type).lastIndexOf(TOOLS_ITEM);
    const { tools } = items[at] ?? {};
    if (!Array.isArray(tools)) return { messages, tools: [...given, ...own] };
    return {
      messages: items.map((item, place) =>
        place === at ? { ...item, tools: [...(tools as unknown[]), ...own] } : item,
      ),
      tools: [],
    };
  },
  answer: (own, body) => new ResponsesAnswer(own, body),
  results: (answered) => answered.map(({ id, output }) => ({ type: "function_call_output", call_id: id, output })),
  putBack(messages, at, { said, beside, ids, text }) {
    const answer: Fields[] = [];
    for (const item of (messages as readonly Fields[]).slice(at)) {
      if (!isOfModel(item)) break;
      answer.push(item);
    }
    if (answer.length === 0) return undefined;
    const isSaid = isSameSet(callsOf(answer), ids) && (ids.length > 0 || isSameText(textsOf(answer), text));
    return isSaid ? { messages: [...said, ...beside], taken: answer.length } : undefined;
  },
  failure: (status, body) => {
    const { type, message } = errorOf(status, body);
    const name = "response.failed";
    return rewritten(
      { name },
      {
        type: name,
        response: {
          object: "response",
          status: "failed",
          output: [],
          error: { code: ((body["error"] ?? {}) as Fields)["code"] ?? type, message },
        },
      },
    );
  },
};

function read(body: Fields): Asked | string {
  const { input, instructions, background } = body;
  // What the provider holds cannot be changed here, nor what runs when nobody listens.
  if (
    body["previous_response_id"] != null ||
    body["conversation"] != null ||
    body["prompt"] != null ||
    background === true
  )
    return "held";
  const messages = typeof input === "string" ? [{ role: "user", content: input }] : (input as readonly object[]);
  if (!Array.isArray(messages)) return "unread";
  if (objectsOf(messages).some(isReference)) return "held";
  return {
    messages,
    query: lastQuery(messages),
    leading: leading(messages, isOfNobody),
    ...(typeof instructions === "string" && { before: instructions }),
  };
}

/** Whether an item is only named, and what it says is held by the provider. */
function isReference({ type, id, ...rest }: Fields): boolean {
  return type === "item_reference" || (type == null && typeof id === "string" && Object.keys(rest).length === 0);
}

/** Whether an item is no part of the dialogue: neither a message, nor what a model thought or called, nor a result. */
function isOfNobody({ type, role }: Fields): boolean {
  return role === undefined && type !== "message" && type !== "reasoning" && !/_(?:call|output)$/.test(String(type));
}

function isOfModel({ type, role }: Fields): boolean {
  return role === undefined ? !String(type).endsWith("_output") : role === "assistant";
}

/** Ids of the calls that the client runs. */
function callsOf(items: readonly Fields[]): readonly string[] {
  return items.flatMap(({ type, call_id: id }) =>
    typeof id === "string" && String(type).endsWith("_call") ? [id] : [],
  );
}

/** Whether an item is reasoning that only a provider which has kept it can take back. */
function isUnstored({ type, encrypted_content: encrypted }: Fields): boolean {
  return type === "reasoning" && typeof encrypted !== "string";
}

function textsOf(items: readonly Fields[]): string {
  const messages = items.filter(({ type, role }) => type === "message" || role === "assistant");
  return messages
    .map(({ content }) =>
      typeof content === "string"
        ? content
        : objectsOf(content)
            .map(({ text }) => String(text ?? ""))
            .join(""),
    )
    .join("");
}

/** An item with tools, for agents that tell of them in the conversation. */
const TOOLS_ITEM = "additional_tools";
const END = ["response.completed", "response.incomplete", "response.failed"];
const BEGIN = ["response.created", "response.in_progress", "response.queued"];

class ResponsesAnswer implements AnswerMaker {
  readonly #own: ReadonlySet<string>;
  /** Whether the provider keeps what it says. */
  readonly #isStored: boolean;
  /** Where an item of the present round stands for the client; hidden ones do not. */
  #places = new Map<number, number>();
  #count = 0;
  /** Events that were told. */
  #told = 0;
  #items: Fields[] = [];
  /** Where those stand. */
  readonly #done = new Set<number>();
  /** Ends of reasoning, told once something of the client's follows: by itself the provider does not take it back. */
  #held: (HeldEvent & { readonly place: Fields })[] = [];
  #isStream = false;
  #round = 0;
  #isChanged = false;
  #shown: Fields[] = [];
  /** The end of the present round with what it says of the answer. Those of the last round are told. */
  #end: HeldEvent | undefined;
  #response: Fields = {};
  #last: { readonly end: HeldEvent | undefined; readonly response: Fields } = { end: undefined, response: {} };
  #sum: Fields | undefined;

  constructor(own: ReadonlySet<string>, { store }: Fields) {
    this.#own = own;
    this.#isStored = store !== false;
  }

  get visible(): Visible {
    return { ids: callsOf(this.#shown), text: textsOf(this.#shown) };
  }

  event(event: StreamEvent): string {
    const data = dataOf(event);
    this.#isStream = true;
    if (!data) return event.raw;
    const type = String(data["type"]);
    if (BEGIN.includes(type)) return this.#round === 0 ? this.#tell(event, data) : "";
    if (END.includes(type)) {
      this.#end = { event, data };
      this.#response = (data["response"] ?? {}) as Fields;
      return "";
    }
    const index = data["output_index"];
    if (typeof index !== "number") return this.#tell(event, data);
    const item = (data["item"] ?? {}) as Fields;
    let before = "";
    if (type === "response.output_item.added" && !this.#isOwn(item)) {
      this.#places.set(index, this.#count++);
      if (item["type"] !== "reasoning") before = this.#release();
    }
    if (type === "response.output_item.done") {
      // What ends a second time was told, and is not run again.
      if (this.#done.has(index)) return "";
      this.#done.add(index);
      this.#items.push(item);
      if (item["type"] === "reasoning") {
        this.#held.push({ event, data, place: this.#placed(data) });
        return "";
      }
      if (!this.#isOwn(item)) this.#shown.push(item);
    }
    if (this.#places.get(index) === undefined) {
      this.#isChanged = true;
      return "";
    }
    return before + this.#tell(event, data, this.#placed(data));
  }

  /** Tells the ends of reasoning that were held. */
  #release(): string {
    const told = this.#held.map(({ event, data, place }) => this.#tell(event, data, place)).join("");
    this.#shown.push(...this.#held.map(({ data }) => data["item"] as Fields));
    this.#held = [];
    return told;
  }

  #placed(data: Fields): Fields {
    const place = this.#places.get(Number(data["output_index"]));
    return place === undefined || place === data["output_index"] ? data : { ...data, output_index: place };
  }

  /** Writes an event with what it is for the client, and with its number. */
  #tell(event: StreamEvent, data: Fields, told = data): string {
    const number = data["sequence_number"];
    const isNumbered = typeof number === "number";
    const isSame = told === data && (!isNumbered || number === this.#told);
    const text = isSame ? event.raw : rewritten(event, isNumbered ? { ...told, sequence_number: this.#told } : told);
    this.#told += 1;
    return text;
  }

  whole(body: Fields): void {
    this.#response = body;
    for (const item of objectsOf(body["output"])) this.#items.push(item);
  }

  end(): RoundEnd {
    const items = this.#items.length > 0 ? this.#items : [...objectsOf(this.#response["output"])];
    const isWhole = this.#response["status"] === "completed";
    const own = isWhole ? items.filter((item) => this.#isOwn(item)) : [];
    const shown = items.filter((item) => !this.#isOwn(item));
    const hasCalls = callsOf(shown).length > 0;
    const isOpen = own.length > 0 && !hasCalls;
    const isHiding = shown.length < items.length;
    this.#isChanged ||= isHiding;
    const said = (isWhole ? items : shown).filter((item) => this.#isStored || !isUnstored(item));
    // Reasoning that led to nothing but what is answered here is put back with it.
    const isBare = isOpen && shown.every(({ type }) => type === "reasoning");
    if (isBare) this.#held = [];
    else if (!this.#isStream) this.#shown.push(...shown);
    const usage = this.#response["usage"] as Fields | undefined;
    this.#sum = this.#sum ? sumOf(this.#sum, usage) : (usage ?? undefined);
    [this.#items, this.#places] = [[], new Map()];
    this.#last = { end: this.#end, response: this.#response };
    [this.#end, this.#response] = [undefined, {}];
    this.#done.clear();
    this.#round += 1;
    return { own: own.map(callOf), isOpen, isHiding, said, usage: usage ?? undefined };
  }

  #isOwn({ type, name }: Fields): boolean {
    return type === "function_call" && this.#own.has(String(name));
  }

  close(): string {
    const held = this.#release();
    if (!this.#last.end) return held;
    const { event, data } = this.#last.end;
    if (!this.#isChanged && this.#round === 1) return held + this.#tell(event, data);
    return held + this.#tell(event, data, { ...data, response: this.merged() });
  }

  merged(): Fields {
    return { ...this.#last.response, output: this.#shown, ...(this.#sum && { usage: this.#sum }) };
  }
}

function callOf({ call_id: id, name, arguments: input }: Fields): OwnCall {
  return { id: String(id), name: String(name), input };
}
