// The envelope of Code Assist around Gemini's requests and answers, for a client on one side of a proxy and a provider on the other.
const PATH = /\/models\/([^:]+):(\w+)$/;

/** Headers of a body that is written anew. */
const kept = (headers) => Object.fromEntries([...headers].filter(([name]) => name !== "content-length"));

/** Writes each answer of a response anew: the one that came at once, or those of its events as they come. */
async function mapped(response, change) {
  const { status } = response;
  const headers = kept(response.headers);
  const json = (text) => JSON.stringify(change(JSON.parse(text)));
  if (!headers["content-type"]?.startsWith("text/event-stream"))
    return new Response(await response.text().then((text) => (response.ok ? json(text) : text)), { status, headers });
  let rest = "";
  const events = new TransformStream({
    transform(text, controller) {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) controller.enqueue(`${line.replace(/^data: (.*?)(\r?)$/, (_, data, end) => `data: ${json(data)}${end}`)}\n`);
    },
    flush: (controller) => controller.enqueue(rest),
  });
  const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(events).pipeThrough(new TextEncoderStream());
  return new Response(body, { status, headers });
}

function moved(request, path, body) {
  const { origin, search } = new URL(request.url);
  const { method, headers, signal } = request;
  return new Request(`${origin}${path}${search}`, { method, headers: kept(headers), signal, body: JSON.stringify(body) });
}

/** A `fetch` for the SDK of Gemini that asks as a Gemini CLI does that is logged in with Google. */
export const inEnvelope = (fetch) => async (request) => {
  const [, model, how] = PATH.exec(new URL(request.url).pathname);
  const body = { model, project: "a-project", user_prompt_id: "one", request: await request.json() };
  return mapped(await fetch(moved(request, `/v1internal:${how}`, body)), ({ response }) => response);
};

/** A provider of Gemini that is asked so. */
export const outOfEnvelope = (answer) => async (request) => {
  const { model, request: body, ...around } = await request.json();
  if (Object.keys(around).join() !== "project,user_prompt_id") throw new Error(`around the request stands ${Object.keys(around)}`);
  const [, how] = new URL(request.url).pathname.split(":");
  const response = await answer(moved(request, `/v1beta/models/${model}:${how}`, body));
  return mapped(response, (one) => ({ response: one, traceId: "trace" }));
};
