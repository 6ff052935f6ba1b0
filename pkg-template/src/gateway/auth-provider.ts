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
  /** Called before the SDK begins a login, for 401 or for 403 with `insufficient_scope`. What it throws fails the request. */
  challenged?(status: 401 | 403): void | Promise<void>;
}

/** The login that a provider waits for. @internal */
export function awaitedLogin(provider: object | undefined): AwaitedLogin | undefined {
  return (provider as GatewayAuthProvider | undefined)?.awaited?.();
}

/** Tells a provider of a response by which the SDK is about to begin a login. @internal */
export async function tellChallenge(provider: object | undefined, { status, headers }: Response): Promise<void> {
  if (status !== 401 && (status !== 403 || !/insufficient_scope/.test(headers.get("www-authenticate") ?? ""))) return;
  await (provider as GatewayAuthProvider | undefined)?.challenged?.(status);
}

/** What is said of a server whose user has to log in. @internal */
export function loginMessage({ hint, is_blocking }: AwaitedLogin): string {
  return is_blocking ? `waits for its user to log in: ${hint}` : `its user has to allow more: ${hint}`;
}
