// `contextweaver/storage`: where sessions are kept, on whatever runtime: in memory, and their blobs in a bucket.
export { memoryStorage, memoryStore } from "./storage/memory.js";
export type { MemoryStoreOptions } from "./storage/memory.js";
export type { BlobStore, SessionStorage, SessionStore, StoredParts, SessionRecord } from "./storage/storage-types.js";
