// What a client is told of what went wrong.
import { ContextWeaverError } from "../boundary/errors.js";
import { failureOf } from "./failure.js";
import type { FrontHost } from "./front-host.js";
import { INTERNAL_ERROR } from "./rpc-codes.js";

/** An error of the protocol. */
export function protocolError({ sdk }: FrontHost, code: number, message: string, data?: unknown): Error {
  return new sdk.ProtocolError(code, message, data);
}

/** What the client is told of a failure: the error of the protocol as the server sent it, masked. */
export function toldError(host: FrontHost, error: unknown): Error {
  if (error instanceof host.sdk.ProtocolError) return error;
  const { code, message, data } = failureOf(error, []);
  if (code === undefined && !ContextWeaverError.is(error)) host.onError(error);
  return protocolError(host, code ?? INTERNAL_ERROR, message, data);
}
