// What was handed over of a conversation, so that only what comes after it crosses to the engine again. Strings are shared
// with the caller's messages, so that comparing and remembering them cost no more than their number.
import { isPlain } from "../boundary/foreign-values.js";
import type { MessageFormat } from "../messages/message-types.js";

/** What is remembered of a value: text and numbers as they are, the rest by shape. */
type Memory =
  | unknown[]
  | MemoryOfObject
  | MemoryOfBytes
  | MemoryOfInstance
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined;

class MemoryOfObject {
  readonly keys: readonly string[];
  readonly values: readonly Memory[];
  constructor(keys: readonly string[], values: readonly Memory[]) {
    this.keys = keys;
    this.values = values;
  }
}

/** Bytes are compared by where they are and how many; who writes into them has another message only for the engine. */
class MemoryOfBytes {
  readonly bytes: object;
  readonly length: number;
  constructor(bytes: object, length: number) {
    this.bytes = bytes;
    this.length = length;
  }
}

/** Instances of classes are compared by identity: what they hold may not show. */
class MemoryOfInstance {
  readonly instance: object;
  constructor(instance: object) {
    this.instance = instance;
  }
}

/** Values that are compared or remembered at a time: a small graph of shared objects has paths without end. */
const MOST_STEPS = 2 ** 22;
let steps = 0;

function step(): void {
  steps += 1;
  if (steps > MOST_STEPS) throw new Error("too many values to compare");
}

function remember(value: unknown): Memory {
  step();
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null)
    return value as string | number | bigint | boolean | null | undefined;
  if (Array.isArray(value)) {
    // The holes of a sparse array are steps, too.
    if (!(value.length <= MOST_STEPS)) throw new Error("too many values to compare");
    return value.map(remember);
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return new MemoryOfBytes(value, value.byteLength);
  if (value instanceof Date) return value.getTime();
  if (value instanceof URL) return value.href;
  if (!isPlain(value)) return new MemoryOfInstance(value);
  const keys = Object.keys(value);
  return new MemoryOfObject(
    keys,
    keys.map((key) => remember((value as Record<string, unknown>)[key])),
  );
}

function isSame(memory: Memory, value: unknown): boolean {
  step();
  if (typeof value === "function" || typeof value === "symbol") return memory === undefined;
  if (typeof value !== "object" || value === null) return Object.is(memory, value);
  if (Array.isArray(value)) {
    if (!Array.isArray(memory) || memory.length !== value.length) return false;
    for (let index = 0; index < value.length; index++) {
      if (!isSame(memory[index] as Memory, value[index])) return false;
    }
    return true;
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return memory instanceof MemoryOfBytes && memory.bytes === value && memory.length === value.byteLength;
  }
  if (value instanceof Date) return memory === value.getTime();
  if (value instanceof URL) return memory === value.href;
  if (!isPlain(value)) return memory instanceof MemoryOfInstance && memory.instance === value;
  if (!(memory instanceof MemoryOfObject)) return false;
  const { keys, values } = memory;
  const own = Object.keys(value);
  if (own.length !== keys.length) return false;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    // Keys in another order are another message here, and the same one for the engine.
    if (own[index] !== key || !isSame(values[index], (value as Record<string, unknown>)[key])) return false;
  }
  return true;
}

/** What two conversations have in common. @internal */
interface Common {
  /** How many of the first messages are as they were, the instructions beside them included. */
  readonly unchanged: number;
  /** How many of the list are. */
  readonly skipped: number;
  /** The messages behind them. */
  readonly next: readonly unknown[];
}

/** The conversation that was handed over last. @internal */
export class HandedOver {
  #format: MessageFormat | undefined;
  #system: Memory;
  #messages: Memory[] = [];

  /** Tells what a conversation has in common with the one before. */
  compare(format: MessageFormat, system: unknown, messages: readonly unknown[]): Common {
    steps = 0;
    try {
      const skipped = this.#common(format, system, messages);
      const beside = skipped === 0 || this.#system === undefined ? 0 : 1;
      return { unchanged: skipped + beside, skipped, next: skipped === 0 ? messages : messages.slice(skipped) };
    } catch {
      // What cannot be read, or takes too long, is compared by the engine.
      return { unchanged: 0, skipped: 0, next: messages };
    }
  }

  #common(format: MessageFormat, system: unknown, messages: readonly unknown[]): number {
    if (this.#format !== format || !Array.isArray(messages) || !isSame(this.#system, system ?? undefined)) return 0;
    const most = Math.min(this.#messages.length, messages.length);
    let count = 0;
    while (count < most && isSame(this.#messages[count], messages[count])) count++;
    return count;
  }

  /** Remembers a conversation of which so many messages are remembered already. */
  remember(format: MessageFormat, system: unknown, messages: readonly unknown[], known: number): void {
    steps = 0;
    try {
      this.#messages.length = known;
      for (let index = known; index < messages.length; index++) this.#messages.push(remember(messages[index]));
      this.#format = format;
      this.#system = remember(system ?? undefined);
    } catch {
      // It was read once and cannot be read again: what comes next is compared by the engine.
      this.forget();
    }
  }

  /** Forgets it: what comes next is compared by the engine. */
  forget(): void {
    this.#format = undefined;
    this.#messages = [];
  }
}
