// Compiled, never run: a chat agent of Cloudflare whose log is kept, without a cast.
import { AIChatAgent } from "@cloudflare/ai-chat";
import { convertToModelMessages, isStepCount, streamText, tool } from "ai";
import type { LanguageModel } from "ai";
import { r2Blobs } from "contextweaver/cloudflare";
import { withContextWeaver } from "contextweaver/cloudflare-agents";
import { z } from "zod";

interface Env extends Cloudflare.Env {
  readonly BUCKET: R2Bucket;
}
declare const model: LanguageModel;
const tools = {
  read: tool({ description: "Read a file", inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => path.length }),
};

export class Chat extends withContextWeaver(AIChatAgent<Env>) {
  override async onChatMessage(): Promise<Response> {
    const cw = await this.contextWeaver({ tools, budget_tokens: 16_000, blobs: r2Blobs(this.env.BUCKET), always: ["read"] });
    const messages = await convertToModelMessages(this.messages, { tools: cw.tools });
    const result = streamText({ model, messages, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: isStepCount(20) });
    return result.toUIMessageStreamResponse();
  }

  async said(): Promise<number> {
    // @ts-expect-error results need a place where they are kept
    await this.contextWeaver({ tools, budget_tokens: 16_000 });
    const { session } = await this.contextWeaver({ tools, budget_tokens: 16_000, blobs: r2Blobs(this.env.BUCKET), manager: { ledger: true } });
    return session.manager.stats().items;
  }
}
