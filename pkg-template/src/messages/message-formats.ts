/** The names of all formats of messages. */
export const MESSAGE_FORMATS = [
  "openai-chat",
  "openai-responses",
  "anthropic",
  "gemini",
  "ai-sdk-ui",
  "ai-sdk-model",
] as const;
