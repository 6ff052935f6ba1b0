// The Worker of sessions with objects of which anything may fail: a test tells an object beforehand where and how. What is written
// to its database is measured.
import { DecisionObject, SessionObject as ServiceObject, sessionWorker } from "contextweaver/worker";

export { DecisionObject };

/** What objects of this process have done. It stays when one of them is aborted. */
const told = { objects: 0, statements: 0, puts: 0, most_value: 0, most_row: 0, most_put: 0, injected: {} };
const encoder = new TextEncoder();

const bytesOf = (value) => (typeof value === "string" ? encoder.encode(value).length : (value?.byteLength ?? 8));

function measure(values) {
  const sizes = values.map(bytesOf);
  told.statements += 1;
  told.most_value = Math.max(told.most_value, ...sizes);
  told.most_row = Math.max(
    told.most_row,
    sizes.reduce((sum, size) => sum + size, 0),
  );
}

/** What is to fail once: the `left`th time that something is done at a place, before it or after it, by an error or the object's end. */
class Faults {
  #plan;
  #abort;

  constructor(abort) {
    this.#abort = abort;
  }

  plan(plan) {
    this.#plan = plan;
  }

  now(place, step) {
    const plan = this.#due(place);
    if (plan?.when === "before") this.#fail(plan);
    const value = step();
    if (plan) this.#fail(plan);
    return value;
  }

  async later(place, step) {
    const plan = this.#due(place);
    if (plan?.when === "before") this.#fail(plan);
    const value = await step();
    if (plan) this.#fail(plan);
    return value;
  }

  #due(place) {
    const plan = this.#plan;
    if (plan?.place !== place || (plan.left -= 1) > 0) return undefined;
    this.#plan = undefined;
    return plan;
  }

  #fail({ place, when, how }) {
    const name = `${how} ${when} ${place}`;
    told.injected[name] = (told.injected[name] ?? 0) + 1;
    if (how === "abort") this.#abort();
    throw new Error("out of order");
  }
}

function faultyStorage(storage, faults) {
  let isOpen = false;
  return {
    sql: {
      exec: (query, ...values) => {
        measure(values);
        // Read to its end: a statement that is left open would hold up its transaction.
        const rows = faults.now(isOpen ? "statement of a transaction" : "statement", () => storage.sql.exec(query, ...values).toArray());
        return { toArray: () => rows };
      },
    },
    transactionSync: (work) =>
      faults.now("transaction", () =>
        storage.transactionSync(() => {
          isOpen = true;
          try {
            return work();
          } finally {
            isOpen = false;
          }
        }),
      ),
    sync: () => faults.later("sync", () => storage.sync()),
  };
}

function faultyBucket(bucket, faults) {
  return {
    put: (key, value) => {
      told.puts += 1;
      told.most_put = Math.max(told.most_put, value.byteLength);
      return faults.later("put", () => bucket.put(key, value));
    },
    get: (key) => faults.later("get", () => bucket.get(key)),
    delete: (keys) => faults.later("delete", () => bucket.delete(keys)),
    list: (options) => bucket.list(options),
  };
}

export class SessionObject extends ServiceObject {
  #state;
  #bucket;
  #faults;

  constructor(state, env) {
    const faults = new Faults(() => state.abort("evicted"));
    super({ id: state.id, storage: faultyStorage(state.storage, faults) }, { BLOBS: faultyBucket(env.BLOBS, faults) });
    [this.#state, this.#bucket, this.#faults] = [state, env.BLOBS, faults];
    told.objects += 1;
  }

  options() {
    // Other limits stay as they are: bodies may have more than 4 MiB.
    return { manager: { clock: () => 1_700_000_000_000 }, limits: { kept_bytes: 64 * 2 ** 20 } };
  }

  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/plan") return this.#faults.plan(await request.json()) ?? new Response();
    if (pathname === "/evict") return this.#state.abort("evicted");
    if (pathname === "/stored") return Response.json(await this.#stored());
    try {
      return await this.#faults.later("answer", () => super.fetch(request));
    } finally {
      this.#faults.plan(undefined);
    }
  }

  /** What is kept: the parts of the journal, and whether each blob is in the bucket as it was given, and nothing is there that no row names. */
  async #stored() {
    const all = (query, ...values) => this.#state.storage.sql.exec(query, ...values).toArray();
    const prefix = `${this.#state.id}/`;
    const named = all("SELECT hash, size, key FROM contextweaver_blobs");
    const problems = [];
    for (const { hash, size, key } of named) {
      const found = await this.#bucket.get(prefix + key);
      const bytes = found ? await found.arrayBuffer() : new ArrayBuffer(0);
      const digest = Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("");
      if (bytes.byteLength !== size || digest !== hash) problems.push(`blob ${hash} is ${found ? "another" : "lost"}`);
    }
    const known = new Set([...named, ...all("SELECT key FROM contextweaver_loose")].map(({ key }) => prefix + key));
    let cursor;
    do {
      const page = await this.#bucket.list({ prefix, ...(cursor && { cursor }) });
      for (const { key } of page.objects) if (!known.has(key)) problems.push(`${key} is known to nobody`);
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor);
    return {
      parts: all("SELECT part FROM contextweaver_parts p JOIN contextweaver_sessions s USING (session) WHERE s.id = 'session' ORDER BY sequence").map(
        ({ part }) => part,
      ),
      hashes: named.map(({ hash }) => hash),
      problems,
      longest: all("SELECT coalesce(max(length(CAST(part AS BLOB))), 0) AS most FROM contextweaver_parts")[0].most,
      inline: all("SELECT count(*) AS count FROM contextweaver_bytes")[0].count,
    };
  }
}

let worker;

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/told") return Response.json(told);
    worker ??= sessionWorker({ token: JSON.parse(env.TOKENS), limits: { body_bytes: 32 * 2 ** 20 } });
    const object = env.SESSIONS.get(env.SESSIONS.idFromName(request.headers.get("x-object")));
    if (pathname === "/evict" || pathname === "/stored") return object.fetch(request);
    const plan = request.headers.get("x-plan");
    if (plan) await object.fetch("http://service/plan", { method: "POST", body: plan });
    return worker.fetch(request, env);
  },
};
