// Addresses of resources in what servers answer. Where a client would be led to another server by one, it names its server, as lists do.
import type { UpstreamListing } from "./listing.js";
import type { Fields } from "./server-sdk.js";

/** Behind an address, before the name of its server. */
const ADDRESS_OF = "contextweaver-server=";

/** What a server lists: addresses, and how addresses begin that its templates make. */
interface Listed {
  readonly addresses: ReadonlySet<string>;
  readonly beginnings: readonly string[];
}

const NOTHING: Listed = { addresses: new Set(), beginnings: [] };

/** A server, with what it lists. */
export interface ListedServer {
  readonly name: string;
  readonly listing: UpstreamListing | undefined;
}

/** The addresses by which clients have what servers name. */
export class ResourceLinks {
  readonly #servers: () => Iterable<ListedServer>;
  readonly #read = new WeakMap<UpstreamListing, Listed>();

  /** `servers` come in the order in which they are asked. */
  constructor(servers: () => Iterable<ListedServer>) {
    this.#servers = servers;
  }

  /** The server that is asked for an address since it lists it, or has a template for it; that of most addresses is only guessed. */
  owner(uri: string): string | undefined {
    let templated: string | undefined;
    for (const { name, listing } of this.#servers()) {
      const { addresses, beginnings } = this.#listed(listing);
      if (addresses.has(uri)) return name;
      if (beginnings.some((beginning) => uri.startsWith(beginning))) templated ??= name;
    }
    return templated;
  }

  /** The address that a client has for what a server names so. */
  shown(server: string, uri: string): string {
    const owner = this.owner(uri);
    // What only looks like the address of another server is marked, too.
    if (owner === undefined || (owner === server && !uri.includes(ADDRESS_OF))) return uri;
    return `${uri}${uri.includes("#") ? "&" : "#"}${ADDRESS_OF}${server}`;
  }

  /** A result of a tool, or of a prompt, with the addresses that a client has for what it links and embeds. */
  inResult(server: string, result: Fields): Fields {
    const { content, messages } = result;
    return {
      ...result,
      ...(Array.isArray(content) && { content: content.map((block) => this.#inBlock(server, block)) }),
      ...(Array.isArray(messages) && { messages: messages.map((message) => this.#inMessage(server, message)) }),
    };
  }

  #inMessage(server: string, message: unknown): unknown {
    if (!isFields(message)) return message;
    const { content } = message;
    const blocks = Array.isArray(content) ? content.map((block) => this.#inBlock(server, block)) : undefined;
    return { ...message, content: blocks ?? this.#inBlock(server, content) };
  }

  #inBlock(server: string, block: unknown): unknown {
    if (!isFields(block)) return block;
    if (block["type"] === "resource_link") return this.#renamed(server, block);
    const { type, resource } = block;
    return type === "resource" && isFields(resource) ? { ...block, resource: this.#renamed(server, resource) } : block;
  }

  #renamed(server: string, named: Fields): Fields {
    const { uri } = named;
    return typeof uri === "string" ? { ...named, uri: this.shown(server, uri) } : named;
  }

  #listed(listing: UpstreamListing | undefined): Listed {
    if (!listing || listing.counts.resources + listing.counts.resource_templates === 0) return NOTHING;
    const known = this.#read.get(listing);
    if (known) return known;
    const { resources = [], resource_templates = [] } = JSON.parse(new TextDecoder().decode(listing.bytes)) as {
      readonly resources?: readonly Fields[];
      readonly resource_templates?: readonly Fields[];
    };
    const beginnings = texts(resource_templates, "uriTemplate").flatMap((template) => template.split("{", 1)[0] || []);
    const listed = { addresses: new Set(texts(resources, "uri")), beginnings: [...new Set(beginnings)] };
    this.#read.set(listing, listed);
    return listed;
  }
}

function texts(entries: readonly Fields[], key: string): readonly string[] {
  return entries.map((entry) => entry[key]).filter((value) => typeof value === "string");
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
