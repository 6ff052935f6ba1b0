// Server-sent events as they come in: each with the text that it came as, so that what is not changed passes as it is.
import { parseKeeping, stringifyKept } from "../boundary/exact-numbers.js";

/** An event. */
export interface StreamEvent {
  /** As it came, with the empty line behind it. */
  readonly raw: string;
  /** Empty where there is none, such as of a comment. */
  readonly name: string;
  /** Empty where there is none. */
  readonly data: string;
}

/** UTF-16 units of an event that are waited for. */
const MOST_UNITS = 2 ** 24;
/** Matches the end of an event. */
const END = /\r\n\r\n|\n\n|\r\r/;
const ENDS = new RegExp(END, "g");
const LONGEST_END = 4;

/** Cuts text into events. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  /** Pieces in which no event ends, and the last units of them: the end of an event may be torn. */
  #pieces: string[] = [];
  #units = 0;
  #last = "";

  /** Whether an event is too long to wait for its end: {@link EventReader.rest} has what came of it. */
  get isFull(): boolean {
    return this.#units > MOST_UNITS;
  }

  /** Takes bytes, and returns the events that are whole. */
  take(bytes: Uint8Array): StreamEvent[] {
    const piece = this.#decoder.decode(bytes, { stream: true });
    this.#pieces.push(piece);
    this.#units += piece.length;
    const near = this.#last + piece;
    this.#last = near.slice(-(LONGEST_END - 1));
    const events: StreamEvent[] = [];
    if (END.test(near)) {
      const text = this.#pieces.join("");
      let at = 0;
      for (const { 0: end, index } of text.matchAll(ENDS)) {
        events.push(eventOf(text.slice(at, index + end.length)));
        at = index + end.length;
      }
      const rest = text.slice(at);
      [this.#pieces, this.#units, this.#last] = [[rest], rest.length, rest.slice(-(LONGEST_END - 1))];
    }
    return events;
  }

  /** Returns the unfinished event at the end of a stream that was cut off. */
  rest(): string {
    const rest = this.#pieces.join("") + this.#decoder.decode();
    [this.#pieces, this.#units, this.#last] = [[], 0, ""];
    return rest;
  }
}

function eventOf(raw: string): StreamEvent {
  let name = "";
  const data: string[] = [];
  for (const line of raw.split(/\r\n|\n|\r/)) {
    const [, field, value = ""] = /^(event|data):? ?(.*)$/s.exec(line) ?? [];
    if (field === "event") name = value;
    else if (field === "data") data.push(value);
  }
  return { raw, name, data: data.join("\n") };
}

/** Reads the data of an event, with numbers that JavaScript would round as texts; undefined where it is no JSON object. */
export function dataOf({ data }: StreamEvent): Readonly<Record<string, unknown>> | undefined {
  if (data === "" || data[0] !== "{") return undefined;
  try {
    return parseKeeping(data) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

/** Writes an event as the one that it stands for was written. */
export function rewritten({ name }: Pick<StreamEvent, "name">, data: object): string {
  return `${name === "" ? "" : `event: ${name}\n`}data: ${stringifyKept(data)}\n\n`;
}
