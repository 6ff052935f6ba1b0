// What is kept of the results that clients sent, and who may read it.
import { ContextWeaverError } from "../boundary/errors.js";
import type { SidecarCompact, SidecarManager } from "./sidecar-compact.js";
import { onBehalf } from "./sidecar-errors.js";

/** Characters of an artifact: more than any has. */
const ALL_CHARS = 1_000_000_000;
const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;

/** Answers with the whole of an artifact, secrets masked as the manager does. @internal */
export async function artifactResponse(manager: SidecarManager, handle: string): Promise<Response> {
  const { content, media_type } = await onBehalf(() => wholeOf(manager, handle));
  const type = MEDIA_TYPE.test(media_type) ? media_type : "application/octet-stream";
  const headers = {
    "content-type": typeof content === "string" ? `${type}; charset=utf-8` : type,
    // It is what some tool returned: no browser is to run it.
    "content-security-policy": "default-src 'none'; sandbox",
    "content-disposition": "attachment",
  };
  return new Response(content, { status: 200, headers });
}

async function wholeOf(
  manager: SidecarManager,
  handle: string,
): Promise<{ content: string | Uint8Array<ArrayBuffer>; media_type: string }> {
  try {
    const { text } = await manager.drilldownAsync(handle, { type: "head", chars: ALL_CHARS });
    return { content: text, media_type: manager.artifacts.ref(handle).media_type };
  } catch (error) {
    if (!ContextWeaverError.is(error) || error.code !== "UNSUPPORTED") throw error;
    // No text. Whether it may be read is asked all the same: `bytes` does not.
    manager.artifacts.views(handle);
    return { content: manager.artifacts.bytes(handle), media_type: manager.artifacts.ref(handle).media_type };
  }
}

/** How much is kept of what clients sent. */
export interface SidecarArtifactLimits {
  /** Artifacts of one caller, 1 to 100,000. Default: 1,000. */
  readonly count?: number;
  /** Bytes of the artifacts of one caller. Default: 16 MiB. */
  readonly bytes?: number;
}

/** Whether there would be room if others went; one artifact that is larger than any may be never has room. */
function isFull(error: unknown): boolean {
  return ContextWeaverError.is(error) && error.code === "QUOTA_EXCEEDED" && !error.message.startsWith("the artifact ");
}

interface Held {
  readonly bytes: number;
}

/**
 * Who sent which artifact of a manager that all callers share. The artifacts of a caller that were not used for longest go first,
 * when the caller has too many or the manager is full; then those of whoever asked longest ago. What was in the manager before stays.
 * @internal
 */
export class SharedArtifacts {
  readonly #manager: SidecarManager;
  readonly #limits: Required<SidecarArtifactLimits>;
  /** By tenant, from the one that used its artifacts longest ago on; of each by handle in the same order. */
  readonly #held = new Map<string, Map<string, Held>>();
  /** How many tenants hold a handle that the sidecar stored. */
  readonly #holders = new Map<string, number>();

  constructor(manager: SidecarManager, limits: Required<SidecarArtifactLimits>) {
    this.#manager = manager;
    this.#limits = limits;
  }

  /** Whether a caller sent it; counts as a use. */
  isOf(tenant: string, handle: string): boolean {
    const held = this.#held.get(tenant)?.get(handle);
    if (held) this.#use(tenant, handle, held);
    return held !== undefined;
  }

  /** Reduces what a caller sent, and keeps the whole. Where there is no room, no more is given up for it than it may take itself. */
  compact(tenant: string, max_bytes: number, run: () => SidecarCompact): SidecarCompact {
    for (let freed = 0; ; ) {
      const before = this.#manager.stats().artifacts;
      try {
        const answer = run();
        if (answer.artifact_ref !== null)
          this.#keep(tenant, answer.artifact_ref, this.#manager.stats().artifacts > before);
        return answer;
      } catch (error) {
        const bytes = isFull(error) && freed < max_bytes ? this.#dropOldest(tenant) : undefined;
        if (bytes === undefined) throw error;
        freed += bytes;
      }
    }
  }

  #use(tenant: string, handle: string, held: Held): void {
    const own = this.#held.get(tenant) ?? new Map<string, Held>();
    own.delete(handle);
    own.set(handle, held);
    this.#held.delete(tenant);
    this.#held.set(tenant, own);
  }

  #keep(tenant: string, handle: string, isNew: boolean): void {
    const isHeld = this.#held.get(tenant)?.has(handle) === true;
    this.#use(tenant, handle, { bytes: this.#manager.artifacts.ref(handle).size_bytes });
    const holders = this.#holders.get(handle);
    if (!isHeld && (isNew || holders !== undefined)) this.#holders.set(handle, (holders ?? 0) + 1);
    const own = this.#held.get(tenant) as Map<string, Held>;
    let bytes = [...own.values()].reduce((sum, one) => sum + one.bytes, 0);
    for (const [oldest, one] of own) {
      if (own.size <= this.#limits.count && bytes <= this.#limits.bytes) break;
      // What was just promised stays, though it alone were too large.
      if (oldest === handle) break;
      bytes -= one.bytes;
      this.#drop(tenant, oldest);
    }
  }

  /** Gives up an artifact, the caller's own before those of others; tells how large it was. */
  #dropOldest(caller: string): number | undefined {
    const tenant = this.#held.has(caller) ? caller : this.#held.keys().next().value;
    const [oldest] = this.#held.get(tenant ?? caller) ?? [];
    if (tenant === undefined || !oldest) return undefined;
    const [handle, { bytes }] = oldest;
    this.#drop(tenant, handle);
    return bytes;
  }

  #drop(tenant: string, handle: string): void {
    const own = this.#held.get(tenant);
    own?.delete(handle);
    if (own?.size === 0) this.#held.delete(tenant);
    const holders = this.#holders.get(handle);
    if (holders === undefined) return;
    if (holders > 1) return void this.#holders.set(handle, holders - 1);
    this.#holders.delete(handle);
    if (this.#manager.artifacts.exists(handle)) this.#manager.artifacts.delete(handle);
  }
}
