// How types are compared: those of the package with those of the engine's records, which JSON makes alike.
import type { JsonObject, JsonValue, Selector } from "contextweaver";

type Primitive = string | number | boolean | null | undefined;

/** The same type with nothing that could be assigned. JSON of any kind refers to itself and stays as it is. */
export type DeepReadonly<T> = JsonValue extends T
  ? T
  : T extends Primitive
    ? T
    : T extends readonly (infer Item)[]
      ? readonly DeepReadonly<Item>[]
      : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/** The same type with optional fields made visible: assignability ignores one that only one side has. */
type Explicit<T> = JsonValue extends T ? T : IsSelector<T> extends true ? Explicit<DeepReadonly<JsonObject>> | Extract<T, undefined> : ExplicitData<T>;
type ExplicitData<T> = T extends Primitive
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Explicit<Item>[]
    : { [Key in keyof T]-?: {} extends Pick<T, Key> ? { optional: Explicit<T[Key]> } : Explicit<T[Key]> };

/** Selectors are any object to the engine's records. */
type IsSelector<T> = [Selector, NonNullable<T>] extends [T, Selector] ? true : false;

/** JSON knows no `readonly`, so both sides get it: records are written without it, results are handed out with it. */
type Comparable<T> = Explicit<DeepReadonly<T>>;

/** `true` when each of two types can be assigned to the other, else the names of the fields that differ. */
type Same<A, B> = [Comparable<A>, Comparable<B>] extends [Comparable<B>, Comparable<A>] ? true : Difference<A, B>;
type Difference<A, B> = { differs: [Fields<A, B>] extends [never] ? [A, B] : Fields<A, B> };
type Fields<A, B> = [A, B] extends [object, object] ? { [Key in keyof A | keyof B]: DiffersAt<A, B, Key> }[keyof A | keyof B] : never;
type DiffersAt<A, B, Key> = Key extends keyof A & keyof B ? (Same<A[Key], B[Key]> extends true ? never : Key) : Key;
export declare function same<A, B>(): Same<A, B>;

/**
 * `true` when the type of an input asks for everything the engine needs, and has no field that the engine refuses. It
 * may ask for more, where something is better said than left to a default.
 */
export declare function inputOf<Asked extends { required: unknown; fields: unknown }, T>(): [Asked["required"]] extends [RequiredKeys<T>]
  ? [Asked["fields"]] extends [never]
    ? true
    : Same<Asked["fields"], keyof T>
  : { needed: Exclude<Asked["required"], RequiredKeys<T>> };
type RequiredKeys<T> = { [Key in keyof T]-?: {} extends Pick<T, Key> ? never : Key }[keyof T];

/** `true` when every A is a B, for what the package deliberately does not describe more closely. */
export declare function fits<A, B>(): [A] extends [B] ? true : { unfit: A };

/** `true` when the type is {@link DeepReadonly} already. */
type Identical<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
export declare function constant<T>(): Identical<T, DeepReadonly<T>>;
