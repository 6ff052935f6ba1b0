// Server-sent events as they come in: each with the text that it came as, so that what is not changed passes as it is.

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

/** Cuts text into events. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** Where nothing was found yet. */
  #searched = 0;

  /** Takes bytes, and returns the events that are whole. Throws where one is too long to wait for: {@link EventReader.rest} has it. */
  take(bytes: Uint8Array): StreamEvent[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const events: StreamEvent[] = [];
    const end = /\r\n\r\n|\n\n|\r\r/g;
    let at = 0;
    end.lastIndex = Math.max(0, this.#searched - 3);
    for (let found = end.exec(this.#rest); found; found = end.exec(this.#rest)) {
      events.push(eventOf(this.#rest.slice(at, end.lastIndex)));
      at = end.lastIndex;
    }
    this.#rest = this.#rest.slice(at);
    this.#searched = this.#rest.length;
    if (this.#rest.length > MOST_UNITS) throw new RangeError("an event is too long");
    return events;
  }

  /** What is not whole: the end of a stream that was cut off. */
  rest(): string {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = "";
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

/** Reads the data of an event; undefined where it is no JSON object. */
export function dataOf({ data }: StreamEvent): Readonly<Record<string, unknown>> | undefined {
  if (data === "" || data[0] !== "{") return undefined;
  try {
    return JSON.parse(data) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

/** Writes an event as the one that it stands for was written. */
export function rewritten({ name }: Pick<StreamEvent, "name">, data: object): string {
  return `${name === "" ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}
