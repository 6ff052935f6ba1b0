// Compiled, never run: storages of sessions with the types of the runtimes, without a cast.
import * as promises from "node:fs/promises";
import type { DurableObjectState, R2Bucket } from "@cloudflare/workers-types";
import { durableObjectStorage, durableObjectStore, r2Blobs } from "contextweaver/cloudflare";
import { fileStore, sqliteStore } from "contextweaver/node";
import type { SqliteDatabase } from "contextweaver/node";
import { memoryStorage, memoryStore } from "contextweaver/storage";
import type { BlobStore, SessionStorage, SessionStore, StoredParts, SessionRecord } from "contextweaver/storage";

export const ofObject = (ctx: DurableObjectState, bucket: R2Bucket): SessionStorage =>
  durableObjectStorage(ctx.storage, { blobs: r2Blobs(bucket, { prefix: "sessions/" }), clock: Date.now });

export const inObject = (ctx: DurableObjectState, bucket: R2Bucket): SessionStore => durableObjectStore(ctx.storage, { blobs: r2Blobs(bucket) });

export const stores = (database: SqliteDatabase, blobs: BlobStore): SessionStore[] => [
  memoryStore(),
  memoryStore({ clock: Date.now }),
  fileStore("sessions"),
  fileStore("sessions", promises),
  sqliteStore(database),
  sqliteStore(database, { clock: Date.now, blobs, configure: false }),
];

export async function use(session: SessionStorage = memoryStorage()): Promise<readonly SessionRecord[]> {
  const { first, parts }: StoredParts = await session.load();
  await session.append(first + parts.length, ["{}"]);
  const bytes: Uint8Array | undefined = await session.getBlob("0".repeat(64));
  await session.compact(1, parts, []);
  // @ts-expect-error what was read stays as it is
  parts.push(String(bytes));
  // @ts-expect-error text is no blob
  await session.putBlob("0".repeat(64), "text");
  // @ts-expect-error a list of parts
  await session.append(0, "{}");
  return memoryStore().sessions();
}

export async function end(store: SessionStore): Promise<string[]> {
  const [oldest]: readonly SessionRecord[] = await store.prune({ idle_ms: 86_400_000, max_sessions: 1_000, max_bytes: 2 ** 30 });
  if (!oldest) return [];
  const isGone: boolean = await store.delete(oldest.id, oldest);
  // @ts-expect-error a time in milliseconds
  await store.prune({ idle_ms: "1d" });
  return isGone ? [oldest.id] : [];
}

// @ts-expect-error a Durable Object has blobs elsewhere
export const without = (ctx: DurableObjectState) => durableObjectStorage(ctx.storage, {});
// @ts-expect-error no bucket
r2Blobs({});
// @ts-expect-error no database
sqliteStore({});
