// Where blobs may be kept beside the parts.
import { ContextWeaverError } from "../boundary/errors.js";
import type { BlobStore } from "./storage-types.js";

/** Checks what a caller gave as a store of blobs. */
export function blobStoreOf(value: unknown): BlobStore {
  for (const method of ["put", "get", "delete", "list"] as const) {
    if (typeof (value as Readonly<Record<string, unknown>> | null | undefined)?.[method] === "function") continue;
    const hint = "r2Blobs of contextweaver/cloudflare, s3Blobs of contextweaver/storage, or your own";
    throw new ContextWeaverError("INVALID_INPUT", `expected a store of blobs with \`${method}\``, {
      path: "/blobs",
      hint,
    });
  }
  return value as BlobStore;
}
