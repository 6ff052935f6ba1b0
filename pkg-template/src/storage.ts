// `contextweaver/storage`: where sessions are kept, on whatever runtime: in memory, and their blobs in a bucket.
export { memoryStorage, memoryStore } from "./storage/memory.js";
export type { MemoryStoreOptions } from "./storage/memory.js";
export { s3Blobs } from "./storage/s3.js";
export type { S3BlobsOptions, S3Fetch, S3Response } from "./storage/s3.js";
export type {
  BlobStore,
  LoadOptions,
  PruneOptions,
  SessionStorage,
  SessionStore,
  StoredEnd,
  StoredParts,
  SessionRecord,
} from "./storage/storage-types.js";
