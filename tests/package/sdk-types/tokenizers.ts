// Compiled, never run: encodings of the tokenizers' packages as estimators, without a cast.
import { ContextManager } from "contextweaver";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import { getEncoding } from "js-tiktoken";

export const managers = [new ContextManager({ estimator: o200k }), new ContextManager({ estimator: getEncoding("o200k_base") })];
// @ts-expect-error it neither counts nor encodes
new ContextManager({ estimator: { decode: (tokens: number[]) => String(tokens) } });
