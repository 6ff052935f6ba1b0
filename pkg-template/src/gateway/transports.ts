// Makes the transport of the SDK for a configured server.
import { ContextWeaverError } from "../boundary/errors.js";
import { isChallenge, newerToken, tellChallenge } from "./auth-provider.js";
import type { ServerConfig, ServerTransport } from "./config-types.js";
import { HttpLink } from "./http-link.js";
import type { Fetch } from "./http-link.js";
import { isOAuthRequest } from "./oauth-traffic.js";
import type { OAuthTraffic } from "./oauth-traffic.js";
import { inheritedHere, programTransport } from "./program-transport.js";
import type { SdkHttpTransport, SdkStdioTransport, SdkTransport, UpstreamSdk } from "./sdk.js";
import { StderrTail } from "./stderr-tail.js";
import { keepingNumbers, keepsNumbers, withBody, withNumbers } from "../boundary/exact-numbers.js";

/**
 * Bytes of one message: 12 MiB of a file as base64. The SDK's reader of a program's output copies what it has with every piece, so that
 * 24 MiB would already take six times as long, and hold up everything else.
 */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** What a transport is made with. */
export interface LinkOptions {
  readonly sdk: UpstreamSdk;
  /** Headers of the client's request that are sent on, and what a caller has of its own: headers, or variables of a program. They win over those of the config. */
  readonly forwarded?: Readonly<Record<string, string>>;
  /** A provider of the SDK: `AuthProvider` or `OAuthClientProvider`. */
  readonly auth_provider?: object;
  /** Makes the requests of the OAuth client. */
  readonly oauth: OAuthTraffic;
  readonly fetch?: Fetch;
  readonly max_message_bytes?: number;
  /** Takes HTTP+SSE although the config does not say so, since the server has refused the other. */
  readonly is_sse?: boolean;
  /** Called with the credentials of each request, so that no message shows them. */
  readonly onsecret?: (credentials: string) => void;
  /** Called when the transport lives on though nothing will come any more. */
  readonly onend: (reason: string) => void;
}

/** A transport that was made, not started. */
export interface Link {
  readonly transport: SdkTransport;
  readonly kind: ServerTransport["type"];
  /** What a program has written to its standard error. */
  readonly stderr?: StderrTail;
}

/**
 * Makes the transport for a server. Errors: `UNSUPPORTED` for a program where none can be started.
 */
export async function openLink({ name, transport }: ServerConfig, options: LinkOptions): Promise<Link> {
  if (transport.type !== "stdio") return httpLink(transport, options);
  const { sdk, max_message_bytes: maxBufferSize = MAX_MESSAGE_BYTES } = options;
  if (sdk.stdio === undefined) {
    const hint = "a server with `url`, or the gateway in Node, Deno or Bun";
    throw new ContextWeaverError("UNSUPPORTED", `the server \`${name}\` is a program, which cannot be started here`, {
      hint,
    });
  }
  const { command, args, env, cwd } = transport;
  const parameters = {
    command,
    args: [...args],
    env: { ...inheritedHere(), ...env, ...options.forwarded },
    ...(cwd !== undefined && { cwd }),
    stderr: "pipe" as const,
    maxBufferSize,
  };
  const Programs =
    programTransport(sdk.client.ReadBuffer as Parameters<typeof programTransport>[0]) ??
    (await sdk.stdio()).StdioClientTransport;
  const made = new Programs(parameters as never) as SdkStdioTransport;
  keepsNumbers(made);
  // It is read even if nobody asks: a program stops when this pipe is full.
  return { transport: made, kind: "stdio", stderr: new StderrTail(made.stderr) };
}

type HttpTransport = Exclude<ServerTransport, { readonly type: "stdio" }>;

function httpLink({ type, url, headers }: HttpTransport, options: LinkOptions): Link {
  const {
    sdk,
    forwarded = {},
    auth_provider,
    max_message_bytes = MAX_MESSAGE_BYTES,
    is_sse = type === "sse",
    onend,
    onsecret,
  } = options;
  const address = new URL(url);
  const sent = new Headers(headers);
  for (const [name, value] of Object.entries(forwarded)) sent.set(name, value);
  const link = new HttpLink({
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    max_message_bytes,
    onend,
    isSse: is_sse,
    address,
  });
  const fetcher: Fetch = async (input, init = {}) => {
    const target = new URL(input);
    const asked = new Headers(init.headers);
    const credentials = asked.get("authorization");
    if (credentials !== null) onsecret?.(credentials);
    // The SDK would send them to authorization servers, too, which are anybody's.
    const isOwn = target.origin === address.origin;
    if (isOwn) for (const [name, value] of sent) if (!asked.has(name)) asked.set(name, value);
    const made = { ...init, headers: asked };
    if (!isOwn || isOAuthRequest(made)) return options.oauth.fetch(input, made, link.fetch);
    if (typeof init.body === "string") made.body = withNumbers(init.body);
    const token = /^bearer +(.+)$/i.exec(credentials ?? "")?.[1];
    const response = await link.fetch(input, made);
    if (isChallenge(response) && token !== undefined) options.oauth.refusedAccess(token);
    await tellChallenge(auth_provider, response, token);
    const newer = response.status === 401 && token !== undefined ? await newerToken(auth_provider, token) : undefined;
    if (newer === undefined) return withBody(response, keepingNumbers);
    // Another request, or another gateway with the same store, has renewed the tokens meanwhile.
    await response.body?.cancel();
    onsecret?.(`Bearer ${newer}`);
    asked.set("authorization", `Bearer ${newer}`);
    const again = await link.fetch(input, made);
    if (isChallenge(again)) options.oauth.refusedAccess(newer);
    await tellChallenge(auth_provider, again, newer);
    return withBody(again, keepingNumbers);
  };
  const made = { fetch: fetcher, ...(auth_provider && { authProvider: auth_provider }) } as never;
  const inner = is_sse
    ? new sdk.client.SSEClientTransport(address, made)
    : new sdk.client.StreamableHTTPClientTransport(address, made);
  return { transport: link.around(inner as SdkHttpTransport), kind: is_sse ? "sse" : "http" };
}

/**
 * Makes the provider for a server where the gateway itself is the client (grant `client_credentials`), which all its connections share
 * with the tokens they got; nothing for another.
 */
export function credentialsOf({ oauth }: ServerConfig, { client }: UpstreamSdk): object | undefined {
  if (oauth?.grant !== "client_credentials") return undefined;
  const {
    client_id: clientId,
    client_secret: clientSecret,
    private_key: privateKey,
    signing_algorithm: algorithm,
    scopes,
    issuer: expectedIssuer,
  } = oauth;
  const both = {
    clientId,
    ...(scopes && { scope: scopes.join(" ") }),
    ...(expectedIssuer !== undefined && { expectedIssuer }),
  };
  if (privateKey !== undefined) return new client.PrivateKeyJwtProvider({ ...both, privateKey, algorithm } as never);
  return new client.ClientCredentialsProvider({ ...both, clientSecret } as never);
}

/** Whether the answer to the first message says that a server only speaks HTTP+SSE of 2024-11-05. @internal */
export function refusesStreamable(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 403, 407, 408, 425, 429].includes(status);
}
