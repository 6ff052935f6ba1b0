// Sixty conversations: what their users lay down, take back and quote, and what is asked afterwards.
import { first } from "./texts-1.mjs";
import { second } from "./texts-2.mjs";
import { third } from "./texts-3.mjs";

export const conversations = [...first, ...second, ...third];
