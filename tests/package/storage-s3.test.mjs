// Blobs over the protocol of S3: signatures as AWS publishes them, and a small service that checks each by its own reckoning.
import assert from "node:assert/strict";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { packageDir } from "./harness.mjs";

const load = (file) => import(pathToFileURL(join(packageDir, "dist", file)));
const { s3Blobs } = await load("storage.js");
const { signed } = await load("storage/s3-signature.js");

const CREDENTIALS = { access_key_id: "AKIAIOSFODNN7EXAMPLE", secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1" };

test("signatures are those of the examples that AWS publishes", async () => {
  const now = Date.UTC(2013, 4, 24);
  const base = { host: "examplebucket.s3.amazonaws.com", query: {}, headers: {}, body: new Uint8Array() };
  const examples = [
    [
      { method: "GET", path: "/test.txt", headers: { range: "bytes=0-9" } },
      "host;range;x-amz-content-sha256;x-amz-date",
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    ],
    [
      {
        method: "PUT",
        path: "/test%24file.text",
        headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
        body: new TextEncoder().encode("Welcome to Amazon S3."),
      },
      "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    ],
    [
      { method: "GET", path: "/", query: { lifecycle: "" } },
      "host;x-amz-content-sha256;x-amz-date",
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    ],
    [
      { method: "GET", path: "/", query: { "max-keys": "2", prefix: "J" } },
      "host;x-amz-content-sha256;x-amz-date",
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    ],
  ];
  for (const [request, names, signature] of examples) {
    const { authorization } = await signed({ ...base, ...request }, CREDENTIALS, now);
    assert.equal(
      authorization,
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${signature}`,
    );
  }
});

const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const hmac = (key, data) => createHmac("sha256", key).update(data).digest();
const strict = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** Why a request is not signed as it should be, by what arrived. */
function refusal(request, body, { secret_access_key, session_token, region }) {
  const fields = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
    request.headers.authorization ?? "",
  );
  if (!fields) return "AccessDenied";
  const [, , day, where, names, signature] = fields;
  const time = request.headers["x-amz-date"];
  const sentAt = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (where !== region || !time.startsWith(day)) return "AuthorizationHeaderMalformed";
  if (!(Math.abs(sentAt - Date.now()) < 15 * 60_000)) return "RequestTimeTooSkewed";
  if (request.headers["x-amz-content-sha256"] !== sha256(body)) return "XAmzContentSHA256Mismatch";
  if (session_token !== undefined && request.headers["x-amz-security-token"] !== session_token) return "InvalidToken";
  const signedNames = names.split(";");
  for (const needed of ["host", ...Object.keys(request.headers).filter((name) => name.startsWith("x-amz-"))])
    if (!signedNames.includes(needed)) return "AccessDenied";
  // Decoded and encoded anew: the way in which it came must not matter.
  const url = new URL(request.url, "http://host");
  const path = request.url
    .split("?")[0]
    .split("/")
    .map((part) => strict(decodeURIComponent(part)))
    .join("/");
  const query = [...url.searchParams]
    .map(([key, value]) => `${strict(key)}=${strict(value)}`)
    .sort()
    .join("&");
  const canonical = [request.method, path, query, ...signedNames.map((name) => `${name}:${request.headers[name].trim()}`), "", names, sha256(body)].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = [day, region, "s3", "aws4_request"].reduce(hmac, `AWS4${secret_access_key}`);
  const right = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n"));
  return timingSafeEqual(right, Buffer.from(signature, "hex")) ? undefined : "SignatureDoesNotMatch";
}

const xml = (text) => text.replace(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** A service with one bucket; `trouble` is asked before each request whether it goes wrong. */
async function service(t, { credentials = CREDENTIALS, pageSize = 3, encodes = true } = {}) {
  const kept = new Map();
  const requests = [];
  const state = { kept, requests, trouble: () => undefined };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    requests.push(`${request.method} ${request.url}`);
    const fail = (status, code, headers = {}) =>
      response
        .writeHead(status, headers)
        .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>for ${xml(request.headers.authorization ?? "")}</Message></Error>`);
    const trouble = state.trouble(requests.length, request);
    if (trouble === "cut") return void request.socket.destroy();
    if (trouble) return void fail(...trouble);
    const refused = refusal(request, body, credentials);
    if (refused) return void fail(403, refused);
    const url = new URL(request.url, "http://host");
    const [, bucket, ...rest] = request.url.split("?")[0].split("/").map(decodeURIComponent);
    if (bucket !== "the bucket") return void fail(404, "NoSuchBucket");
    const key = rest.join("/");
    if (request.method === "PUT") kept.set(key, body);
    else if (request.method === "DELETE") kept.delete(key);
    else if (key !== "") {
      if (!kept.has(key)) return void fail(404, "NoSuchKey");
      return void response.end(kept.get(key));
    } else {
      const prefix = url.searchParams.get("prefix");
      // A token that is not fit for an address nor for XML as it is.
      const token = (at) => `a+/=<&"${at}`;
      const from = url.searchParams.has("continuation-token") ? Number(/\d+$/.exec(url.searchParams.get("continuation-token"))[0]) : 0;
      if (from > 0 && url.searchParams.get("continuation-token") !== token(from)) return void fail(400, "InvalidArgument");
      const keys = [...kept.keys()].filter((one) => one.startsWith(prefix)).sort();
      const page = keys.slice(from, from + pageSize);
      const isMore = from + pageSize < keys.length;
      const written = (one) => (encodes ? strict(one).replaceAll("%20", "+") : xml(one));
      return void response.end(
        `<?xml version="1.0"?><ListBucketResult><Name>b</Name><IsTruncated>${isMore}</IsTruncated>${encodes ? "<EncodingType>url</EncodingType>" : ""}${isMore ? `<NextContinuationToken>${xml(token(from + pageSize))}</NextContinuationToken>` : ""}${page.map((one) => `<Contents><Key>${written(one)}</Key><Size>1</Size></Contents>`).join("")}</ListBucketResult>`,
      );
    }
    response.writeHead(request.method === "DELETE" ? 204 : 200).end();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  const { port } = server.address();
  const options = { endpoint: `http://127.0.0.1:${port}`, bucket: "the bucket", ...credentials };
  return { ...state, state, port, options };
}

const bytes = (text) => new TextEncoder().encode(text);
const KEYS = ["plain", "a b+c", "é/日本 👩‍👩‍👧", "with%20percent", "<&>'\"", "!*'()~-_.", "a//b", "q?x=1#y", "deep/er/key"];

test("blobs are stored, read, listed and removed, whatever their keys", async (t) => {
  for (const encodes of [true, false]) {
    const { kept, requests, options } = await service(t, { encodes });
    const blobs = s3Blobs({ ...options, prefix: "sessions of ours/" });
    kept.set("another's", bytes("x"));
    for (const key of KEYS) await blobs.put(key, bytes(key));
    assert.equal(kept.size, KEYS.length + 1);
    for (const key of KEYS) assert.deepEqual([...kept.get(`sessions of ours/${key}`)], [...bytes(key)], key);
    for (const key of KEYS) assert.deepEqual(await blobs.get(key), bytes(key), key);
    assert.equal(await blobs.get("unknown"), undefined);
    requests.length = 0;
    assert.deepEqual([...(await blobs.list(""))].sort(), [...KEYS].sort());
    assert.equal(requests.length, Math.ceil(KEYS.length / 3));
    assert.deepEqual(await blobs.list("a"), ["a b+c", "a//b"]);
    assert.deepEqual(await blobs.list("nothing"), []);
    const large = new Uint8Array(16 * 2 ** 20).fill(7);
    await blobs.put("large", large);
    assert.equal(Buffer.compare(await blobs.get("large"), large), 0);
    await blobs.put("empty", new Uint8Array());
    assert.equal((await blobs.get("empty")).length, 0);
    await blobs.delete([...KEYS, "large", "empty", "unknown"]);
    assert.deepEqual([...kept.keys()], ["another's"]);
    await blobs.delete([]);
  }
});

test("credentials that expire, and an endpoint with a path", async (t) => {
  const credentials = { ...CREDENTIALS, session_token: "token/+=" };
  const { options, kept } = await service(t, { credentials });
  await s3Blobs({ ...options, endpoint: `${options.endpoint}/` }).put("key", bytes("x"));
  assert.deepEqual([...kept.keys()], ["key"]);
  await assert.rejects(s3Blobs({ ...options, session_token: "another" }).get("key"), { details: { status: 403, attempts: 1, code: "InvalidToken" } });
  const asked = [];
  const fetch = async function (address) {
    assert.equal(this, undefined, "as a method, which a runtime's own does not allow");
    asked.push(address);
    return new Response("");
  };
  await s3Blobs({ ...options, endpoint: "https://host.example/base/path/", fetch }).get("a b");
  assert.deepEqual(asked, ["https://host.example/base/path/the%20bucket/a%20b"]);
});

test("what goes wrong for a while is tried again, what stays wrong is told", async (t) => {
  const { state, requests, options } = await service(t);
  const blobs = s3Blobs(options);
  for (const trouble of [[500, "InternalError"], [503, "SlowDown"], [429, "TooManyRequests"], [502, "X"], [504, "X"], "cut"]) {
    requests.length = 0;
    state.trouble = (n) => (n < 2 ? trouble : undefined);
    await blobs.put("key", bytes(String(trouble)));
    assert.equal(requests.length, 2, String(trouble));
    assert.deepEqual(await blobs.get("key"), bytes(String(trouble)));
  }
  requests.length = 0;
  state.trouble = () => [503, "SlowDown"];
  await assert.rejects(blobs.get("key"), { code: "CALLBACK_FAILED", details: { status: 503, attempts: 4, code: "SlowDown" } });
  assert.equal(requests.length, 4);
  requests.length = 0;
  state.trouble = () => "cut";
  await assert.rejects(blobs.delete(["key"]), (error) => error.code === "CALLBACK_FAILED" && error.details.attempts === 4 && error.cause instanceof Error);
  // As long as the service asks for.
  requests.length = 0;
  state.trouble = (n) => (n === 1 ? [503, "SlowDown", { "retry-after": "1" }] : undefined);
  const waits = t.mock.method(globalThis, "setTimeout");
  await blobs.get("key");
  const asked = waits.mock.calls.map(({ arguments: [, milliseconds] }) => milliseconds);
  waits.mock.restore();
  assert.ok(asked.includes(1_000), `timers of ${asked.join()} ms`);
  assert.equal(requests.length, 2);
  for (const [status, code] of [
    [400, "InvalidArgument"],
    [403, "AccessDenied"],
    [409, "OperationAborted"],
    [301, "PermanentRedirect"],
    [404, "NoSuchBucket"],
  ]) {
    requests.length = 0;
    state.trouble = () => [status, code, { location: "http://127.0.0.1:1/" }];
    await assert.rejects(blobs.get("key"), { code: "CALLBACK_FAILED", details: { status, attempts: 1, code } });
    assert.equal(requests.length, 1, "it was followed or repeated");
  }
});

test("no error has a credential, and a wrong one is refused by the service", async (t) => {
  const { options, port } = await service(t);
  const secret = "verysecretverysecretverysecret";
  const wrong = { ...options, secret_access_key: secret, session_token: "tokentokentokentoken" };
  const errors = [];
  const failing = async (action) => {
    try {
      await action();
    } catch (error) {
      return void errors.push(error);
    }
    assert.fail("nothing was thrown");
  };
  await failing(() => s3Blobs(wrong).get("key"));
  assert.deepEqual(errors[0].details, { status: 403, attempts: 1, code: "SignatureDoesNotMatch" });
  await failing(() => s3Blobs({ ...wrong, region: "elsewhere" }).put("key", bytes("x")));
  await failing(() => s3Blobs({ ...wrong, bucket: "another" }).list(""));
  await failing(() => s3Blobs({ ...wrong, clock: () => 0 }).list(""));
  await failing(() => s3Blobs({ ...wrong, endpoint: `http://${secret}@127.0.0.1:${port}` }));
  await failing(() => s3Blobs({ ...wrong, endpoint: `http://user:${secret}@` }));
  await failing(() =>
    s3Blobs({
      ...wrong,
      fetch: async () => {
        throw new Error("no network");
      },
    }).get("key"),
  );
  for (const error of errors) {
    const said = [error.message, error.hint, JSON.stringify(error.details), error.path, error.stack, String(error.cause?.stack)].join("\n");
    for (const word of [secret, wrong.session_token, wrong.access_key_id, "Signature="]) assert.ok(!said.includes(word), said);
  }
  const shown = (await import("node:util")).inspect(s3Blobs(wrong), { depth: 10, showHidden: true });
  assert.ok(!shown.includes(secret), shown);
});

test("what is wrong with options and keys is said at once", async () => {
  const options = { endpoint: "https://s3.example", bucket: "b", ...CREDENTIALS };
  for (const [given, code, path] of [
    [undefined, "MISSING_FIELD", "/endpoint"],
    [{ ...options, bucket: undefined }, "MISSING_FIELD", "/bucket"],
    [{ ...options, accessKeyId: "x" }, "UNKNOWN_FIELD", "/accessKeyId"],
    [{ ...options, endpoint: "s3.example" }, "INVALID_INPUT", "/endpoint"],
    [{ ...options, endpoint: "ftp://s3.example" }, "INVALID_INPUT", "/endpoint"],
    [{ ...options, endpoint: "https://s3.example/?x=1" }, "INVALID_INPUT", "/endpoint"],
    [{ ...options, bucket: 7 }, "INVALID_INPUT", "/bucket"],
    [{ ...options, region: "" }, "INVALID_INPUT", "/region"],
    [{ ...options, session_token: "a\r\nx-evil: 1" }, "INVALID_INPUT", "/session_token"],
    [{ ...options, prefix: 1 }, "INVALID_INPUT", "/prefix"],
    [{ ...options, fetch: "fetch" }, "INVALID_INPUT", "/fetch"],
    [{ ...options, clock: 7 }, "INVALID_INPUT", "/clock"],
  ]) {
    assert.throws(() => s3Blobs(given), { code, path });
  }
  const never = s3Blobs({ ...options, fetch: () => assert.fail("a request was made") });
  for (const key of ["", "..", "../x", "a/../../x", "a/./b"]) {
    await assert.rejects(never.put(key, new Uint8Array()), { code: "INVALID_INPUT", path: "/key" });
    await assert.rejects(never.delete(["fine", key]), { code: "INVALID_INPUT", path: "/key" });
  }
  await assert.rejects(s3Blobs({ ...options, clock: () => NaN }).get("x"), { code: "CALLBACK_FAILED", path: "/clock" });
});
