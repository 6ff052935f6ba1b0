// Which hosts the gateway asks for OAuth metadata and tokens: what a server says of them is not to be believed blindly, as it would
// have the gateway send requests to machines that only the gateway can reach.
import { isLoopback } from "../mcp/mcp-access.js";

/** Names that only a private network knows, beside those without a dot. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa)$/;
/** Addresses of private networks (RFC 1918, 6598), of this machine, and those that nobody routes. */
const PRIVATE_V4 =
  /^(?:0|10|127)\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^172\.(?:1[6-9]|2\d|3[01])\.|^192\.168\.|^198\.1[89]\.|^(?:22[4-9]|2[3-5]\d)\./;
/** Link-local addresses, where clouds hand out credentials of the machine. */
const LINK_LOCAL_V4 = /^169\.254\./;
/** Hosts that are remembered of what authorization servers say of themselves. */
const MAX_HOSTS = 64;
/** Fields of an authorization server's metadata that are asked. */
const ENDPOINTS = ["issuer", "token_endpoint", "registration_endpoint"] as const;

/** Hosts that one server's login may ask. */
export class OAuthHosts {
  readonly #own: string;
  readonly #isPinned: boolean;
  readonly #allowed: readonly string[];
  /** Hosts that were named by hosts that may be asked. */
  readonly #named = new Set<string>();

  /** `issuer` and `allowed_hosts` of the configuration go before what the server says. */
  constructor(
    url: string,
    { issuer, allowed_hosts = [] }: { readonly issuer?: string; readonly allowed_hosts?: readonly string[] } = {},
  ) {
    this.#own = hostOf(url);
    this.#isPinned = issuer !== undefined;
    this.#allowed = [...allowed_hosts.map((host) => `http://${host}`), ...(issuer === undefined ? [] : [issuer])].map(
      hostOf,
    );
  }

  /** Throws for a host that may not be asked. A `TypeError`, since the SDK would go on with another address after any other error. */
  check(address: URL): void {
    const host = hostOf(address.href);
    if (host === this.#own || this.#allowed.includes(host)) return;
    if (isLinkLocal(host) || (isPrivate(host) && !isPrivate(this.#own))) {
      throw new TypeError(
        `the login leads to \`${host.slice(0, 100)}\`, an address of a private network: name it in \`oauth.allowed_hosts\` if it is meant`,
      );
    }
    if (this.#named.has(host)) return;
    throw new TypeError(
      `the login leads to \`${host.slice(0, 100)}\`, which is neither the server's host nor one of its authorization server: name it in \`oauth.allowed_hosts\` if it is meant`,
    );
  }

  /** Takes metadata that came from a host that may be asked: the hosts they name may be asked, too. */
  learn(metadata: Readonly<Record<string, unknown>>): void {
    const { authorization_servers: servers } = metadata;
    // With an issuer in the configuration the server has no say.
    const named: readonly unknown[] = [
      ...(Array.isArray(servers) && !this.#isPinned ? servers : []),
      ...ENDPOINTS.map((name) => metadata[name]),
    ];
    for (const one of named)
      if (typeof one === "string" && URL.canParse(one) && this.#named.size < MAX_HOSTS) this.#named.add(hostOf(one));
  }
}

/** The name of an address's host; all names of this machine are one. */
function hostOf(address: string): string {
  const { hostname } = new URL(address);
  return isLoopback(hostname) || hostname.endsWith(".localhost")
    ? "localhost"
    : hostname.replace(/\.$/, "").toLowerCase();
}

function isPrivate(host: string): boolean {
  if (host.startsWith("[")) return isPrivateV6(host.slice(1, -1));
  return /^[\d.]+$/.test(host)
    ? PRIVATE_V4.test(host) || isLinkLocal(host)
    : !host.includes(".") || PRIVATE_NAME.test(host);
}

/** `::`, `::1`, mapped and translated IPv4, unique local, link-local, multicast. */
function isPrivateV6(address: string): boolean {
  return address === "::" || address === "::1" || /^(?:f[cdef]|::ffff:|64:ff9b:)/.test(address);
}

function isLinkLocal(host: string): boolean {
  return LINK_LOCAL_V4.test(host) || /^\[(?:fe[89ab]|fd00:ec2:|::ffff:a9fe:)/.test(host);
}
