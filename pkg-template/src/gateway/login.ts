// The gateway's own login to a server: a provider of the SDK whose user opens a page in a browser, wherever that is, and whose tokens
// are kept. Nothing here knows how the page is shown or where the browser comes back to.
import type { AwaitedLogin, GatewayAuthProvider } from "./auth-provider.js";
import type { ServerOAuth } from "./config-types.js";
import { byName } from "./oauth-answers.js";
import { OAuthTraffic } from "./oauth-traffic.js";
import type { JsonObject } from "../types.js";

/** Pages that were shown and may still be finished, per server. */
const MAX_ATTEMPTS = 8;
/** Verifiers of logins that have not got to their page yet. */
const MAX_VERIFIERS = 32;
/** How long an authorization server may take for each request, in milliseconds. */
const FINISH_MS = 30_000;
/** How often, and after how many milliseconds each, it is looked whether another gateway has renewed tokens that were refused here. */
const REREADS = 8;
const REREAD_MS = 250;

/** A page that was shown, and what its answer needs. */
interface LoginAttempt {
  readonly state: string;
  readonly verifier: string;
  readonly redirect_uri: string;
  readonly scope: string;
  /** What was found out of the authorization server: the answer is its own and no other's. */
  readonly discovery?: JsonObject | undefined;
}

/** What is kept of a server's login. */
export interface LoginRecord {
  /** The address of the server: its tokens are for no other. */
  readonly url: string;
  readonly redirect_uri?: string | undefined;
  readonly tokens?: JsonObject | undefined;
  /** The authorization server that has issued the tokens. */
  readonly issuer?: string | undefined;
  /** As which client the gateway is registered, by authorization server. */
  readonly clients?: Readonly<Record<string, JsonObject>>;
  readonly attempts?: readonly LoginAttempt[];
}

/** What logs in is made with. */
export interface LoginOptions {
  readonly server: string;
  readonly url: string;
  readonly oauth?: ServerOAuth | undefined;
  /** The module `@modelcontextprotocol/client`. */
  readonly client: LoginModule;
  /** Where the browser comes back to, opened for the first login; the argument is where it came back to before. Nothing: nobody can log in now. */
  readonly redirect?: ((before: string | undefined) => Promise<string>) | undefined;
  /** What its user must do, in the words of whoever shows the page. */
  readonly hint: string;
  /** Shows the page to the user. */
  show(page: URL): void;
  /** Whether other gateways keep their logins in the same place. */
  readonly is_shared?: boolean;
  read(): Promise<LoginRecord | undefined>;
  /** Keeps what `change` makes of the record that is kept by then, perhaps by another gateway; nothing where none is. */
  write(change: (kept: LoginRecord | undefined) => LoginRecord): Promise<void>;
}

/** What is used of the module. */
export interface LoginModule {
  readonly StreamableHTTPClientTransport: new (url: URL, options: never) => object;
  readonly createPrivateKeyJwtAuth: (options: never) => unknown;
  readonly UnauthorizedError: new (message: string) => Error;
}

type Issuer = { readonly issuer?: string } | undefined;

/** An `OAuthClientProvider` of the SDK for one server. @internal */
export class GatewayLogin implements GatewayAuthProvider {
  readonly server: string;
  readonly clientMetadataUrl?: string;
  /** Not there where the configuration says which client it is. */
  readonly saveClientInformation?: (information: JsonObject, context?: Issuer) => Promise<void>;
  readonly addClientAuthentication?: unknown;
  readonly #options: LoginOptions;
  #record: LoginRecord;
  #loading: Promise<void> | undefined;
  #redirect: string | undefined;
  #opening: Promise<string> | undefined;
  #verifiers: string[] = [];
  #discovery: JsonObject | undefined;
  /** States of the pages that this process has shown. */
  readonly #shown = new Set<string>();
  /** The access token that was sent last, and the one that was refused last. */
  #used: unknown;
  #refused: unknown;
  /** The refresh token that the authorization server has refused last. */
  #refusedRefresh: string | undefined;
  /** Whether a login is needed that cannot be begun here. */
  #isNeeded = false;

  constructor(options: LoginOptions) {
    const { server, url, oauth, client } = options;
    [this.server, this.#options, this.#record] = [server, options, { url }];
    const { client_id, private_key: privateKey, signing_algorithm: alg, client_metadata_url } = oauth ?? {};
    if (client_metadata_url !== undefined) this.clientMetadataUrl = client_metadata_url;
    if (client_id === undefined && options.redirect !== undefined)
      this.saveClientInformation = (information, context) => this.#saveClient(information, context);
    if (privateKey !== undefined)
      this.addClientAuthentication = client.createPrivateKeyJwtAuth({
        issuer: client_id,
        subject: client_id,
        privateKey,
        alg,
      } as never);
  }

  get redirectUrl(): string {
    // Where nobody can log in, tokens are renewed all the same.
    return this.#redirect ?? "http://127.0.0.1/callback";
  }

  get clientMetadata(): JsonObject {
    const { scopes, private_key, client_secret } = this.#options.oauth ?? {};
    const method =
      private_key !== undefined ? "private_key_jwt" : client_secret !== undefined ? "client_secret_basic" : undefined;
    return {
      client_name: "contextweaver gateway",
      redirect_uris: [this.redirectUrl],
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...(method !== undefined && { token_endpoint_auth_method: method }),
      ...(scopes && { scope: scopes.join(" ") }),
    };
  }

  awaited(): AwaitedLogin | undefined {
    const { hint } = this.#options;
    if (!this.#isNeeded && this.#shown.size === 0) return undefined;
    const token = this.#record.tokens?.["access_token"];
    return { hint, is_blocking: token === undefined || token === this.#refused };
  }

  async challenged(status: 401 | 403, sent: unknown = this.#used): Promise<void> {
    if (status === 401) this.#refused = sent;
    // Another gateway with this store may have logged in, or have renewed the tokens.
    await this.#load(true);
    const { access_token, refresh_token } = this.#record.tokens ?? {};
    if (status === 401 && access_token !== undefined && access_token !== sent) return;
    const { redirect, client } = this.#options;
    if (redirect) {
      this.#redirect ??= await (this.#opening ??= redirect(this.#record.redirect_uri).finally(
        () => (this.#opening = undefined),
      ));
      return;
    }
    if (status === 401 && refresh_token !== undefined) return;
    this.#isNeeded = true;
    throw new client.UnauthorizedError("its user has to log in");
  }

  refused(refresh_token: string): void {
    this.#refusedRefresh = refresh_token;
  }

  state(): string {
    return base64url(crypto.getRandomValues(new Uint8Array(32)));
  }

  async clientInformation(context?: Issuer): Promise<JsonObject | undefined> {
    await this.#load();
    const { client_id, client_secret, issuer = this.#record.issuer } = this.#options.oauth ?? {};
    // Without an issuer in the configuration the first one stays the only one: a secret goes to no other.
    if (client_id !== undefined)
      return {
        client_id,
        ...(client_secret !== undefined && { client_secret }),
        ...(issuer !== undefined && { issuer }),
      };
    const known = this.#record.clients?.[context?.issuer ?? ""];
    const uris = known?.["redirect_uris"];
    this.#adopt(uris);
    // A client is registered with the address that the browser comes back to.
    return this.#options.redirect !== undefined && Array.isArray(uris) && !uris.includes(this.redirectUrl)
      ? undefined
      : known;
  }

  async #saveClient(information: JsonObject, context: Issuer): Promise<void> {
    await this.#load();
    this.#adopt(information["redirect_uris"]);
    await this.#keep((kept) => ({
      ...kept,
      clients: { ...kept.clients, [context?.issuer ?? ""]: information },
      redirect_uri: this.redirectUrl,
    }));
  }

  /** Has the browser come back to this machine by its name, where the gateway is registered so. */
  #adopt(uris: unknown): void {
    if (this.#redirect === undefined || !Array.isArray(uris) || uris.includes(this.#redirect)) return;
    const named = byName(this.#redirect);
    if (uris.includes(named)) this.#redirect = named;
  }

  /** Which resource tokens are for: the server, by its address or a part of it, with a slash at the end or without. */
  validateResourceURL(server: string | URL, resource?: string): Promise<URL | undefined> {
    return Promise.resolve(resource === undefined ? undefined : resourceOf(new URL(server), resource));
  }

  async tokens(context?: Issuer): Promise<JsonObject | undefined> {
    await this.#load();
    const { tokens } = this.#record;
    if (context === undefined) this.#used = tokens?.["access_token"];
    return tokens;
  }

  async saveTokens(tokens: JsonObject, context?: Issuer): Promise<void> {
    this.#isNeeded = false;
    await this.#keep((kept) => ({
      ...kept,
      tokens,
      issuer: context?.issuer ?? (tokens["issuer"] as string | undefined),
    }));
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifiers = [...this.#verifiers, verifier].slice(-MAX_VERIFIERS);
  }

  codeVerifier(): string {
    throw new Error("each answer has the verifier of its own page");
  }

  saveDiscoveryState(state: JsonObject): void {
    this.#discovery = state;
  }

  /** What was found out holds for one login: the server may have another authorization server by the next. */
  discoveryState(): undefined {
    return undefined;
  }

  async redirectToAuthorization(page: URL): Promise<void> {
    // Whoever opens it must not open a file or start a program.
    if (page.protocol !== "https:" && page.protocol !== "http:")
      throw new Error(
        `the authorization server names a login page of the scheme \`${page.protocol.slice(0, 40)}\`, which is no page of the web`,
      );
    const scope = page.searchParams.get("scope") ?? "";
    const pending = (this.#record.attempts ?? []).filter(({ state }) => this.#shown.has(state));
    // Several connections find out at once; one page is enough.
    if (!this.#options.redirect) this.#isNeeded = true;
    if (!this.#options.redirect || pending.some((one) => covers(one.scope, scope))) return;
    const state = page.searchParams.get("state") ?? "";
    const verifier = await this.#verifierOf(page.searchParams.get("code_challenge") ?? "");
    const attempt: LoginAttempt = {
      state,
      verifier,
      redirect_uri: this.redirectUrl,
      scope,
      discovery: this.#discovery,
    };
    this.#shown.add(state);
    await this.#keep((kept) => ({
      ...kept,
      attempts: [...(kept.attempts ?? []), attempt].slice(-MAX_ATTEMPTS),
      redirect_uri: this.redirectUrl,
    }));
    this.#forgetShown();
    this.#options.show(page);
  }

  /** Gives up what the authorization server has refused, and nothing that came in its place meanwhile. */
  async invalidateCredentials(what: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    if (what === "all" || what === "client") {
      const known = JSON.stringify(this.#record.clients);
      await this.#keep((kept) =>
        JSON.stringify(kept.clients) === known ? { ...kept, clients: {}, tokens: undefined } : kept,
      );
    }
    const refused = this.#refusedRefresh;
    if (what !== "tokens" || refused === undefined) return;
    // Where two gateways renew at once, one is refused, and has the tokens of the other a little later.
    for (
      let count = 0;
      this.#options.is_shared === true && count < REREADS && this.#record.tokens?.["refresh_token"] === refused;
      count += 1
    ) {
      if (count > 0) await new Promise((done) => setTimeout(done, REREAD_MS));
      await this.#load(true);
    }
    await this.#keep((kept) => (kept.tokens?.["refresh_token"] === refused ? { ...kept, tokens: undefined } : kept));
  }

  /** Whether another gateway with the same store has tokens by now that were not refused here. */
  async isDoneElsewhere(): Promise<boolean> {
    await this.#load(true);
    return this.awaited()?.is_blocking === false;
  }

  /** Whether the answer with this state is to a page of this server. */
  async isOwn(state: string): Promise<boolean> {
    await this.#load();
    return (this.#record.attempts ?? []).some((attempt) => attempt.state === state);
  }

  /**
   * Takes what the browser brought back, once. Errors: those of the SDK, such as for another issuer or a user who has refused; then the
   * page is used up, too.
   */
  async finish(answer: URLSearchParams): Promise<void> {
    await this.#load();
    const attempts = this.#record.attempts ?? [];
    const attempt = attempts.find(({ state }) => state === answer.get("state"));
    if (attempt === undefined) throw new Error("this login was not begun here, or has come to an end");
    await this.#keepAttempts(({ state }) => state !== attempt.state);
    const { url, client, oauth } = this.#options;
    const traffic = new OAuthTraffic(url, oauth, () => undefined);
    // What it asks was found out, and checked, before the page was shown.
    const { authorizationServerUrl: server, authorizationServerMetadata: metadata } = attempt.discovery ?? {};
    traffic.learn({ authorization_servers: [server], ...(metadata as JsonObject | undefined) });
    const send = (input: string | URL, init?: RequestInit): Promise<Response> =>
      fetch(input, { ...init, signal: AbortSignal.timeout(FINISH_MS) });
    const transport = new client.StreamableHTTPClientTransport(new URL(url), {
      authProvider: this.#answering(attempt),
      fetch: (input: string | URL, init: RequestInit = {}) => traffic.fetch(input, init, send),
    } as never) as { finishAuth(answer: URLSearchParams): Promise<void> };
    await transport.finishAuth(answer);
    this.#refused = undefined;
    await this.#keepAttempts(({ scope }) => !covers(attempt.scope, scope));
  }

  /** This provider as it was when the page was shown. */
  #answering({ verifier, redirect_uri, discovery }: LoginAttempt): object {
    return {
      redirectUrl: redirect_uri,
      clientMetadata: { ...this.clientMetadata, redirect_uris: [redirect_uri] },
      clientInformation: (context?: Issuer) => this.clientInformation(context),
      tokens: (context?: Issuer) => this.tokens(context),
      validateResourceURL: (server: string | URL, resource?: string) => this.validateResourceURL(server, resource),
      saveTokens: (tokens: JsonObject, context?: Issuer) => this.saveTokens(tokens, context),
      saveCodeVerifier: () => undefined,
      codeVerifier: () => verifier,
      saveDiscoveryState: () => undefined,
      discoveryState: () => discovery,
      invalidateCredentials: (what: "all" | "client" | "tokens") => this.invalidateCredentials(what),
      redirectToAuthorization: () => {
        throw new Error("an answer leads to tokens, not to a page");
      },
      ...(this.addClientAuthentication !== undefined && { addClientAuthentication: this.addClientAuthentication }),
    };
  }

  async #keepAttempts(isKept: (attempt: LoginAttempt) => boolean): Promise<void> {
    await this.#keep((kept) => ({ ...kept, attempts: (kept.attempts ?? []).filter(isKept) }));
    this.#forgetShown();
  }

  #forgetShown(): void {
    const { attempts = [] } = this.#record;
    for (const state of this.#shown) if (!attempts.some((one) => one.state === state)) this.#shown.delete(state);
  }

  async #verifierOf(challenge: string): Promise<string> {
    for (const verifier of this.#verifiers) {
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
      if (base64url(new Uint8Array(digest)) !== challenge) continue;
      this.#verifiers = this.#verifiers.filter((one) => one !== verifier);
      return verifier;
    }
    throw new Error("the page asks for a verifier that was not made here");
  }

  /** Reads what is kept: once, or anew. */
  async #load(again = false): Promise<void> {
    if (again) this.#loading = undefined;
    await (this.#loading ??= this.#loaded());
  }

  async #loaded(): Promise<void> {
    const kept = await this.#options.read();
    if (kept?.url === this.#options.url) this.#record = kept;
  }

  async #keep(change: (kept: LoginRecord) => LoginRecord): Promise<void> {
    const known = this.#record;
    await this.#options.write((kept) => (this.#record = plain(change(kept?.url === this.#options.url ? kept : known))));
  }
}

function resourceOf(server: URL, resource: string): URL {
  const given = new URL(resource);
  const within = (path: string): string => (path.endsWith("/") ? path : `${path}/`);
  // It is named as the server publishes it: a URL would add a slash to one without a path.
  if (given.origin === server.origin && within(server.pathname).startsWith(within(given.pathname)))
    return Object.defineProperty(given, "href", { value: resource });
  throw new Error(
    `the protected resource ${resource.slice(0, 200)} is neither ${server.href} nor a part of its address`,
  );
}

/** Whether who is asked for the first scopes is asked for the others, too. */
function covers(asked: string, others: string): boolean {
  const known = asked.split(" ");
  return others.split(" ").every((scope) => scope === "" || known.includes(scope));
}

/** A copy, without what is no JSON. */
function plain(record: LoginRecord): LoginRecord {
  return JSON.parse(JSON.stringify(record)) as LoginRecord;
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
