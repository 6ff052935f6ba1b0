// A choice that forces the call of a tool.

interface Names {
  has(name: string): boolean;
}

/** The tool that a choice of the AI SDK's form forces, `{ type: "tool", toolName }`: none or one. */
export function forcedTool(choice: unknown): readonly string[] {
  const { toolName } = (choice ?? {}) as { readonly toolName?: unknown };
  return typeof toolName === "string" ? [toolName] : [];
}

/**
 * A choice as it may be sent: one that forces a tool of the caller's for which there was no room is left to the model, as `auto` says
 * it, since a provider refuses a name that is not among the tools. That the tool is left out is a warning of its own.
 */
export function choiceOf<Choice>(
  choice: Choice,
  forced: readonly string[],
  known: Names,
  offered: Names,
  auto: Choice,
): Choice {
  return forced.some((name) => known.has(name) && !offered.has(name)) ? auto : choice;
}
