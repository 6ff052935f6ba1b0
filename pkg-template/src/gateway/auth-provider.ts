// What the gateway asks of an OAuth provider beyond what the SDK asks: whether a user has to log in first.

/** What a server waits for until its user has logged in. */
export interface AwaitedLogin {
  /** What the user must do, without the address: whoever has it could log the gateway in as somebody else. */
  readonly hint: string;
  /** Whether nothing works until then. Otherwise only what needs more than was granted fails. */
  readonly is_blocking: boolean;
}

/** Methods that a provider of the SDK may have beside the SDK's own. */
export interface GatewayAuthProvider {
  /** The login that is awaited, if one is. While it is blocking, the gateway neither connects nor tries again. */
  awaited?(): AwaitedLogin | undefined;
  /**
   * Called before the SDK begins a login, for 401 or for 403 with `insufficient_scope`, with the access token that was sent. What it
   * throws fails the request. Where `tokens()` returns another access token afterwards, the request is sent again with that one.
   */
  challenged?(status: 401 | 403, access_token?: string): void | Promise<void>;
  /** Called with a refresh token that the authorization server has refused (`invalid_grant`), before the SDK gives up the tokens. */
  refused?(refresh_token: string): void;
}

/** The login that a provider waits for. @internal */
export function awaitedLogin(provider: object | undefined): AwaitedLogin | undefined {
  return (provider as GatewayAuthProvider | undefined)?.awaited?.();
}

/** Whether a response is one by which the SDK begins a login. @internal */
export function isChallenge({ status, headers }: Response): boolean {
  return status === 401 || (status === 403 && /insufficient_scope/.test(headers.get("www-authenticate") ?? ""));
}

/** Tells a provider of a response by which the SDK is about to begin a login. @internal */
export async function tellChallenge(
  provider: object | undefined,
  response: Response,
  access_token: string | undefined,
): Promise<void> {
  if (!isChallenge(response)) return;
  await (provider as GatewayAuthProvider | undefined)?.challenged?.(response.status as 401 | 403, access_token);
}

/** The access token that a provider has by now in place of one that was refused. @internal */
export async function newerToken(provider: object | undefined, refused: string): Promise<string | undefined> {
  const { tokens, dpop } = (provider ?? {}) as { tokens?(): unknown; readonly dpop?: unknown };
  // A proof belongs to one request, and only the SDK makes them.
  if (typeof tokens !== "function" || dpop !== undefined) return undefined;
  const { access_token } = ((await tokens.call(provider)) ?? {}) as { readonly access_token?: unknown };
  return typeof access_token === "string" && access_token !== refused ? access_token : undefined;
}

/** What is said of a server whose user has to log in. @internal */
export function loginMessage({ hint, is_blocking }: AwaitedLogin): string {
  return is_blocking ? `waits for its user to log in: ${hint}` : `its user has to allow more: ${hint}`;
}
