// Anthropic's cache of prompts as its documentation states it: an entry is written at each mark and nowhere else; from each mark,
// the last one first, the provider looks for an entry at that block and the 19 before it; what is shorter than the model's
// least prefix is not written. Entries are told apart by the model, those of messages by the choice of tools and the thinking, too.
import { createHash } from "node:crypto";

const LOOK_BACK = 20;

/** Blocks of a request in the order in which the provider caches them; what is deferred is not there. */
function promptOf({ tools = [], system = [], messages }) {
  const blocksOf = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : content);
  return [
    ...tools.filter(({ defer_loading: deferred }) => !deferred).map((block) => ({ level: "tools", block })),
    ...blocksOf(system).map((block) => ({ level: "system", block })),
    ...messages.flatMap(({ role, content }, at) => blocksOf(content).map((block) => ({ level: `messages ${at} ${role}`, block }))),
  ];
}

const takesMark = ({ block: { type, text } }) => !["thinking", "redacted_thinking"].includes(type) && text !== "";

/** A request without its marks, to compare with another: the short form of a text is a block. */
export function withoutMarks(body) {
  const { cache_control: _, ...rest } = body;
  return {
    ...rest,
    tools: undefined,
    system: undefined,
    messages: undefined,
    prompt: promptOf(body).map(({ level, block: { cache_control: __, ...block } }) => ({ level, block })),
  };
}

/** What a provider's cache holds. */
export class AnthropicCache {
  #written = new Map();
  #asRuns;
  #least;

  /**
   * `asRuns`: whether calls of tools in a row are one place to the search, and results in a row, as newer versions of the documentation
   * say. `least`: characters that a prefix must have.
   */
  constructor({ asRuns = false, least = 0 } = {}) {
    this.#asRuns = asRuns;
    this.#least = least;
  }

  /**
   * Takes a request. Returns how many blocks of it there are, how many were read, where it wrote, and how many blocks there are up to
   * the last entry that the request could have read at all.
   */
  send(body) {
    const prompt = promptOf(body);
    const places = this.#places(body, prompt);
    const last = prompt.findLastIndex(takesMark);
    const marks = prompt.flatMap(({ block }, at) => (block.cache_control || (body.cache_control && at === last) ? [at] : []));
    const read =
      marks
        .reverse()
        .map((mark) => this.#found(prompt, places, mark))
        .find((at) => at !== undefined) ?? -1;
    const readable = places.findLastIndex(({ hash }) => this.#written.has(hash));
    const written = marks.filter((at) => places[at].characters >= this.#least);
    for (const at of written) this.#written.set(places[at].hash, at);
    return { blocks: prompt.length, read: read + 1, readable: readable + 1, written, marks: marks.length };
  }

  /** Forgets what was written, as the provider does after some minutes. */
  forget() {
    this.#written.clear();
  }

  #places({ model, tool_choice: choice, thinking }, prompt) {
    const hash = createHash("sha256").update(JSON.stringify([model]));
    let characters = 0;
    let level = "";
    return prompt.map((one) => {
      const { cache_control: _, ...block } = one.block;
      if (one.level.startsWith("messages") && !level.startsWith("messages")) hash.update(JSON.stringify([choice ?? null, thinking ?? null]));
      level = one.level;
      const text = JSON.stringify([level, block]);
      characters += text.length;
      hash.update(`${text}\n`);
      return { hash: hash.copy().digest("hex"), characters };
    });
  }

  #found(prompt, places, mark) {
    let looked = 0;
    for (let at = mark; at >= 0; at -= 1) {
      const { type } = prompt[at].block;
      const isRun = this.#asRuns && ["tool_use", "tool_result"].includes(type) && prompt[at + 1]?.block.type === type && at < mark;
      if (!isRun) looked += 1;
      if (looked > LOOK_BACK) return undefined;
      if (this.#written.has(places[at].hash)) return at;
    }
    return undefined;
  }
}
