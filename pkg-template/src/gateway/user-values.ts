// `${user.<name>}` in the headers or variables of a server: what an authenticated caller has, each its own.
import { UpstreamError } from "./failure.js";
import type { Fields } from "./server-sdk.js";

/** What `authorize` says of a caller, by name. */
export type UserValues = Readonly<Record<string, string>>;

const WRITTEN = /\$\{user\.([A-Za-z_]\w*)\}/g;
/** Before the name of a value among headers: no header of a request is called so. */
const AMONG_HEADERS = "${user.";
/** What a header or a variable cannot carry. */
const FORBIDDEN = /[\0\r\n]|[^\x00-\xff]/;

/** Whether a text has a value of the caller's in it. */
export function isPerUser(text: string): boolean {
  return text.search(WRITTEN) !== -1;
}

/** The names of the values that texts have in them. */
export function userNames(texts: Readonly<Record<string, string>>): readonly string[] {
  return [...new Set(Object.values(texts).flatMap((text) => [...text.matchAll(WRITTEN)].map(([, name = ""]) => name)))];
}

/** The values of a caller as they travel beside the headers of its request. */
export function amongHeaders(values: UserValues): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${AMONG_HEADERS}${name}}`, value]));
}

/** What the SDK carries with a request of an authenticated caller. */
export function authInfoOf(caller: string, values: UserValues | undefined): Fields | undefined {
  return values && { token: "", clientId: caller, scopes: [], extra: { user: values } };
}

/** The values in it. */
export function valuesIn(authInfo: unknown): UserValues {
  return (((authInfo ?? {}) as Fields)["extra"] as { readonly user?: UserValues } | undefined)?.user ?? {};
}

/**
 * Texts with the values of a caller, of which none may be missing: nobody is given what is another's or nobody's. Errors:
 * `UpstreamError` 401.
 */
export function expandedFor(
  server: string,
  texts: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const value = (name: string): string => {
    const key = `${AMONG_HEADERS}${name}}`;
    const found = Object.hasOwn(headers, key) ? headers[key] : undefined;
    if (found !== undefined && found !== "" && !FORBIDDEN.test(found)) return found;
    const message =
      found === undefined || found === ""
        ? `nothing is known of \`user.${name}\` of this caller, which the server "${server}" needs`
        : `\`user.${name}\` of this caller has characters that no header carries`;
    throw new UpstreamError({ kind: "http", status: 401, message });
  };
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, text.replace(WRITTEN, (_, one: string) => value(one))]),
  );
}
