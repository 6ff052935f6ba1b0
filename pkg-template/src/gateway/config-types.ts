// What a configuration of the gateway says: upstream servers, how each is reached, and what was found in the files.
import type { Masking } from "../manager/options.js";
import type { JsonObject } from "../types.js";

/** How one upstream server is reached. */
export type ServerTransport =
  | {
      readonly type: "stdio";
      /** The program; looked up in `PATH`. */
      readonly command: string;
      readonly args: readonly string[];
      /** Added to the few variables every server inherits, such as `PATH` and `HOME`. */
      readonly env: Readonly<Record<string, string>>;
      /** Default: the folder of the gateway. */
      readonly cwd?: string;
    }
  | {
      readonly type: "http" | "sse";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Whether HTTP+SSE of 2024-11-05 is tried when Streamable HTTP is refused: where no file says which of them it is. */
      readonly sse_fallback?: boolean;
    };

/** How the gateway is authorized at a server (OAuth 2.1). */
export interface ServerOAuth {
  /**
   * `client_credentials`: the gateway is the client, no user takes part, and `client_id` and a secret or key are there.
   * `authorization_code`: a user logs in. Default: the former where there is a secret or key.
   */
  readonly grant: "client_credentials" | "authorization_code";
  /** As registered with the authorization server. Without it the gateway registers itself. */
  readonly client_id?: string;
  readonly client_secret?: string;
  /** In place of a secret: a private key, PKCS #8 as PEM, that signs who the client is (`private_key_jwt`). */
  readonly private_key?: string;
  /** What it signs with, such as `RS256` or `ES256`. */
  readonly signing_algorithm?: string;
  /** Where the client's metadata are published, for authorization servers that read them there (`https`). */
  readonly client_metadata_url?: string;
  /** What to ask for where the server does not say. Default: nothing in particular. */
  readonly scopes?: readonly string[];
  /** The authorization server these credentials are for. They are sent to no other. */
  readonly issuer?: string;
  /** Hosts, beside the server's and those its authorization server names, that the login may ask, in a private network too. */
  readonly allowed_hosts?: readonly string[];
}

/** One upstream server of a configuration, with every variable expanded. As JSON it is what {@link describeServer} says. */
export interface ServerConfig {
  /** Letters, digits, `_`, `.` and `-`, at most 64: what is written otherwise is made so, each in its own way. */
  readonly name: string;
  /** The name as it is written, where it is another. */
  readonly configured_name?: string;
  readonly transport: ServerTransport;
  readonly disabled: boolean;
  /** Milliseconds a call may take. Default: 60,000. */
  readonly timeout_ms: number;
  /** Names or globs (`*`, `?`, `[a-c]`, `[!a-c]`) of the tools that are offered. Default: all. */
  readonly include_tools?: readonly string[];
  /** Names or globs of tools that are not offered, though they are included. */
  readonly exclude_tools?: readonly string[];
  /** Names of headers of the client's request that are sent on, in lower case. Each set of values has its own connection. */
  readonly forward_headers?: readonly string[];
  /** Headers, or variables of a program, with `${user.<name>}` in them: each caller has a connection of its own, with its own values. */
  readonly per_user?: Readonly<Record<string, string>>;
  /** Whether the server is asked first (`server/discover`) whether it speaks 2026-07-28. Default: true. */
  readonly probe: boolean;
  /** Whether all sessions share a connection or each has its own. Default: `shared` for stdio, `session` for others. */
  readonly connection: "shared" | "session";
  readonly oauth?: ServerOAuth;
  /** Whether credentials in results, resources and prompts are masked, and in which fields not. Default: as `manager.redact_secrets` says, which is true by itself. */
  readonly redact?: Masking;
  /** A ToolPolicy, checked by the runtime. */
  readonly policy?: JsonObject;
  /** Overrides of its tools by their names, checked by the runtime. */
  readonly tools?: JsonObject;
  /** Most tokens of its results that clients get. Default: as for all servers. */
  readonly result_tokens?: number;
}

/** A document with servers, as a desktop client or an editor wrote it. */
export interface ConfigDocument {
  /** What the document is called in errors, such as the name of its file. */
  readonly file: string;
  /** The parsed document, see {@link parseConfigText}. */
  readonly value: unknown;
}

/** What a reader of the files should know; nothing that prevents the start. */
export interface ConfigWarning {
  /**
   * `UNKNOWN_FIELD`: nobody we know has it. `IGNORED_FIELD`: another program's. `GUESSED`: read in one of several ways. `RENAMED`: a server
   * has another name here. `LEFT_OUT`: a server cannot be used as it is written. `DISABLED`: the same of one that is disabled.
   */
  readonly code: "UNKNOWN_FIELD" | "IGNORED_FIELD" | "GUESSED" | "RENAMED" | "LEFT_OUT" | "DISABLED";
  readonly file: string;
  /** JSON pointer into the document. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

/** Everything that was read. */
export interface ServersConfig {
  /** In the order of the documents. */
  readonly servers: readonly ServerConfig[];
  /** The `gateway` object as it was given; the runtime checks it. */
  readonly gateway?: JsonObject;
  readonly warnings: readonly ConfigWarning[];
}

/** A server without values of variables, headers, arguments or credentials: for reports. */
export interface ServerDescription {
  readonly name: string;
  /** The name in the configuration, where it is another. */
  readonly configured_name?: string;
  readonly type: ServerTransport["type"];
  readonly command?: string;
  /** Number of arguments. */
  readonly args?: number;
  /** The address without credentials, values of the query, and what looks like a key in its path. */
  readonly url?: string;
  /** Names of the environment variables the server is given. */
  readonly env?: readonly string[];
  /** Names of the headers. */
  readonly headers?: readonly string[];
  /** Names of the variables that were expanded. */
  readonly variables?: readonly string[];
  readonly forward_headers?: readonly string[];
  /** Names of the headers or variables that each caller has values of its own for. */
  readonly per_user?: readonly string[];
  readonly oauth?: true;
  readonly redact?: Masking;
  readonly connection: "shared" | "session";
  readonly disabled: boolean;
  readonly timeout_ms: number;
}
