// What a client may still ask for after its stream broke: messages of streams that are open, or ended a moment ago.

/** Messages that are kept for a client; the oldest are forgotten, and with them the way to go on from before. */
const MAX_EVENTS = 200;
/** Characters of JSON that are kept for a client, and at least its last message. */
const MAX_CHARS = 4 * 2 ** 20;

interface StoredEvent {
  readonly stream: string;
  readonly message: object;
  readonly chars: number;
}

/** Keeps messages of one session, as the transport of the SDK asks it to. Bounded by number and size. */
export class SessionEvents {
  readonly #events = new Map<string, StoredEvent>();
  #last = 0;
  #chars = 0;

  async storeEvent(stream: string, message: object): Promise<string> {
    this.#last += 1;
    const id = `${stream}_${this.#last}`;
    const chars = JSON.stringify(message).length;
    this.#events.set(id, { stream, message, chars });
    this.#chars += chars;
    for (const [oldest, event] of this.#events) {
      if (this.#events.size <= 1 || (this.#events.size <= MAX_EVENTS && this.#chars <= MAX_CHARS)) break;
      this.#events.delete(oldest);
      this.#chars -= event.chars;
    }
    return id;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.get(id)?.stream;
  }

  async replayEventsAfter(
    id: string,
    { send }: { send: (id: string, message: object) => Promise<void> },
  ): Promise<string> {
    const stream = this.#events.get(id)?.stream;
    if (stream === undefined) throw new Error("the event is not known any more");
    let isAfter = false;
    for (const [other, event] of [...this.#events]) {
      // A stream begins with an empty message that only has an id.
      if (isAfter && event.stream === stream && Object.keys(event.message).length > 0) await send(other, event.message);
      isAfter ||= other === id;
    }
    return stream;
  }
}
