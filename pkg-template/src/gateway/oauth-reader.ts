// How the gateway is authorized at a server, as a configuration says it.
import { ContextWeaverError } from "../boundary/errors.js";
import { listed } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import type { ServerOAuth } from "./config-types.js";

const FIELDS = [
  "grant",
  "client_id",
  "client_secret",
  "private_key",
  "signing_algorithm",
  "client_metadata_url",
  "scopes",
  "issuer",
  "allowed_hosts",
] as const;
type Field = (typeof FIELDS)[number];
/** The same as other programs write them. */
const OTHERS: ReadonlyMap<string, Field> = new Map([
  ["clientId", "client_id"],
  ["clientSecret", "client_secret"],
  ["scope", "scopes"],
  ["grant_type", "grant"],
]);
const GRANTS = ["client_credentials", "authorization_code"] as const;
/** What a key can sign with: those of RFC 7518 with two keys. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"];
const PEM = /^-----BEGIN PRIVATE KEY-----\s+[A-Za-z\d+/=\s]+-----END PRIVATE KEY-----$/;

/**
 * Reads `oauth` of a server. `expanded` gives a string with its variables.
 * Errors: `MISSING_FIELD` and `INVALID_INPUT` with the path of the field. @internal
 */
export function readOAuth(
  written: Readonly<Record<string, unknown>>,
  above: string,
  expanded: (value: unknown, path: string) => string,
): ServerOAuth {
  const given = new Map<string, unknown>();
  for (const [name, value] of Object.entries(written))
    if (value !== undefined && value !== null) given.set(OTHERS.get(name) ?? name, value);
  refuseUnknown(
    Object.fromEntries([...given].filter(([name]) => !(FIELDS as readonly string[]).includes(name))),
    FIELDS,
    above,
  );
  const at = (name: Field): string => `${above}/${name}`;
  const invalid = (name: Field, message: string, hint?: string): ContextWeaverError =>
    new ContextWeaverError("INVALID_INPUT", message, { path: at(name), ...(hint !== undefined && { hint }) });
  const missing = (name: Field, hint: string): ContextWeaverError =>
    new ContextWeaverError("MISSING_FIELD", `missing field \`${name}\``, { path: at(name), hint });
  const text = (name: Field): string | undefined => {
    if (!given.has(name)) return undefined;
    const value = expanded(given.get(name), at(name));
    if (value.trim() === "") throw invalid(name, "the value is empty");
    return value;
  };
  const [client_id, client_secret, private_key, signing_algorithm] = [
    text("client_id"),
    text("client_secret"),
    text("private_key")?.trim(),
    text("signing_algorithm"),
  ];
  const [client_metadata_url, issuer, scopes] = [
    text("client_metadata_url"),
    text("issuer"),
    scopesOf(given.get("scopes"), at("scopes")),
  ];
  const allowed_hosts = hostsOf(given.get("allowed_hosts"), at("allowed_hosts"));
  if (client_secret !== undefined && private_key !== undefined)
    throw invalid("private_key", "a client has either a secret or a key");
  const grant =
    text("grant") ??
    (client_secret !== undefined || private_key !== undefined ? "client_credentials" : "authorization_code");
  if (!isGrant(grant))
    throw invalid(
      "grant",
      "expected `client_credentials` or `authorization_code`",
      "without it: `client_credentials` where there is a secret or key",
    );
  if (private_key !== undefined && !PEM.test(private_key)) {
    throw invalid(
      "private_key",
      "expected a private key, PKCS #8 as PEM with its line ends",
      "openssl pkcs8 -topk8 -nocrypt -in key.pem makes one of other forms",
    );
  }
  if (private_key !== undefined && signing_algorithm === undefined)
    throw missing("signing_algorithm", "as registered with the authorization server, such as RS256 or ES256");
  if (signing_algorithm !== undefined && private_key === undefined)
    throw missing("private_key", "the key that signs, PKCS #8 as PEM");
  if (signing_algorithm !== undefined && !ALGORITHMS.includes(signing_algorithm))
    throw invalid("signing_algorithm", "expected an algorithm of signatures", `one of ${ALGORITHMS.join(", ")}`);
  if (client_id === undefined && (client_secret !== undefined || private_key !== undefined))
    throw missing("client_id", "whose secret or key it is");
  if (grant === "client_credentials" && client_id === undefined)
    throw missing(
      "client_id",
      'with `client_secret`, or `private_key` and `signing_algorithm`; where a user logs in, say `"grant": "authorization_code"`',
    );
  if (grant === "client_credentials" && client_secret === undefined && private_key === undefined)
    throw missing(
      "client_secret",
      'or `private_key` and `signing_algorithm`; where a user logs in, say `"grant": "authorization_code"`',
    );
  if (client_metadata_url !== undefined && !isDocument(client_metadata_url))
    throw invalid("client_metadata_url", "expected the address of a document, such as https://example.com/client.json");
  if (issuer !== undefined && !isAddress(issuer))
    throw invalid("issuer", "expected the address of an authorization server, such as https://login.example.com");
  return {
    grant,
    ...(client_id !== undefined && { client_id }),
    ...(client_secret !== undefined && { client_secret }),
    ...(private_key !== undefined && { private_key }),
    ...(signing_algorithm !== undefined && { signing_algorithm }),
    ...(client_metadata_url !== undefined && { client_metadata_url }),
    ...(scopes && { scopes }),
    ...(issuer !== undefined && { issuer }),
    ...(allowed_hosts && { allowed_hosts }),
  };
}

function isGrant(text: string): text is (typeof GRANTS)[number] {
  return (GRANTS as readonly string[]).includes(text);
}

function isAddress(text: string): boolean {
  try {
    return /^https?:$/.test(new URL(text).protocol);
  } catch {
    return false;
  }
}

/** Authorization servers take such an address for a client's id only with `https` and a path. */
function isDocument(text: string): boolean {
  return isAddress(text) && text.startsWith("https:") && new URL(text).pathname !== "/";
}

function scopesOf(value: unknown, path: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const list = typeof value === "string" ? value.split(/\s+/).filter(Boolean) : listed(value, path);
  if (list?.every((scope): scope is string => typeof scope === "string" && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)))
    return list;
  throw new ContextWeaverError("INVALID_INPUT", "expected scopes", { path, hint: 'such as ["read", "write"]' });
}

function hostsOf(value: unknown, path: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const list = listed(value, path);
  if (list?.every((host): host is string => typeof host === "string" && isHost(host))) return list;
  throw new ContextWeaverError("INVALID_INPUT", "expected names of hosts, without scheme, port and path", {
    path,
    hint: 'such as ["login.example.com"]',
  });
}

function isHost(text: string): boolean {
  return (
    /^[^/?#@\\\s]+$/.test(text) &&
    URL.canParse(`http://${text}`) &&
    new URL(`http://${text}`).port === "" &&
    !/:\d*$/.test(text.replace(/^\[.*\]$/, ""))
  );
}
