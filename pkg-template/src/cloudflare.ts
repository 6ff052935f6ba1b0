// `contextweaver/cloudflare`: sessions in Durable Objects, one in each, and their blobs in R2. It imports nothing of Cloudflare's.
export { durableObjectStorage, durableObjectStore, r2Blobs } from "./storage/cloudflare.js";
export type {
  DurableObjectStorageOptions,
  DurableObjectStoreOptions,
  DurableStorage,
  R2BlobBucket,
  R2BlobPage,
  R2BlobsOptions,
} from "./storage/cloudflare.js";
export type {
  BlobStore,
  LoadOptions,
  PruneOptions,
  SessionRecord,
  SessionStorage,
  SessionStore,
  StoredEnd,
  StoredParts,
} from "./storage/storage-types.js";
