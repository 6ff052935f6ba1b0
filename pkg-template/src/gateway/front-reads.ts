// Resources, prompts and what completes their arguments: they are asked of the server that has them, and its answer passes whole, masked.
import { ContextWeaverError } from "../boundary/errors.js";
import { mendedContents, mendedMessages } from "../mcp/mcp-blocks.js";
import type { MendedResult } from "../mcp/mcp-blocks.js";
import { maskedText } from "./failure.js";
import { firstKnown, isUnknown } from "./first-known.js";
import type { ServedClient } from "./front-client.js";
import { protocolError, toldError } from "./front-errors.js";
import type { FrontHost } from "./front-host.js";
import type { FrontUpstream } from "./front-upstream.js";
import { maskedContents, maskedMessages } from "./masked-reads.js";
import { INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND } from "./rpc-codes.js";
import type { Fields, McpRequest, RequestContext } from "./server-sdk.js";

/** A server that may have a resource, with the address that it has for it. */
export interface ResourcePlace {
  readonly server: string;
  readonly uri: string;
}

/** What a client reads of servers. */
export class FrontReads {
  readonly #host: FrontHost;
  readonly #client: ServedClient;
  readonly #upstream: FrontUpstream;

  constructor(host: FrontHost, client: ServedClient, upstream: FrontUpstream) {
    [this.#host, this.#client, this.#upstream] = [host, client, upstream];
  }

  async resource({ params = {} }: McpRequest, context: RequestContext): Promise<Fields> {
    await this.#host.started();
    const uri = String(params["uri"]);
    return this.ofResource(uri, async ({ server, uri: known }) => {
      const result = await this.#upstream.pass(server, "resources/read", { uri: known }, context);
      const problem = await this.#host.skills.problem(server, known, result);
      if (problem !== undefined)
        throw protocolError(
          this.#host,
          INTERNAL_ERROR,
          `the file is not what the entry of its skill says: it ${problem}`,
        );
      const answer = known === uri ? result : renamed(result, known, uri);
      if (!isAnswer(answer)) return answer;
      const contents = this.#told(server, uri, mendedContents(answer, uri));
      // A client compares a file with what the entry of its skill says of it.
      return this.#host.skills.isDescribed(server, known)
        ? contents
        : maskedContents(contents, this.#host.masking(server));
    });
  }

  /** What is done with a resource at the first server that knows it. */
  async ofResource<T>(uri: string, run: (place: ResourcePlace) => Promise<T>): Promise<T> {
    const places = this.#having(uri);
    if (places.length === 0)
      throw protocolError(
        this.#host,
        this.#client.is_modern ? INVALID_PARAMS : RESOURCE_NOT_FOUND,
        "Resource not found",
        { uri },
      );
    try {
      return await firstKnown(places, run, this.#isGuessed(places[0]?.uri ?? uri));
    } catch (error) {
      throw toldError(this.#host, error);
    }
  }

  async prompt({ params = {} }: McpRequest, context: RequestContext): Promise<Fields> {
    await this.#host.started();
    const name = String(params["name"]);
    const found = this.#prompt(name);
    if (!found) throw protocolError(this.#host, INVALID_PARAMS, `no prompt is called \`${name.slice(0, 100)}\``);
    try {
      const result = await this.#upstream.pass(found.server, "prompts/get", { ...params, name: found.name }, context);
      if (!isAnswer(result)) return result;
      const messages = maskedMessages(
        this.#told(found.server, name, mendedMessages(result)),
        this.#host.masking(found.server),
      );
      return this.#host.links.inResult(found.server, messages);
    } catch (error) {
      throw toldError(this.#host, error);
    }
  }

  async completion({ params = {} }: McpRequest, context: RequestContext): Promise<Fields> {
    await this.#host.started();
    const ref = (params["ref"] ?? {}) as Fields;
    try {
      if (ref["type"] === "ref/prompt") {
        const found = this.#prompt(String(ref["name"]));
        if (found)
          return await this.#upstream.pass(
            found.server,
            "completion/complete",
            { ...params, ref: { ...ref, name: found.name } },
            context,
          );
      } else {
        for (const { server, uri } of this.#having(String(ref["uri"]))) {
          try {
            return await this.#upstream.pass(
              server,
              "completion/complete",
              { ...params, ref: { ...ref, uri } },
              context,
            );
          } catch (error) {
            if (!isUnknown(error)) throw error;
          }
        }
      }
    } catch (error) {
      throw toldError(this.#host, error);
    }
    throw protocolError(this.#host, INVALID_PARAMS, "no server has what is to be completed");
  }

  /** Tells the log what was mended. */
  #told(server: string, name: string, { result, mended }: MendedResult): Fields {
    if (mended.length > 0) {
      const message = `the answer of \`${server}\` for \`${maskedText(name, []).slice(0, 100)}\` was malformed at ${mended.join(", ")}; it was mended`;
      this.#host.onError(new ContextWeaverError("INVALID_INPUT", message));
    }
    return result;
  }

  /** The servers that may have a resource. */
  #having(uri: string): readonly ResourcePlace[] {
    const found = known(() => this.#host.runtime.findResource(this.#client.key, uri));
    return found?.servers.map((server, place) => ({ server, uri: place === 0 ? found.uri : uri })) ?? [];
  }

  /** Whether no server says that it has an address. Views are in tools, and no server answers for another's. */
  #isGuessed(uri: string): boolean {
    return !uri.startsWith("ui://") && this.#host.links.owner(uri) === undefined;
  }

  /** The server of a prompt, with the name that it has there. */
  #prompt(name: string): ReturnType<FrontHost["runtime"]["findPrompt"]> | undefined {
    return known(() => this.#host.runtime.findPrompt(this.#client.key, name));
  }
}

/** Whether a result is the answer, and not a question of the server's. */
function isAnswer({ resultType }: Fields): boolean {
  return resultType === undefined || resultType === "complete";
}

/** What was read, under the address that the client has for it. */
function renamed(result: Fields, known: string, uri: string): Fields {
  const { contents } = result;
  if (!Array.isArray(contents)) return result;
  return {
    ...result,
    contents: (contents as readonly (Fields | null)[]).map((content) =>
      content?.["uri"] === known ? { ...content, uri } : content,
    ),
  };
}

/** What the runtime finds; nothing where there is no such thing. */
function known<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (ContextWeaverError.is(error) && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}
