// `contextweaver/cloudflare-agents`: chat agents on Cloudflare, whose log is kept where their messages are. It imports nothing of Cloudflare's.
import { contextWeaver } from "./ai-sdk.js";
import type { AiSdkTools, ContextWeaver, ContextWeaverOptions } from "./ai-sdk.js";
import { durableObjectStorage } from "./storage/cloudflare.js";
import type { DurableStorage } from "./storage/cloudflare.js";
import type { BlobStore } from "./storage/storage-types.js";
import { ContextWeaverError, openSession } from "contextweaver";
import type { OpenSessionOptions, StoredSession } from "contextweaver";

export type { BlobStore, DurableStorage };

/** How a turn of a chat agent is served. */
export interface ChatContextOptions<Tools extends AiSdkTools>
  extends Omit<ContextWeaverOptions<Tools>, "manager" | "session"> {
  /** Where large results are kept, which no row could hold: `r2Blobs(this.env.BUCKET)` of `contextweaver/cloudflare`. */
  readonly blobs: BlobStore;
  /**
   * Options of the log: those it begins with, and functions. Taken when the object wakes up, as the log is opened once. Default: those
   * it has.
   */
  readonly manager?: OpenSessionOptions;
}

/** What a turn of the AI SDK takes, over a log that is kept. */
export interface ChatContext<Tools extends AiSdkTools> extends ContextWeaver<Tools> {
  /** The log with its storage; saved in each step before the model is called. */
  readonly session: StoredSession;
}

/** What the mixin adds to a chat agent. */
export interface ChatAgentContext {
  /**
   * Serves a turn of the conversation: `tools` and `prepareStep` for `streamText`. The log is read from the agent's own storage when
   * it wakes up, and what is new is stored in each step.
   *
   * Errors: those of `contextWeaver` of `contextweaver/ai-sdk`, of `openSession` and of the storage.
   */
  contextWeaver<Tools extends AiSdkTools>(options: ChatContextOptions<Tools>): Promise<ChatContext<Tools>>;
}

// A mixin's constructor takes whatever its class does, which the compiler knows by this form alone.
type AgentClass = new (...args: any[]) => object;

/** Logs by their agents, which live as long as the isolate lets them. */
const sessions = new WeakMap<object, Promise<StoredSession>>();

/**
 * Gives a class of chat agents, `AIChatAgent` of `@cloudflare/ai-chat`, the method `contextWeaver`. The log is in tables
 * `contextweaver_*` beside the agent's own; large results are in the bucket.
 *
 * ```ts
 * export class Chat extends withContextWeaver(AIChatAgent<Env>) {
 *   async onChatMessage() {
 *     const cw = await this.contextWeaver({ tools, budget_tokens: 16_000, blobs: r2Blobs(this.env.BUCKET) });
 *     const messages = await convertToModelMessages(this.messages, { tools: cw.tools });
 *     const result = streamText({ model, messages, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: isStepCount(20) });
 *     return result.toUIMessageStreamResponse();
 *   }
 * }
 * ```
 */
export function withContextWeaver<Base extends AgentClass>(
  agent: Base,
): Base & (new (...args: any[]) => ChatAgentContext) {
  return class extends agent implements ChatAgentContext {
    async contextWeaver<Tools extends AiSdkTools>(options: ChatContextOptions<Tools>): Promise<ChatContext<Tools>> {
      const { blobs, manager, ...rest } = options;
      let opening = sessions.get(this);
      if (!opening) {
        opening = openSession(durableObjectStorage(storageOf(this), { blobs }), manager);
        sessions.set(this, opening);
        // What could not be opened is tried again with the next turn.
        opening.catch(() => sessions.delete(this));
      }
      const session = await opening;
      return { ...contextWeaver({ ...rest, session }), session };
    }
  };
}

/** The storage of a Durable Object, which its type keeps to the class. */
function storageOf(agent: object): DurableStorage {
  const { ctx } = agent as { readonly ctx?: { readonly storage?: DurableStorage } };
  if (ctx?.storage) return ctx.storage;
  throw new ContextWeaverError("UNSUPPORTED", "this is no Durable Object: it has no ctx.storage", {
    hint: "withContextWeaver(AIChatAgent)",
  });
}
