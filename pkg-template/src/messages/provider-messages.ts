// Messages as the providers' SDKs take them, without the SDKs: what is written is assignable to their types. Aliases, not
// interfaces, as only these are also JSON objects to the compiler.

/** A text. */
type TextPart = {
  type: "text";
  text: string;
};

/** A message of OpenAI's chat completions. */
export type OpenAiChatMessage =
  | { role: "system" | "developer"; content: string | TextPart[] }
  | { role: "user"; content: string | (TextPart | OpenAiChatMedia)[] }
  | {
      role: "assistant";
      content?: string | (TextPart | { type: "refusal"; refusal: string })[] | null;
      refusal?: string | null;
      tool_calls?: {
        id: string;
        type: "function";
        function: { name: string; arguments: string };
      }[];
    }
  | { role: "tool"; tool_call_id: string; content: string | TextPart[] };

type OpenAiChatMedia =
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } }
  | { type: "file"; file: { filename?: string; file_data?: string; file_id?: string } };

/** An item of `input` of OpenAI's Responses. */
export type OpenAiResponsesItem =
  | {
      type?: "message";
      role: "user" | "assistant" | "system" | "developer";
      content: string | OpenAiResponsesContent[];
    }
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string | OpenAiResponsesContent[] }
  | {
      type: "reasoning";
      id: string;
      summary: { type: "summary_text"; text: string }[];
      encrypted_content?: string | null;
    };

type OpenAiResponsesContent =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" | "low" | "high" }
  | { type: "input_file"; filename?: string; file_data?: string; file_url?: string };

/** A message of Anthropic. */
export type AnthropicMessage = {
  role: "user" | "assistant";
  content: string | AnthropicBlock[];
};

type AnthropicBlock =
  | TextPart
  | AnthropicMedia
  | { type: "tool_use"; id: string; name: string; input: unknown }
  | { type: "tool_result"; tool_use_id: string; content?: string | (TextPart | AnthropicMedia)[]; is_error?: boolean }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string };

type AnthropicMedia =
  | {
      type: "image";
      source:
        | { type: "base64"; media_type: "image/png" | "image/jpeg" | "image/gif" | "image/webp"; data: string }
        | { type: "url"; url: string };
    }
  | {
      type: "document";
      source: { type: "base64"; media_type: "application/pdf"; data: string } | { type: "url"; url: string };
      title?: string;
    };

/** A content of Gemini. */
export type GeminiContent = {
  role: "user" | "model";
  parts: GeminiPart[];
};

type GeminiPart = {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id?: string; name: string; args: Record<string, unknown> };
  functionResponse?: { id?: string; name: string; response: Record<string, unknown> };
  inlineData?: { mimeType: string; data: string };
  fileData?: { mimeType?: string; fileUri: string };
};

/** A `ModelMessage` of the AI SDK. */
export type AiSdkModelMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | (TextPart | AiSdkFile)[] }
  | {
      role: "assistant";
      content:
        | string
        | (
            | TextPart
            | AiSdkFile
            | { type: "reasoning"; text: string }
            | { type: "tool-call"; toolCallId: string; toolName: string; input: unknown }
          )[];
    }
  | { role: "tool"; content: { type: "tool-result"; toolCallId: string; toolName: string; output: AiSdkOutput }[] };

type AiSdkFile = {
  type: "file";
  mediaType: string;
  data: string;
  filename?: string;
};

type AiSdkOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "json" | "error-json"; value: MutableJson }
  | {
      type: "content";
      value: (
        | TextPart
        | { type: "image-data" | "file-data"; data: string; mediaType: string }
        | { type: "image-url" | "file-url"; url: string }
      )[];
    };

/** JSON as the SDK declares it, whose arrays can be changed. */
type MutableJson = string | number | boolean | null | MutableJson[] | { [key: string]: MutableJson };

/** A `UIMessage` of the AI SDK. */
export type AiSdkUiMessage = {
  id: string;
  role: "system" | "user" | "assistant";
  parts: AiSdkUiPart[];
};

type AiSdkUiPart =
  | TextPart
  | { type: "reasoning"; text: string }
  | { type: "step-start" }
  | { type: "file"; mediaType: string; url: string; filename?: string }
  | { type: `tool-${string}`; toolCallId: string; state: "input-available"; input: unknown }
  | { type: `tool-${string}`; toolCallId: string; state: "output-available"; input: unknown; output: unknown }
  | { type: `tool-${string}`; toolCallId: string; state: "output-error"; input: unknown; errorText: string };

/**
 * The messages of each format, by its name. A message that you gave may have more fields and other parts than these types
 * say; it comes back as it was.
 */
export interface MessagesOfFormat {
  "openai-chat": OpenAiChatMessage;
  "openai-responses": OpenAiResponsesItem;
  anthropic: AnthropicMessage;
  gemini: GeminiContent;
  "ai-sdk-ui": AiSdkUiMessage;
  "ai-sdk-model": AiSdkModelMessage;
}

/** What goes beside the messages of each format. */
export interface SystemOfFormat {
  "openai-chat": never;
  "openai-responses": never;
  anthropic: string | TextPart[];
  gemini: { role?: string; parts: GeminiPart[] };
  "ai-sdk-ui": never;
  "ai-sdk-model": never;
}
