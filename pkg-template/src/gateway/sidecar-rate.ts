// How often a client may ask.
import { fields } from "../boundary/guard.js";
import { refuseUnknown, wholeWithin } from "../boundary/guard-errors.js";

/** How often each client may ask. A limit that is not given is none. */
export interface SidecarRateLimit {
  /** Requests within any 60 seconds, 1 to 100,000. */
  readonly max_calls_per_minute?: number;
  /** Requests for as long as the client is remembered: the last 4,096 clients are. 1 to 9,007,199,254,740,991. */
  readonly max_calls_per_session?: number;
}

/** Why a client has to wait. @internal */
export interface RateExcess {
  readonly scope: string;
  /** Seconds; null where waiting is of no use. */
  readonly retry_after: number | null;
}

/** Counts requests of clients. Times are milliseconds that do not go back. @internal */
export interface RateLimiter {
  /** Says whether the client must wait; counts nothing. */
  check(client: string, now_ms: number): RateExcess | undefined;
  /** Counts a request, unless the client must wait. */
  take(client: string, now_ms: number): RateExcess | undefined;
}

const WINDOW_MS = 60_000;
const MOST_CLIENTS = 4_096;
const BUCKET = "sidecar";

interface Counted {
  calls: number;
  /** Times of the last requests, oldest first; those before `first` no longer count. */
  times: number[];
  first: number;
}

/** Makes a limiter of the option `rate_limit`; nothing where there is no limit. @internal */
export function rateLimiter(given: unknown): RateLimiter | undefined {
  if (given === undefined) return undefined;
  const { max_calls_per_minute, max_calls_per_session, ...others } = fields(given, "/rate_limit");
  refuseUnknown(others, ["max_calls_per_minute", "max_calls_per_session"], "/rate_limit");
  const per_minute = limitOf(max_calls_per_minute, 100_000, "/rate_limit/max_calls_per_minute");
  const per_session = limitOf(max_calls_per_session, Number.MAX_SAFE_INTEGER, "/rate_limit/max_calls_per_session");
  if (per_minute === Infinity && per_session === Infinity) return undefined;
  return new SlidingWindow(per_minute, per_session);
}

function limitOf(value: unknown, most: number, path: string): number {
  return value === undefined || value === null ? Infinity : wholeWithin(value, 1, most, path);
}

class SlidingWindow implements RateLimiter {
  readonly #per_minute: number;
  readonly #per_session: number;
  /** From the client that asked longest ago on. */
  readonly #clients = new Map<string, Counted>();

  constructor(per_minute: number, per_session: number) {
    this.#per_minute = per_minute;
    this.#per_session = per_session;
  }

  check(client: string, now_ms: number): RateExcess | undefined {
    const counted = this.#clients.get(client);
    if (!counted) return undefined;
    if (counted.calls >= this.#per_session) return { scope: `${BUCKET}/session`, retry_after: null };
    const { times } = counted;
    while (counted.first < times.length && (times[counted.first] as number) <= now_ms - WINDOW_MS) counted.first += 1;
    if (counted.first > times.length / 2) [counted.times, counted.first] = [times.slice(counted.first), 0];
    if (counted.times.length - counted.first < this.#per_minute) return undefined;
    const oldest = counted.times[counted.first] as number;
    return { scope: `${BUCKET}/minute`, retry_after: Math.round(WINDOW_MS - (now_ms - oldest)) / 1_000 };
  }

  take(client: string, now_ms: number): RateExcess | undefined {
    const excess = this.check(client, now_ms);
    if (excess) return excess;
    const counted = this.#clients.get(client) ?? { calls: 0, times: [], first: 0 };
    counted.calls += 1;
    if (this.#per_minute < Infinity) counted.times.push(now_ms);
    this.#clients.delete(client);
    this.#clients.set(client, counted);
    const [oldest] = this.#clients.keys();
    if (this.#clients.size > MOST_CLIENTS) this.#clients.delete(oldest as string);
    return undefined;
  }
}
