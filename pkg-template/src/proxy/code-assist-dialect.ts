// Gemini's contents in the envelope of Code Assist, which a Gemini CLI speaks whose user has logged in with Google: the request stands in
// `request`, beside the model and the project, and each answer in `response`.
import { GEMINI } from "./gemini-dialect.js";
import type { AnswerMaker, Dialect, Fields, RoundEnd, Visible } from "./dialect.js";
import { objectsOf } from "./dialect.js";
import { dataOf, rewritten } from "./event-stream.js";
import type { StreamEvent } from "./event-stream.js";

export const CODE_ASSIST: Dialect = { ...GEMINI, within: "request", answer: (own) => new EnvelopedAnswer(own) };

/** What the maker inside is given as the text of an event, to tell what it leaves as it is. */
const AS_IT_CAME = "\0";

class EnvelopedAnswer implements AnswerMaker {
  readonly #inner: AnswerMaker;
  /** What stood around the last answer. */
  #around: Fields = {};

  constructor(own: ReadonlySet<string>) {
    this.#inner = GEMINI.answer(own);
  }

  get visible(): Visible {
    return this.#inner.visible;
  }

  event(event: StreamEvent): string {
    const data = dataOf(event);
    const [response] = objectsOf([data?.["response"]]);
    if (!data || !response) return event.raw;
    this.#around = data;
    const text = this.#inner.event({ ...event, raw: AS_IT_CAME, data: JSON.stringify(response) });
    return text === AS_IT_CAME ? event.raw : this.#enveloped(text);
  }

  /** Puts an event that the maker inside has written into the envelope. */
  #enveloped(text: string): string {
    const response = dataOf({ raw: text, name: "", data: text.replace(/^data: /, "").trimEnd() });
    return response ? rewritten({ name: "" }, { ...this.#around, response }) : text;
  }

  whole(body: Fields): void {
    this.#around = body;
    this.#inner.whole(objectsOf([body["response"]])[0] ?? {});
  }

  end(): RoundEnd {
    return this.#inner.end();
  }

  close(): string {
    return this.#enveloped(this.#inner.close());
  }

  merged(): Fields {
    return { ...this.#around, response: this.#inner.merged() };
  }
}
