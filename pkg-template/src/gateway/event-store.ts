// What a client may still ask for after its stream broke: messages of streams that are open, or ended a moment ago.

/** Messages that are kept for a client; the oldest are forgotten. */
const MAX_EVENTS = 200;
/** Characters of JSON that are kept for a client, and at least its last message. */
const MAX_CHARS = 4 * 2 ** 20;
/** Streams of requests whose answer is awaited. One that was cancelled gets none. */
const MAX_OPEN = 1_000;
/** The stream of a session that belongs to no request, as the SDK calls it: it is opened by GET. */
const OWN_STREAM = "_GET_stream";

interface StoredEvent {
  readonly stream: string;
  readonly number: number;
  readonly message: object;
  readonly chars: number;
}

/** Keeps messages of one session, as the transport of the SDK asks it to. Bounded by number and size. */
export class SessionEvents {
  readonly #events = new Map<string, StoredEvent>();
  /** Streams of requests that are not answered. */
  readonly #open = new Set<string>();
  /** Begins with the time: where a session goes on after a restart, its messages come after all that were before. */
  #last = Date.now();
  #chars = 0;

  async storeEvent(stream: string, message: object): Promise<string> {
    const number = (this.#last += 1);
    const id = `${stream}_${number}`;
    const chars = JSON.stringify(message).length;
    this.#events.set(id, { stream, number, message, chars });
    this.#chars += chars;
    if (isEmpty(message)) this.#open.add(stream);
    else if (!("method" in message)) this.#open.delete(stream);
    for (const oldest of this.#open) if (this.#open.size > MAX_OPEN) this.#open.delete(oldest);
    for (const [oldest, event] of this.#events) {
      if (this.#events.size <= 1 || (this.#events.size <= MAX_EVENTS && this.#chars <= MAX_CHARS)) break;
      this.#events.delete(oldest);
      this.#chars -= event.chars;
    }
    return id;
  }

  /** The stream that goes on after an event, also where the event itself is forgotten; nothing where no more will come. */
  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#placeOf(id)?.stream;
  }

  async replayEventsAfter(
    id: string,
    { send }: { send: (id: string, message: object) => Promise<void> },
  ): Promise<string> {
    const place = this.#placeOf(id);
    if (place === undefined) throw new Error("the event is not known any more");
    for (const [other, { stream, number, message }] of [...this.#events])
      if (stream === place.stream && number > place.number && !isEmpty(message)) await send(other, message);
    return place.stream;
  }

  #placeOf(id: string): Pick<StoredEvent, "stream" | "number"> | undefined {
    const [, stream, number] = /^(.+)_(\d+)$/s.exec(id) ?? [];
    if (stream === undefined) return undefined;
    const isKnown =
      stream === OWN_STREAM ||
      this.#open.has(stream) ||
      [...this.#events.values()].some((event) => event.stream === stream);
    return isKnown ? { stream, number: Number(number) } : undefined;
  }
}

/** Whether it only has an id: a stream of a request begins with such a message. */
function isEmpty(message: object): boolean {
  return Object.keys(message).length === 0;
}
