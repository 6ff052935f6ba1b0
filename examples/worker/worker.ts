// A Worker that compiles prompts: POST /build with { items, build, options? } answers the prompt and what was left out.
import { ContextManager, ContextWeaverError } from "contextweaver";
import type { BuildOptions, ContextItem, ContextManagerOptions } from "contextweaver";

interface Job {
  items: ContextItem[];
  build: BuildOptions;
  options?: ContextManagerOptions;
}

const MAX_BYTES = 4 * 1024 * 1024;

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname !== "/build") return problem(404, "NOT_FOUND", "POST to /build");
    if (request.method !== "POST") return problem(405, "UNSUPPORTED", "POST to /build");
    const body = await request.text();
    if (body.length > MAX_BYTES) return problem(413, "TOO_LARGE", "at most 4 MiB");
    try {
      return Response.json(compile(JSON.parse(body) as Job));
    } catch (error) {
      return refused(error);
    }
  },
};

/** Everything is checked by the package: a job is whatever somebody has sent. */
function compile({ items, build, options }: Job): object {
  // Freed at the end, so that an isolate serves any number of requests in the same memory.
  const context = new ContextManager(options);
  try {
    context.ingestAll(items);
    const { prompt, stats, warnings = [] } = context.build(build);
    return {
      prompt,
      tokens: stats.prompt_tokens,
      budget: stats.budget_tokens,
      dropped: stats.dropped_items.map(({ item_id, reason, tokens }) => ({ item_id, reason, tokens })),
      warnings,
    };
  } finally {
    context.free();
  }
}

function refused(error: unknown): Response {
  if (error instanceof SyntaxError) return problem(400, "DECODE_FAILED", "the body is not JSON");
  if (!ContextWeaverError.is(error)) throw error;
  const ours = error.code === "INTERNAL" || error.code === "POISONED";
  return problem(ours ? 500 : 422, error.code, error.message, error.path);
}

function problem(status: number, code: string, message: string, path?: string): Response {
  return Response.json({ code, message, path }, { status });
}
