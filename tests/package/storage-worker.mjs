// A Worker whose Durable Objects each keep a session, and the cases that are run on them.
import { DurableObject } from "cloudflare:workers";
import { durableObjectStorage, durableObjectStore, r2Blobs } from "contextweaver/cloudflare";
import { memoryStore } from "contextweaver/storage";
import { assert } from "./assert.mjs";
import { runStorageCases } from "./storage-contract.mjs";
import { brokenBlobs, clockwork, memoryEngines } from "./storage-faults.mjs";

/** Statements of a storage that is made: its tables, its version, and the transaction around them. */
const SETUP = 9;

/** The storage of an object of which everything fails after so many statements. */
function brokenStorage(storage, step) {
  return {
    sql: { exec: (...args) => step(() => storage.sql.exec(...args)) },
    transactionSync: (work) => step(() => storage.transactionSync(work)),
    sync: async () => step(() => storage.sync()),
  };
}

/** Damages the bytes of a blob, wherever they are. */
async function spoilt(blobs, hash) {
  for (const key of await blobs.list("")) if (key.includes(hash)) await blobs.put(key, new Uint8Array([0]));
}

export class Session extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.blobs = r2Blobs(env.BUCKET, { prefix: "blobs/" });
    this.session = durableObjectStorage(ctx.storage, { blobs: this.blobs, clock: Date.now });
    this.born = crypto.randomUUID();
  }

  /** Calls a method; what fails crosses as data, as an exception would lose its code. */
  async call(method, args, steps) {
    try {
      return { value: await (steps === undefined ? this.session : this.broken(steps))[method](...args) };
    } catch (error) {
      const { code, path, details, message } = error;
      return { error: { code, path, details, message } };
    }
  }

  broken(steps) {
    const step = clockwork(steps + SETUP);
    return durableObjectStorage(brokenStorage(this.ctx.storage, step), { blobs: brokenBlobs(this.blobs, step, steps % 2 === 1) });
  }

  /** How large the largest value of a row is, and what stands in its tables. */
  async rows() {
    const sizes = this.ctx.storage.sql.exec("SELECT max(length(CAST(part AS BLOB))) AS most, count(*) AS count FROM contextweaver_parts").one();
    return { ...sizes, bytes: this.ctx.storage.sql.exec("SELECT count(*) AS n FROM contextweaver_bytes").one().n };
  }

  /** Runs the cases in this object, which keeps all their sessions. */
  async cases() {
    return runStorageCases(async () => {
      await this.ctx.storage.deleteAll();
      const stores = [1, 2].map(() => durableObjectStore(this.ctx.storage, { blobs: this.blobs, clock: Date.now }));
      return {
        session: (id) => stores[0].session(id),
        other: (id) => stores[1].session(id),
        store: () => stores[0],
        shares: false,
        blobs: async () => (await this.blobs.list("")).length,
        spoil: (hash) => spoilt(this.blobs, hash),
        close: async () => this.blobs.delete(await this.blobs.list("")),
      };
    }, assert);
  }

  /** Which instance answers. */
  async instance() {
    return this.born;
  }

  /** Ends the object as an eviction does, or worse: whatever is under way is cut off. */
  async evict() {
    this.ctx.abort("evicted");
  }
}

const METHODS = ["load", "append", "compact", "putBlob", "getBlob", "delete", "end"];

function stubs(env, place) {
  const stub = (id) => env.SESSION.get(env.SESSION.idFromName(`${place}/${id}`));
  const session = (id, steps) =>
    Object.fromEntries(
      METHODS.map((method) => [
        method,
        async (...args) => {
          const { value, error } = await stub(id).call(method, args, steps);
          if (error) throw Object.assign(new Error(error.message), error);
          return value;
        },
      ]),
    );
  return { stub, session };
}

/** A fresh instance answers every other call. */
async function evicted(env, place, id) {
  const { stub } = stubs(env, place);
  const before = await stub(id).instance();
  await stub(id)
    .evict()
    .catch(() => {});
  assert.notEqual(await stub(id).instance(), before, "it was not evicted");
}

let places = 0;
function open(env, evicts) {
  places += 1;
  const place = `place ${places}`;
  const { session } = stubs(env, place);
  const other = (id) => {
    if (!evicts) return session(id);
    const calls = session(id);
    return Object.fromEntries(
      METHODS.map((method) => [
        method,
        async (...args) => {
          await evicted(env, place, id);
          return calls[method](...args);
        },
      ]),
    );
  };
  return {
    session,
    other,
    // Once is enough: each step takes a dozen calls, and each call an eviction.
    ...(!evicts && { failing: (id, steps) => session(id, steps) }),
    shares: false,
    blobs: async () => (await r2Blobs(env.BUCKET).list("")).length,
    spoil: (hash) => spoilt(r2Blobs(env.BUCKET), hash),
    close: async () => {
      const { list, delete: remove } = r2Blobs(env.BUCKET);
      await remove(await list(""));
    },
  };
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/memory") return Response.json(await runStorageCases(memoryEngines(memoryStore), assert));
    if (pathname === "/cases") return Response.json(await runStorageCases(() => open(env, false), assert));
    if (pathname === "/store") return Response.json(await env.SESSION.get(env.SESSION.idFromName("store")).cases());
    if (pathname === "/evicted") return Response.json(await runStorageCases(() => open(env, true), assert));
    // Many keys, which a listing returns in pages and R2 deletes in several calls.
    const blobs = r2Blobs(env.BUCKET, { prefix: "many/" });
    const keys = Array.from({ length: 1_203 }, (_, at) => `key ${String(at).padStart(4, "0")}`);
    for (let at = 0; at < keys.length; at += 100) await Promise.all(keys.slice(at, at + 100).map((key) => blobs.put(key, new Uint8Array([1]))));
    await r2Blobs(env.BUCKET).put("other", new Uint8Array([2]));
    const listed = await blobs.list("key ");
    await blobs.delete([...keys, "unknown"]);
    const left = await r2Blobs(env.BUCKET).list("");
    // Parts as large as they may be, and a blob that no row could hold.
    const { stub } = stubs(env, "rows");
    const { session } = stubs(env, "rows");
    await session("s").append(0, ["x".repeat(2 ** 20), "é".repeat(2 ** 19)]);
    const data = new Uint8Array(5 * 2 ** 20);
    const hash = Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", data)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    await session("s").putBlob(hash, data);
    return Response.json({ listed: listed.length, sorted: JSON.stringify(listed) === JSON.stringify(keys), left, rows: await stub("s").rows() });
  },
};
