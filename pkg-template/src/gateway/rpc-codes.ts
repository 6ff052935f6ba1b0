// Codes of errors of JSON-RPC and of MCP, as far as the gateway speaks of them.

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
/** Any error of a server, as JSON-RPC leaves it to servers. */
export const SERVER_ERROR = -32_000;
export const RESOURCE_NOT_FOUND = -32_002;
/** Headers and arguments disagree: the server has not run the tool. */
export const HEADER_MISMATCH = -32_020;
/** The client has not declared what the server needs (2026-07-28). */
export const MISSING_CAPABILITY = -32_021;
/** The server speaks other revisions alone, which stand beside it. */
export const UNSUPPORTED_PROTOCOL_VERSION = -32_022;
export const URL_ELICITATION_REQUIRED = -32_042;
