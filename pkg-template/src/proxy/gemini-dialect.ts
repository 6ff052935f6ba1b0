// Gemini's contents, whole and in chunks.
import { sumOf } from "../adapters/usage-sum.js";
import { withRounded } from "../boundary/exact-numbers.js";
import { declaringField, errorOf, isSameSet, isSameText, objectsOf } from "./dialect.js";
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

export const GEMINI: Dialect = {
  format: "gemini",
  field: "contents",
  read,
  offer: ({ name, description, schema }) => ({ name, description, parametersJsonSchema: schema }),
  place(contents, tools, own) {
    const at = tools.findIndex((tool) => declaringField(tool) !== undefined);
    // Models before Gemini 3 refuse functions beside tools of Google's.
    if (at === -1) return { messages: contents, tools: tools.length > 0 ? tools : [{ functionDeclarations: own }] };
    const placed = tools.map((tool, place) => {
      const field = declaringField(tool);
      return place === at && field ? { ...tool, [field]: [...objectsOf(tool[field]), ...own] } : tool;
    });
    return { messages: contents, tools: placed };
  },
  answer: (own) => new GeminiAnswer(own),
  results: (answered) => (answered.length === 0 ? [] : [{ role: "user", parts: answered.map(resultOf) }]),
  putBack(contents, at, { said, beside, ids, text }) {
    const answer = contents[at] as Fields | undefined;
    const parts = objectsOf(answer?.["parts"]);
    const isSaid =
      answer?.["role"] === "model" &&
      isSameSet(namesOf(parts), ids) &&
      (ids.length > 0 || isSameText(textsOf(parts), text));
    if (!isSaid) return undefined;
    const results = objectsOf(beside).flatMap((content) => objectsOf(content["parts"]));
    const next = contents[at + 1] as Fields | undefined;
    const whole = asOfClient(said, parts);
    if (results.length === 0) return { messages: whole, taken: 1 };
    return next
      ? { messages: [...whole, { ...next, parts: [...results, ...objectsOf(next["parts"])] }], taken: 2 }
      : undefined;
  },
  failure: (status, body) =>
    rewritten(
      { name: "" },
      {
        error: {
          code: status,
          message: errorOf(status, body).message,
          status: ((body["error"] ?? {}) as Fields)["status"] ?? "INTERNAL",
        },
      },
    ),
};

function read(body: Fields): Asked | string {
  const { contents, cachedContent: cached, cached_content: other = cached } = body;
  if (!Array.isArray(contents)) return "unread";
  if (other != null) return "held";
  const settings = (body["generationConfig"] ?? body["generation_config"] ?? {}) as Fields;
  if (Number(settings["candidateCount"] ?? settings["candidate_count"] ?? 1) > 1) return "several_answers";
  const system = body["systemInstruction"] ?? body["system_instruction"];
  const list = contents as readonly Fields[];
  const asks = list.filter(
    ({ role, parts }) =>
      (role === "user" || role === undefined) && objectsOf(parts).some(({ text }) => typeof text === "string"),
  );
  return {
    messages: list,
    query: textsOf(objectsOf(asks.at(-1)?.["parts"])),
    leading: 0,
    ...(system != null && { before: JSON.stringify(system) }),
  };
}

function textsOf(parts: readonly Fields[]): string {
  return parts.flatMap(({ text, thought }) => (typeof text === "string" && thought !== true ? [text] : [])).join("");
}

/** Names calls, most of which have no id. */
function namesOf(parts: readonly Fields[]): readonly string[] {
  return parts.flatMap((part) => nameOf(part) ?? []);
}

function nameOf({ functionCall: call }: Fields): string | undefined {
  return call ? `${String((call as Fields)["name"])} ${JSON.stringify((call as Fields)["args"] ?? {})}` : undefined;
}

/** Writes what was said with the client's own calls as the client has them: it may give them ids, which its results name. */
function asOfClient(said: readonly object[], parts: readonly Fields[]): readonly object[] {
  const left = [...parts];
  return (said as readonly Fields[]).map((content) => ({
    ...content,
    parts: objectsOf(content["parts"]).map((part) => {
      const name = nameOf(part);
      const at = name === undefined ? -1 : left.findIndex((one) => nameOf(one) === name);
      return at === -1 ? part : left.splice(at, 1)[0];
    }),
  }));
}

function resultOf({ id, name, output }: AnsweredCall): object {
  // An id that was made up here is none of the provider's.
  return { functionResponse: { ...(!id.startsWith(MADE_UP) && { id }), name, response: { output } } };
}

const MADE_UP = "contextweaver:";

/**
 * Gemini's contents in the envelope of Code Assist, which a Gemini CLI speaks whose user has logged in with Google: the request stands in
 * `request`, beside the model and the project, and each answer in `response`.
 */
export const CODE_ASSIST: Dialect = {
  ...GEMINI,
  within: "request",
  answer: (own) => new GeminiAnswer(own, "response"),
};

class GeminiAnswer implements AnswerMaker {
  readonly #own: ReadonlySet<string>;
  /** The member of a body that is the answer; undefined where the body is. */
  readonly #within: string | undefined;
  /** What stood around the last answer. */
  #around: Fields = {};
  #parts: Fields[] = [];
  #shown: Fields[] = [];
  #round = 0;
  #calls = 0;
  /** Whether the present round has called what is answered here. */
  #hasOwn = false;
  #reason: unknown;
  #usage: Fields | undefined;
  #sum: Fields | undefined;
  /** The end of a round, told if it is the last. */
  #end: HeldEvent | undefined;
  #told: HeldEvent | undefined;
  #body: Fields = {};

  constructor(own: ReadonlySet<string>, within?: string) {
    [this.#own, this.#within] = [own, within];
  }

  /** The answer in a body, around which stands what it is written with again. */
  #taken(body: Fields | undefined): Fields | undefined {
    if (this.#within === undefined || !body) return body;
    this.#around = body;
    return objectsOf([body[this.#within]])[0];
  }

  /** Puts an answer where it was taken from. */
  #put(answer: Fields): Fields {
    return this.#within === undefined ? answer : { ...this.#around, [this.#within]: answer };
  }

  get visible(): Visible {
    // As a client's history is read.
    return { ids: namesOf(withRounded(this.#shown)), text: textsOf(this.#shown) };
  }

  event(event: StreamEvent): string {
    const data = this.#taken(dataOf(event));
    const [candidate] = objectsOf(data?.["candidates"]);
    if (!data || !candidate) return event.raw;
    this.#usage = (data["usageMetadata"] as Fields | undefined) ?? this.#usage;
    const content = (candidate["content"] ?? {}) as Fields;
    const parts = objectsOf(content["parts"]);
    this.#parts.push(...parts);
    const shown = parts.filter((part) => !this.#isOwn(part));
    this.#hasOwn ||= shown.length < parts.length;
    const reason = candidate["finishReason"];
    if (reason != null) this.#reason = reason;
    const isSame = shown.length === parts.length && this.#round === 0;
    if (reason == null || !this.#hasOwn) {
      if (isSame) return event.raw;
      if (shown.length === 0 && reason == null) return "";
      return this.#written(event, data, { ...candidate, content: { ...content, parts: shown } }, reason != null);
    }
    this.#end = { event, data: { ...data, candidates: [{ ...candidate, content: { ...content, parts: [] } }] } };
    const { finishReason: _, ...open } = candidate;
    return shown.length === 0
      ? ""
      : this.#written(event, data, { ...open, content: { ...content, parts: shown } }, false);
  }

  /** Writes a chunk; one that ends the answer says what all rounds cost. */
  #written(event: StreamEvent, data: Fields, candidate: Fields, isEnd: boolean): string {
    const usage = isEnd && this.#sum ? sumOf(this.#sum, data["usageMetadata"] as Fields | undefined) : undefined;
    return rewritten(event, this.#put({ ...data, candidates: [candidate], ...(usage && { usageMetadata: usage }) }));
  }

  whole(given: Fields): void {
    const body = this.#taken(given) ?? {};
    this.#body = body;
    this.#usage = body["usageMetadata"] as Fields | undefined;
    const [candidate = {}] = objectsOf(body["candidates"]);
    this.#reason = candidate["finishReason"];
    this.#parts.push(...objectsOf(((candidate["content"] ?? {}) as Fields)["parts"]));
  }

  end(): RoundEnd {
    const parts = this.#parts;
    const isWhole = this.#reason === "STOP" || this.#reason == null;
    const shown = parts.filter((part) => !this.#isOwn(part));
    const own = isWhole ? parts.filter((part) => this.#isOwn(part)).map((part) => this.#callOf(part)) : [];
    const said = isWhole ? parts : shown;
    const isOpen = own.length > 0 && namesOf(shown).length === 0;
    this.#shown.push(...shown);
    this.#sum = this.#sum ? sumOf(this.#sum, this.#usage) : this.#usage;
    const {
      promptTokenCount: prompt_tokens,
      candidatesTokenCount: written,
      thoughtsTokenCount: thought = 0,
      cachedContentTokenCount,
    } = this.#usage ?? {};
    // Gemini counts what it thought beside what it said, of which there may be nothing.
    const completion_tokens =
      written === undefined && thought === 0 ? undefined : Number(written ?? 0) + Number(thought);
    const usage = this.#usage && { prompt_tokens, completion_tokens, cachedContentTokenCount };
    this.#told = this.#end;
    [this.#parts, this.#hasOwn, this.#end, this.#reason, this.#usage] = [[], false, undefined, undefined, undefined];
    this.#round += 1;
    const isHiding = shown.length < parts.length;
    return { own, isOpen, isHiding, said: said.length > 0 ? [{ role: "model", parts: said }] : [], usage };
  }

  #isOwn({ functionCall: call }: Fields): boolean {
    return typeof call === "object" && call !== null && this.#own.has(String((call as Fields)["name"]));
  }

  #callOf({ functionCall: call }: Fields): OwnCall {
    const { id, name, args } = call as Fields;
    this.#calls += 1;
    return { id: typeof id === "string" ? id : `${MADE_UP}${this.#calls}`, name: String(name), input: args ?? {} };
  }

  close(): string {
    if (!this.#told) return "";
    const { event, data } = this.#told;
    return rewritten(event, this.#put({ ...data, ...(this.#sum && { usageMetadata: this.#sum }) }));
  }

  merged(): Fields {
    const [candidate = {}, ...more] = objectsOf(this.#body["candidates"]);
    const content = { ...((candidate["content"] ?? {}) as Fields), parts: this.#shown };
    return this.#put({
      ...this.#body,
      candidates: [{ ...candidate, content }, ...more],
      ...(this.#sum && { usageMetadata: this.#sum }),
    });
  }
}
