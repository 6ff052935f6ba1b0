// What the converters of the AI SDK would send of random conversations.
import { judgeAll } from "./oracle-run.mjs";

judgeAll(["@ai-sdk/openai, Responses", "@ai-sdk/openai, chat", "@ai-sdk/anthropic", "@ai-sdk/google"]);
