// What a client gets of the result of a tool: it goes to whoever keeps results.
import { ContextWeaverError } from "../boundary/errors.js";
import type { DigestedResult } from "../mcp/mcp-digest.js";
import { showsViews } from "./extensions.js";
import { failureOf } from "./failure.js";
import type { ServedClient } from "./front-client.js";
import type { FrontHost } from "./front-host.js";
import type { ForwardedCall, MeasuredResult } from "./runtime-types.js";
import type { Fields, RequestContext } from "./server-sdk.js";

/** The capability of a client that reads structured content by itself. */
const STRUCTURED = "contextweaver/structured_content";

/** Of which call a result is. */
export type ResultOf = Pick<ForwardedCall, "server" | "tool" | "arguments" | "app" | "result_tokens" | "result_chars">;

/** A result that was kept, or what the client is told where that could not be. */
export type KeptResult =
  | { readonly digested: DigestedResult; readonly measured: MeasuredResult }
  | { readonly refusal: Fields; readonly code: string };

/** Keeps a result, and says what the client gets of it. Of one that cannot be kept it is told that the tool has run. */
export async function keptResult(
  host: FrontHost,
  client: ServedClient,
  about: ResultOf,
  result: Fields,
  context: RequestContext,
): Promise<KeptResult> {
  const { server, tool: name, arguments: given, app, result_tokens: tokens, result_chars: chars } = about;
  const capabilities = client.capabilities(context);
  const { experimental } = capabilities as { readonly experimental?: Fields };
  const is_once = host.isOnce && experimental?.[STRUCTURED] === undefined;
  // A host that has no views reads structured content as a model does.
  const whole = app === "only" ? "result" : app === "view" && showsViews(capabilities) ? "structured" : undefined;
  try {
    const most = { tokens, chars };
    const linked = host.links.inResult(server, result);
    const digested = await client.results.digest({
      name,
      arguments: given,
      server,
      result: linked,
      whole,
      most,
      is_once,
    });
    return { digested, measured: measuredOf(digested, result) };
  } catch (error) {
    host.onError(error);
    const code = ContextWeaverError.is(error) ? error.code : "INTERNAL";
    const message = `the tool has run, and its result could not be kept: ${failureOf(error, []).message}`;
    return {
      code,
      refusal: {
        content: [{ type: "text", text: JSON.stringify({ error: code, message, path: name, retryable: false }) }],
        isError: true,
      },
    };
  }
}

function measuredOf({ tokens, shown_tokens, bytes, handle, envelope }: DigestedResult, result: Fields): MeasuredResult {
  return {
    tokens,
    shown_tokens,
    bytes,
    is_error: result["isError"] === true,
    ...(handle !== undefined && { handle }),
    ...(envelope && { handles: envelope.artifacts.map((artifact) => artifact.handle) }),
  };
}
