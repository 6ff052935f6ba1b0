// Keys of a context that know the type of their value.
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";

/** A validator of the Standard Schema, such as those of Zod, Valibot and ArkType. Only synchronous ones can be used. */
export interface StandardSchema<T = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>;
  };
}

/** What a Standard Schema answers. */
export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/** Says whether a value is right: `false` or an exception means that it is not. */
export type Validate<T> = ((value: unknown) => boolean) | StandardSchema<T>;

/** Settings of {@link contextKey}. */
export interface ContextKeyOptions<T> {
  /** Checks values when they are put in and when they are read. */
  readonly validate?: Validate<T>;
  /** `true`: always a secret. `false`: none, whatever the name suggests. Default: by the name. */
  readonly secret?: boolean;
  /** `false`: never leaves this program, whatever a policy says. Default: the policy decides. */
  readonly forward?: boolean;
}

/** A key whose value has a known type; made by {@link contextKey}. */
export class ContextKey<T> {
  /** The key itself. */
  readonly name: string;
  /** Whether the value is a secret; absent when the name tells. */
  declare readonly secret?: boolean;
  /** `false` when the value never leaves this program. */
  declare readonly forward?: boolean;
  /** Never there at run time: it ties the key to one type. */
  declare readonly type?: (value: T) => T;
  readonly #validate: Validate<T> | undefined;

  /** @internal */
  constructor(name: string, { validate, secret, forward }: ContextKeyOptions<T>) {
    this.name = name;
    this.#validate = validate;
    if (secret !== undefined) this.secret = secret;
    if (forward !== undefined) this.forward = forward;
    Object.freeze(this);
  }

  /** Whether something is a key of this kind; runs no code of a proxy. @internal */
  static is(value: unknown): value is ContextKey<unknown> {
    return typeof value === "object" && value !== null && #validate in value;
  }

  /** Whether a value is right for the key. @internal */
  fits(value: unknown): boolean {
    return this.#validate === undefined || passes(this.#validate, value) !== undefined;
  }
}

/** A typed key of whatever type. */
export type AnyContextKey = Pick<ContextKey<unknown>, "name" | "secret" | "forward">;

/** Makes a key whose value has a type, and says once whether it is a secret and whether it may leave. */
export function contextKey<T>(name: string, options?: ContextKeyOptions<T>): ContextKey<T> {
  if (typeof name !== "string")
    throw new ContextWeaverError("INVALID_INPUT", "expected the name of a key", { path: "/name" });
  const { validate, secret, forward, ...rest } = fields(options);
  refuseUnknown(rest, ["validate", "secret", "forward"]);
  for (const [field, value] of Object.entries({ secret, forward })) {
    if (value !== undefined && typeof value !== "boolean") {
      throw new ContextWeaverError("INVALID_INPUT", "expected true or false", { path: `/${field}` });
    }
  }
  if (validate !== undefined && typeof validate !== "function" && !isSchema(validate)) {
    throw new ContextWeaverError("INVALID_INPUT", "expected a function or a Standard Schema", { path: "/validate" });
  }
  return new ContextKey(name, { validate, secret, forward } as ContextKeyOptions<T>);
}

/** Tells whether something is a Standard Schema. @internal */
export function isSchema(value: unknown): value is StandardSchema {
  try {
    const standard = (value as StandardSchema | null | undefined)?.["~standard"];
    return typeof standard?.validate === "function";
  } catch {
    return false;
  }
}

/**
 * Asks a validator. The answer holds the value, as the schema returns it. What a validator throws or complains of may
 * quote the value, so nobody hears it. @internal
 */
export function passes<T>(validate: Validate<T>, value: unknown): { readonly value: T } | undefined {
  try {
    if (isSchema(validate)) {
      const result = validate["~standard"].validate(value);
      if (isLate(result)) return undefined;
      return (result as { readonly issues?: unknown }).issues ? undefined : { value: (result as { value: T }).value };
    }
    const answer = (validate as (value: unknown) => unknown)(value);
    return answer === false || isLate(answer) ? undefined : { value: value as T };
  } catch {
    return undefined;
  }
}

/** Whether an answer comes later. Nobody waits for it, and its rejection, which may quote the value, must not end the process. */
function isLate(answer: unknown): boolean {
  if (typeof answer !== "object" || answer === null) return false;
  const { then } = answer as { readonly then?: unknown };
  if (typeof then !== "function") return false;
  const ignore = (): void => undefined;
  then.call(answer, ignore, ignore);
  return true;
}

/** A signal to stop, such as that of an `AbortController`. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason?: unknown;
}

/** Keys that mean the same to everyone. */
export const contextKeys: {
  /** Names one run of the tool loop. */
  readonly loopId: ContextKey<string>;
  readonly traceparent: ContextKey<string>;
  readonly tracestate: ContextKey<string>;
  readonly baggage: ContextKey<string>;
  /** Milliseconds since 1970 after which the answer is of no use. */
  readonly deadline: ContextKey<number>;
  /** Stays in this program; observed before every decorator and tool. */
  readonly signal: ContextKey<AbortSignalLike>;
  /** Belongs to the transport, which sends it itself. */
  readonly progressToken: ContextKey<string | number>;
} = /* @__PURE__ */ wellKnown();

function wellKnown(): typeof contextKeys {
  const text = { validate: (value: unknown): boolean => typeof value === "string" };
  return Object.freeze({
    loopId: new ContextKey<string>("contextweaver.loopId", text),
    traceparent: new ContextKey<string>("traceparent", text),
    tracestate: new ContextKey<string>("tracestate", text),
    baggage: new ContextKey<string>("baggage", text),
    deadline: new ContextKey<number>("deadline", { validate: (value) => Number.isFinite(value) }),
    signal: new ContextKey<AbortSignalLike>("signal", { validate: isSignal, forward: false }),
    progressToken: new ContextKey<string | number>("progressToken", { secret: false, forward: false }),
  });
}

/** Tells whether something can say that it is time to stop. @internal */
export function isSignal(value: unknown): value is AbortSignalLike {
  try {
    return typeof value === "object" && value !== null && typeof (value as AbortSignalLike).aborted === "boolean";
  } catch {
    return false;
  }
}
