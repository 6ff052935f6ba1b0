// Calls that became tasks at their servers: by which name a client knows each, whose it is, and what came of it. With a store they
// outlive the gateway.
import type { SharedRecords } from "../sessions/shared-records.js";
import { hex } from "../storage/checks.js";
import type { JsonObject, JsonValue } from "../types.js";
import type { AppUse } from "./runtime-types.js";
import type { Fields } from "./server-sdk.js";

/** Tasks that are known at a time; the oldest leave for new ones. */
const MAX_TASKS = 10_000;
/** Milliseconds that a task is known at most. */
const LIFE_MS = 7 * 86_400_000;
/** Bytes of a name: nobody guesses it. */
const ID_BYTES = 16;
const TERMINAL: readonly unknown[] = ["completed", "failed", "cancelled"];

/** How a task stands, as either form of the protocol says it. */
export interface TaskState {
  readonly status: string;
  readonly message?: string;
  readonly created: string;
  readonly updated: string;
  /** Milliseconds that its server keeps it; null for any time. */
  readonly ttl: number | null;
  /** Milliseconds between two questions how it stands. */
  readonly poll?: number;
  /** What the server wants to know before it goes on (2026-07-28). */
  readonly asks?: Fields;
}

/** A call that became a task. */
export interface GatewayTask {
  readonly caller: string;
  readonly server: string;
  /** The name that the server has for it. */
  readonly task: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly app?: AppUse;
  readonly result_tokens?: number;
  readonly result_chars?: number;
  readonly state: TaskState;
  /** What the client gets of its result, or the error with which it ended. */
  readonly end?: { readonly result: Fields } | { readonly error: Fields };
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** Whether nothing more happens to a task. */
export function isTerminal(status: unknown): boolean {
  return TERMINAL.includes(status);
}

/** Reads how a task stands: of the extension (`ttlMs`), or of 2025-11-25 (`ttl`). */
export function stateOf(task: Fields): TaskState {
  const text = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);
  const whole = (value: unknown): number | undefined =>
    typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
  const now = new Date().toISOString();
  const created = text(task["createdAt"], now);
  const poll = whole(task["pollIntervalMs"] ?? task["pollInterval"]);
  const asks = task["inputRequests"];
  return {
    status: text(task["status"], "working"),
    ...(typeof task["statusMessage"] === "string" && { message: task["statusMessage"] }),
    created,
    updated: text(task["lastUpdatedAt"], created),
    ttl: whole(task["ttlMs"] ?? task["ttl"]) ?? null,
    ...(poll !== undefined && { poll }),
    ...(typeof asks === "object" && asks !== null && { asks: asks as Fields }),
  };
}

/** The tasks of all clients. */
export class GatewayTasks {
  readonly #kept: SharedRecords | undefined;
  readonly #onError: (error: unknown) => void;
  readonly #tasks = new Map<string, GatewayTask>();
  /** Ends that are being read. */
  readonly ending = new Map<string, Promise<GatewayTask>>();

  constructor(kept: SharedRecords | undefined, onError: (error: unknown) => void) {
    [this.#kept, this.#onError] = [kept, onError];
    const records = kept?.records;
    for (const id of records?.names() ?? []) this.#tasks.set(id, records?.get(id) as unknown as GatewayTask);
  }

  /** Keeps a task, and returns the name that its client has for it. Durable by then, where there is a store. */
  async add(task: GatewayTask): Promise<string> {
    const id = `task-${hex(crypto.getRandomValues(new Uint8Array(ID_BYTES)))}`;
    for (const [oldest, { since }] of this.#tasks) {
      if (this.#tasks.size < MAX_TASKS && Date.now() - since <= LIFE_MS) break;
      this.#tasks.delete(oldest);
      this.#kept?.records.remove(oldest);
    }
    await this.put(id, task);
    return id;
  }

  /** A task of a caller. */
  find(id: string, caller: string): GatewayTask | undefined {
    const task = this.#tasks.get(id);
    return task?.caller === caller && Date.now() - task.since <= LIFE_MS ? task : undefined;
  }

  /** The tasks of a caller with their names, the oldest first. */
  of(caller: string): readonly (readonly [string, GatewayTask])[] {
    return [...this.#tasks].filter(([, task]) => task.caller === caller);
  }

  /** The name of a task of a server. */
  named(server: string, task: string): readonly (readonly [string, GatewayTask])[] {
    return [...this.#tasks].filter(([, known]) => known.server === server && known.task === task);
  }

  async put(id: string, task: GatewayTask): Promise<void> {
    this.#tasks.set(id, task);
    this.#kept?.records.set(id, task as unknown as JsonValue);
    try {
      await this.#kept?.save();
    } catch (error) {
      // It is still in memory.
      this.#onError(error);
    }
  }
}
