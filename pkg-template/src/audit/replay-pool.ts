// Replays conversations beside the reading of files: most of the time of an audit goes into them, and none of them needs another. Threads
// get the messages as they are read; whoever asks puts what comes back into the order of the files.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Call } from "./conversation.js";
import { textOfMessage } from "./chat.js";
import { Replay } from "./replay.js";
import type { Outcome, Replayed, Replayer, Use } from "./replay.js";
import type { ThreadAnswer, ThreadRequest } from "./replay-thread.js";

/** Threads at most: each holds an engine of its own. */
const MAX_THREADS = 8;
/** Characters that wait for a thread before no more is read. */
const MAX_WAITING = 4_000_000;
/** Bytes of files from which on threads pay for their start. */
const LEAST_BYTES = 2_000_000;
/** The program: without arguments, and not on its first thread, it replays. */
const PROGRAM = new URL("../../bin/contextweaver.js", import.meta.url);

/** A conversation that is replayed somewhere. */
export interface PooledReplay extends Replayer {
  end(): Promise<readonly Outcome[]>;
}

/** Replays conversations on other threads, or on this one where there is little to do. */
export class ReplayPool {
  readonly #budgets: readonly number[];
  readonly #most = Math.min(MAX_THREADS, availableParallelism());
  readonly #threads: Thread[] = [];
  #conversations = 0;

  constructor(budgets: readonly number[]) {
    this.#budgets = budgets;
  }

  /**
   * Begins with a conversation of an audit of so many bytes, as far as is known, at a budget of its own beside those of all. Without budgets
   * there is nothing to replay.
   */
  replay(bytes: number, own: number | undefined): PooledReplay {
    const budgets =
      own === undefined || this.#budgets.includes(own) ? this.#budgets : [...this.#budgets, own].sort((a, b) => a - b);
    if (budgets.length === 0 || this.#most < 2 || bytes < LEAST_BYTES) return localReplay(budgets);
    this.#conversations += 1;
    return new ThreadReplay(this.#thread(), this.#conversations, budgets);
  }

  /** Whether threads are so far behind that reading has to wait. */
  get isFull(): boolean {
    return this.#threads.some(({ waiting }) => waiting > MAX_WAITING);
  }

  /** Waits until they have caught up. */
  async room(): Promise<void> {
    while (this.isFull) await Promise.race(this.#threads.map((thread) => thread.moved()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  /** The one with least to do; another one while all are busy. */
  #thread(): Thread {
    const [idle] = [...this.#threads].sort((one, other) => one.waiting - other.waiting);
    if (idle && (idle.waiting === 0 || this.#threads.length === this.#most)) return idle;
    const thread = new Thread();
    this.#threads.push(thread);
    return thread;
  }
}

function localReplay(budgets: readonly number[]): PooledReplay {
  const replay = new Replay(budgets);
  return {
    called: (call) => replay.called(call),
    wrote: (uses, conversation) => replay.wrote(uses, conversation),
    back: () => undefined,
    end: () => Promise.resolve(replay.end()),
  };
}

/** A conversation of which a thread is sent what it does not have. */
class ThreadReplay implements PooledReplay {
  readonly #thread: Thread;
  readonly #id: number;
  #sent = 0;
  #characters = 0;

  constructor(thread: Thread, id: number, budgets: readonly number[]) {
    [this.#thread, this.#id] = [thread, id];
    thread.post({ kind: "begin", id, budgets });
  }

  called(call: Call): void {
    const {
      messages,
      ends,
      pricing: { cache, model, brief },
      ...rest
    } = call;
    this.#follow({ messages, ends });
    this.#thread.post({
      kind: "called",
      id: this.#id,
      call: { ...rest, pricing: { cache, model, brief } },
      characters: this.#characters,
    });
    this.#characters = 0;
  }

  wrote(uses: readonly Use[], conversation: Replayed): void {
    if (uses.length === 0) return;
    this.#follow(conversation);
    this.#thread.post({ kind: "wrote", id: this.#id, uses });
  }

  back(to: number): void {
    this.#sent = Math.min(this.#sent, to);
  }

  end(): Promise<readonly Outcome[]> {
    return this.#thread.end(this.#id);
  }

  #follow({ messages, ends }: Replayed): void {
    const behind = messages.slice(this.#sent);
    this.#characters += behind.reduce((sum, message) => sum + textOfMessage(message).length, 0);
    this.#thread.post({
      kind: "messages",
      id: this.#id,
      keep: this.#sent,
      messages: behind,
      ends: ends.slice(this.#sent),
    });
    this.#sent = messages.length;
  }
}

/** A thread, and what it was not heard of yet. */
class Thread {
  readonly #worker = new Worker(PROGRAM, { argv: [] });
  readonly #asked = new Map<number, (outcomes: readonly Outcome[]) => void>();
  readonly #failed: Promise<never>;
  #waiting = 0;
  #moved: (() => void)[] = [];

  constructor() {
    this.#failed = new Promise((_, fail) => this.#worker.on("error", fail));
    // Whoever waits hears of it.
    this.#failed.catch(() => undefined);
    this.#worker.on("message", (answer) => this.#heard(answer as ThreadAnswer));
  }

  /** Characters of messages that it has not replayed. */
  get waiting(): number {
    return this.#waiting;
  }

  post(request: ThreadRequest): void {
    if (request.kind === "called") this.#waiting += request.characters;
    this.#worker.postMessage(request);
  }

  end(id: number): Promise<readonly Outcome[]> {
    const ended = new Promise<readonly Outcome[]>((done) => this.#asked.set(id, done));
    this.post({ kind: "end", id });
    return Promise.race([ended, this.#failed]);
  }

  /** Waits until it has done something. */
  moved(): Promise<void> {
    return Promise.race([new Promise<void>((done) => this.#moved.push(done)), this.#failed]);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #heard(answer: ThreadAnswer): void {
    if (answer.kind === "ended") {
      this.#asked.get(answer.id)?.(answer.outcomes);
      this.#asked.delete(answer.id);
      return;
    }
    this.#waiting -= answer.characters;
    for (const done of this.#moved.splice(0)) done();
  }
}
