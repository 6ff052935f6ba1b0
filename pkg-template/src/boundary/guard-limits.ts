// Bounds of what crosses into the engine.
/** Bytes of a mebibyte. @internal */
export const MIB = 1024 * 1024;

/** Bounds of one argument. @internal */
export interface Limits {
  /** Levels of nesting below the argument itself. */
  readonly depth: number;
  /** Values visited; a shared object counts each time it is reached. */
  readonly nodes: number;
  /** UTF-16 units of one string; the engine checks UTF-8 bytes. */
  readonly string: number;
  /** Bytes of the JSON text. */
  readonly total: number;
  /** Fields of the argument that are repaired, see {@link Reading}: what tools, servers and models send. Default: none. */
  readonly repaired?: readonly string[];
  /** UTF-16 units of a repaired text that is no base64, and of which more is cut. */
  readonly prose?: number;
  /** Whether texts that stand for numbers are written as those, see exact-numbers.ts. */
  readonly exact?: boolean;
}

/** Bounds of ordinary arguments, as in the engine. @internal */
export const INPUT: Limits = { depth: 64, nodes: 2 ** 20, string: 8 * MIB, total: 32 * MIB };

/** Bounds of what tools return and models say, which may have numbers that are kept as texts. @internal */
export const SENT: Limits = { ...INPUT, depth: 60, exact: true };

/** Bounds of a snapshot, which holds whole stores, artifacts as base64. @internal */
export const SNAPSHOT: Limits = { depth: 68, nodes: 2 ** 23, string: 24 * MIB, total: 256 * MIB };

/**
 * Bounds of messages, and what their SDKs allow in them beside JSON: a `Date` is written as JSON.stringify does, a `URL` as its
 * address, a `Uint8Array` (a `Buffer` is one) and an `ArrayBuffer` as base64. The engine puts eight levels around a message.
 * @internal
 */
export const MESSAGES: Limits = { ...SNAPSHOT, depth: 56, repaired: ["messages", "system"], prose: 8 * MIB };

/** Bounds of an MCP result, whose images are base64. Its fields are a level below the argument. @internal */
export const MCP_RESULT: Limits = {
  depth: 65,
  nodes: 2 ** 20,
  string: 24 * MIB,
  total: 48 * MIB,
  repaired: ["result"],
  prose: 16 * MIB,
  exact: true,
};

/** Most items of one call, as in the engine. @internal */
export const MAX_ITEMS = 100_000;
/** Bytes of an artifact, as in the engine. @internal */
export const MAX_ARTIFACT = 16 * MIB;
