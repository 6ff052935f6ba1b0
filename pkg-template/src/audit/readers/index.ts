// The formats that are read. The first that recognises a file reads it; what is most particular stands first.
import type { Reader } from "../events.js";
import { claudeCode } from "./claude-code.js";
import { codex } from "./codex.js";
import { geminiCli } from "./gemini-cli.js";
import { miniSweAgent } from "./mini-swe-agent.js";
import { opencode } from "./opencode.js";
import { openHands } from "./openhands.js";
import { otelSpans } from "./otel.js";
import { requestLog } from "./request-log.js";

export const READERS: readonly Reader[] = [claudeCode, codex, geminiCli, opencode, miniSweAgent, openHands, otelSpans, requestLog];
