// What LangChain and the SDKs of the providers would send of random conversations. A file of its own: both together take longer than a
// file may.
import { judgeAll } from "./oracle-run.mjs";

judgeAll(["@langchain/openai, chat", "@langchain/openai, Responses", "openai, chat", "openai, Responses", "@anthropic-ai/sdk", "@google/genai"]);
