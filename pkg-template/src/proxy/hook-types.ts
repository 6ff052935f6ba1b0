// The functions that are told of the calls of models behind a proxy, and what they are told: names, codes and counts. What was said, keys
// and addresses of clients are never among it.
import type { TraceContext } from "../gateway/hook-types.js";
import type { Hooks } from "../telemetry/hook-types.js";
import type { ProxyProvider } from "./routes.js";
import type { CallUsage } from "./usage.js";

/**
 * Functions told what a proxy does: those of the log of each conversation, such as of each prompt that is built and of each call that is
 * answered inside, and of each call of a model. One that throws disturbs no call.
 */
export interface ProxyHooks extends Hooks {
  /** A provider's answer has come to its end: once for each request to a provider that is a call of a model. */
  readonly model_call_completed?: (event: ModelCallCompleted) => void;
}

/** A call of a model is over. */
export interface ModelCallCompleted {
  readonly hook: "model_call_completed";
  readonly provider: ProxyProvider;
  /** What the provider calls it. */
  readonly operation: "chat" | "generate_content";
  /** As the client names it, at most 100 characters. */
  readonly model?: string;
  /** Where it was sent. */
  readonly server: { readonly address: string; readonly port: number };
  /** The how manieth call for one request of the client, from 1: more are made where calls are answered inside, or it was refused. */
  readonly round: number;
  /** As in the log of requests. */
  readonly sent: "whole" | "shortened" | "bypassed";
  /** Why it was bypassed. */
  readonly reason?: string;
  /** The status of HTTP; absent where there was no answer. */
  readonly status?: number;
  /**
   * Absent where all went well. The status from 400 on, `unreachable`, `cancelled` where the client went, or `broken_off` where the answer
   * did not come to its end.
   */
  readonly error_type?: string;
  /** When the request was sent, in milliseconds since 1970. */
  readonly at_ms: number;
  /** Until the end of the answer, or until the client went. */
  readonly duration_ms: number;
  /** Tokens of what was sent, and of what came, by the estimator; of the first round. */
  readonly tokens?: number;
  readonly tokens_without?: number;
  /** Why the prompt was made anew, where it was. */
  readonly cut?: string;
  /** As the provider counts it; absent where it does not, and where the call was bypassed. */
  readonly usage?: CallUsage;
  /** What the request's headers say of the client's trace. */
  readonly trace: TraceContext;
}
