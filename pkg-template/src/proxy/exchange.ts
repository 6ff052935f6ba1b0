// One request of a conversation: what is sent for it, in as many rounds with the model as it takes, and the one answer that the client gets.
import type { Bytes } from "../types.js";
import { joined, readUpTo } from "../boundary/bytes.js";
import { parseKeeping, stringifyKept, withRounded } from "../boundary/exact-numbers.js";
import { bodyOf, chunksOf, objectOf, streamOf } from "./bodies.js";
import { OWN_TOOLS } from "./conversation.js";
import type { Conversation, Outgoing, Request as Asked } from "./conversation.js";
import type { AnswerMaker, Fields, RoundEnd } from "./dialect.js";
import { EventReader } from "./event-stream.js";
import { responseHeaders } from "./headers.js";
import type { ModelCalls } from "./model-calls.js";
import type { StatsBook } from "./stats.js";

/** A request's surroundings: its conversation, the counts, and the ways to send, end and report. */
export interface ExchangeContext {
  readonly conversation: Conversation;
  readonly request: Asked;
  readonly stats: StatsBook;
  readonly max_rounds: number;
  /** Sends a body to where the request goes. */
  readonly send: (body: string | Bytes) => Promise<Response>;
  /** Ends what is under way at the provider. */
  readonly abort: (reason: unknown) => void;
  /** Tells of each call of the model. */
  readonly calls: ModelCalls;
  /** Is told what went wrong here. */
  readonly failed: (error: unknown) => void;
  /** Stores what an answer has added to the conversation, where that outlives the process. */
  readonly save: () => Promise<void>;
  /** Is called once, when the client has all or went. */
  readonly ended: () => void;
}

/** Bytes of an answer that is read before it is passed on. */
const MOST_ANSWER = 2 ** 25;
/** Bytes of an error that are read. */
const MOST_ERROR = 2 ** 16;
const ENCODER = new TextEncoder();

/** Whether an answer comes as events. */
function isStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
}

/** Makes the one answer of an exchange. */
export class Exchange {
  readonly #context: ExchangeContext;
  readonly #maker: AnswerMaker;
  /** Messages of earlier rounds, with the results. */
  #said: readonly object[];
  #rounds = 1;
  /** Bytes of events that were read. */
  #bytes = 0;
  #isOver = false;

  constructor(context: ExchangeContext) {
    this.#context = context;
    this.#maker = context.conversation.dialect.answer(OWN_TOOLS, context.request.body);
    this.#said = context.conversation.pending;
  }

  /** Passes an answer on: as it comes where nothing was added to the request, which only reads what it cost. */
  answer(first: Response, outgoing: Outgoing, status: string): Response | Promise<Response> {
    const headers = responseHeaders(first.headers, status);
    const init = { status: first.status, statusText: first.statusText, headers };
    const { body } = first;
    if (!body) {
      this.#over();
      return new Response(null, init);
    }
    if (!first.ok) return new Response(this.#stream(chunksOf(body)), init);
    if (outgoing.isWhole)
      return new Response(this.#stream(isStream(first) ? this.#observed(body) : this.#copied(body)), init);
    if (!isStream(first)) return this.#whole(first, init);
    headers.delete("content-length");
    return new Response(this.#stream(this.#told(body)), init);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#context.calls.end();
    this.#context.ended();
  }

  #stream(parts: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> {
    const over = (): void => this.#over();
    const { calls } = this.#context;
    const watched = (async function* () {
      try {
        yield* parts;
      } catch (error) {
        calls.end({ error_type: "broken_off" });
        throw error;
      } finally {
        over();
      }
    })();
    return streamOf(watched, (reason) => {
      calls.end({ error_type: "cancelled" });
      this.#context.abort(reason);
      over();
    });
  }

  /** Passes an answer on that comes at once, and reads what it cost behind it. */
  async *#copied(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of chunksOf(body)) {
      yield part;
      size += part.length;
      if (size <= MOST_ANSWER) parts.push(part);
    }
    const said = size <= MOST_ANSWER ? objectOf(joined(parts)) : undefined;
    if (!said) return;
    this.#maker.whole(said.body);
    this.#observe(this.#maker.end());
    await this.#context.save();
  }

  /** Passes a stream on byte for byte, and reads what it cost behind it. */
  async *#observed(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    const events = new EventReader();
    let isRead = true;
    for await (const part of chunksOf(body)) {
      yield part;
      if (!isRead) continue;
      isRead = this.#read(events, part) !== undefined;
    }
    if (!isRead) return;
    this.#observe(this.#maker.end());
    await this.#context.save();
  }

  #observe(end: RoundEnd): void {
    const { conversation, request, calls } = this.#context;
    calls.end(end);
    conversation.observe(request.body, end);
  }

  /** Tells a stream round by round. */
  async *#told(first: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for (let body = first; ; ) {
      const events = new EventReader();
      let isRead = true;
      for await (const part of chunksOf(body)) {
        const text = isRead ? this.#read(events, part) : undefined;
        if (text === undefined) {
          if (isRead) yield ENCODER.encode(this.#unread() + events.rest());
          isRead = false;
          yield part;
        } else if (text !== "") yield ENCODER.encode(text);
      }
      const torn = events.rest();
      if (torn !== "") yield ENCODER.encode(torn);
      if (!isRead) return;
      const next = await this.#next(this.#maker.end());
      if (!next) {
        yield ENCODER.encode(this.#maker.close());
        return;
      }
      if (next.ok && isStream(next) && next.body) body = next.body;
      else {
        yield ENCODER.encode(await this.#failure(next));
        return;
      }
    }
  }

  /** Returns the text that the client gets for a part; undefined for what is too long to be read, which passes as it comes. */
  #read(events: EventReader, part: Uint8Array): string | undefined {
    this.#bytes += part.length;
    if (this.#bytes > MOST_ANSWER || events.isFull) return undefined;
    let text = "";
    for (const event of events.take(part)) text += this.#maker.event(event);
    return text;
  }

  /** What was held of a stream that is read no further. */
  #unread(): string {
    this.#maker.end();
    return this.#maker.close();
  }

  async #failure(response: Response): Promise<string> {
    const { bytes, rest } = await readUpTo(response.body, MOST_ERROR);
    await rest?.cancel();
    return this.#context.conversation.dialect.failure(response.ok ? 502 : response.status, objectOf(bytes)?.body ?? {});
  }

  /** Makes an answer that comes at once. */
  async #whole(first: Response, init: ResponseInit): Promise<Response> {
    for (let response = first; ; ) {
      const read = await readUpTo(response.body, MOST_ANSWER);
      const said = read.rest ? undefined : objectOf(read.bytes, parseKeeping);
      if (!response.ok || !said) {
        const of =
          response === first
            ? init
            : { status: response.status, headers: responseHeaders(response.headers, "shortened") };
        return new Response(this.#stream(chunksOf(new Response(bodyOf(read)).body)), of);
      }
      this.#maker.whole(said.body);
      const end = this.#maker.end();
      const isUntouched = this.#rounds === 1 && !end.isHiding;
      const next = await this.#next(end);
      if (next) {
        response = next;
        continue;
      }
      this.#over();
      if (isUntouched) return new Response(read.bytes, init);
      const headers = new Headers(init.headers);
      headers.delete("content-length");
      return new Response(stringifyKept(this.#maker.merged()), { ...init, headers });
    }
  }

  /** Takes the end of a round: the answer to the next one, or nothing where the client has all. */
  async #next(end: RoundEnd): Promise<Response | undefined> {
    const { conversation, request, stats, max_rounds, send, save } = this.#context;
    const { dialect } = conversation;
    this.#observe(end);
    const isLast = this.#rounds > max_rounds;
    const answered = await conversation.answer(withRounded(end.own), this.#rounds >= max_rounds);
    const results = dialect.results(answered);
    stats.inner_calls += answered.length;
    if (!end.isOpen || isLast) {
      const hasMore = this.#said.length > 0 || results.length > 0;
      if (hasMore) conversation.keep(request, this.#maker.visible, this.#saidWith(end), results);
      await save();
      return undefined;
    }
    this.#said = [...this.#saidWith(end), ...results];
    conversation.remember(request, this.#said);
    this.#rounds += 1;
    stats.inner_rounds += 1;
    const following = this.#following(request);
    await save();
    const response = await send(following.text);
    if (!response.ok) conversation.failed(following);
    return response;
  }

  /** What was said so far, with numbers as the log has them: those of the model are kept for the client. */
  #saidWith({ said }: RoundEnd): readonly object[] {
    return [...this.#said, ...withRounded(said)];
  }

  /** What is sent in the next round: the request as it came where what was read does not fit. */
  #following(request: Asked): Pick<Outgoing, "text" | "saved"> {
    const { conversation } = this.#context;
    try {
      return conversation.send(request, this.#said);
    } catch (error) {
      this.#context.failed(error);
      this.#said = [];
      return { text: request.text, saved: 0 };
    }
  }
}

/** Names the model of a body, for a log. */
export function modelOf(body: Fields): { readonly model?: string } {
  const { model } = body;
  return typeof model === "string" ? { model: model.slice(0, 100) } : {};
}
