// A server of MCP that wants a user to log in, and the authorization server it names.
import { createHash, randomUUID } from "node:crypto";
import { listening, streamableServer } from "./gateway-servers.mjs";

/**
 * Starts both. `seen` has what authorization requests and tokens there were; `set.deny` has the user refuse, `set.expire()` ends all
 * access tokens, `set.revoke()` all there are. `set.hold(n)` answers 401 when there are n requests to answer so, and
 * `set.delay()` the next refresh after another one was refused. Without `rotating`, a refresh token is good for ever.
 * `metadata` and `registration` are added to what is sent, `named` is the address of the metadata that the server names. `odd` has
 * what authorization servers do beside the rules: `page` in place of metadata, `slash` behind the issuer, `resource` behind the resource,
 * `form` of tokens, `name` of this machine alone, `silent` registration.
 */
export async function oauthServer({ rotating = true, metadata = {}, registration = {}, named, servers, odd = {} } = {}) {
  const seen = { pages: [], registered: [], grants: [], secrets: [], foreign: [] };
  const set = { deny: false };
  const codes = new Map();
  const access = new Set();
  const refresh = new Set();
  const clients = new Map();
  const issued = (kind, into) => {
    const secret = `${kind}-${randomUUID()}`;
    seen.secrets.push(secret);
    into.add(secret);
    return secret;
  };
  let login = "";
  let [isDelayed, delayed] = [false, undefined];
  let held;
  const json = (response, body, status = 200) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const authorization = await listening(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, login);
    seen.foreign.push({ pathname, headers: request.headers });
    const body = Buffer.concat(await request.toArray()).toString();
    if (odd.page && pathname === "/.well-known/oauth-authorization-server")
      return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>app</title>");
    if (pathname === `/.well-known/${odd.page ? "openid-configuration" : "oauth-authorization-server"}`) {
      return json(response, {
        ...(odd.page && { jwks_uri: `${login}/jwks`, subject_types_supported: ["public"], id_token_signing_alg_values_supported: ["RS256"] }),
        issuer: `${login}${odd.slash ? "/" : ""}`,
        authorization_endpoint: `${login}/authorize`,
        token_endpoint: `${login}/token`,
        registration_endpoint: `${login}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: !odd.slash,
        ...metadata,
      });
    }
    if (pathname === "/register") {
      const client_id = `client-${clients.size + 1}`;
      const { redirect_uris } = JSON.parse(body);
      if (odd.name && redirect_uris.some((uri) => !uri.startsWith("http://localhost:")))
        return json(response, { error: "invalid_redirect_uri", error_description: "only http://localhost is allowed" }, 400);
      clients.set(client_id, redirect_uris);
      seen.registered.push(JSON.parse(body));
      return json(response, { client_id, ...(!odd.silent && { redirect_uris }), token_endpoint_auth_method: "none", ...registration }, 201);
    }
    if (pathname === "/authorize") {
      const asked = Object.fromEntries(searchParams);
      seen.pages.push(asked);
      if (!clients.get(asked.client_id)?.includes(asked.redirect_uri)) return json(response, { error: "invalid_request" }, 400);
      const back = new URL(asked.redirect_uri);
      back.searchParams.set("state", asked.state);
      // What an answer says of its issuer is compared character by character (RFC 9207), so this one says nothing.
      if (!odd.slash) back.searchParams.set("iss", login);
      if (set.deny) back.searchParams.set("error", "access_denied");
      else {
        const code = issued("code", new Set());
        codes.set(code, asked);
        back.searchParams.set("code", code);
      }
      return response.writeHead(302, { location: back.href }).end();
    }
    if (pathname !== "/token") return response.writeHead(404).end();
    const form = Object.fromEntries(new URLSearchParams(body));
    seen.grants.push(form.grant_type);
    if (form.code_verifier) seen.secrets.push(form.code_verifier);
    const asked = codes.get(form.code);
    codes.delete(form.code);
    const isProven =
      asked && createHash("sha256").update(form.code_verifier).digest("base64url") === asked.code_challenge && form.redirect_uri === asked.redirect_uri;
    const isRefresh = form.grant_type === "refresh_token";
    if (!(isRefresh ? (rotating ? refresh.delete(form.refresh_token) : refresh.has(form.refresh_token)) : isProven)) {
      json(response, { error: "invalid_grant" }, 400);
      return delayed?.();
    }
    if (isRefresh && isDelayed) await new Promise((done) => ((isDelayed = false), (delayed = done)));
    const refresh_token = isRefresh && !rotating ? undefined : issued("refresh", refresh);
    const tokens = { access_token: issued("access", access), refresh_token, token_type: "Bearer", expires_in: 3_600 };
    if (!odd.form) return json(response, tokens);
    response.writeHead(200, { "content-type": "application/x-www-form-urlencoded" }).end(new URLSearchParams(JSON.parse(JSON.stringify(tokens))).toString());
  });
  login = authorization.origin;
  let origin = "";
  const server = await streamableServer({
    before: (request, response) => {
      if (request.url.startsWith("/.well-known/oauth-protected-resource"))
        return (json(response, { resource: `${origin}/mcp${odd.resource ? "/" : ""}`, authorization_servers: servers ?? [login] }), true);
      if (request.url.startsWith("/.well-known/")) return (response.writeHead(404).end(), true);
      if (access.has(/^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1])) return false;
      const refuse = () =>
        response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${named ?? `${origin}/.well-known/oauth-protected-resource/mcp`}"` }).end();
      if (!held) refuse();
      else if (held.waiting.push(refuse) === held.count) held.release();
      return true;
    },
  });
  origin = server.origin;
  set.expire = () => access.clear();
  set.delay = () => (isDelayed = true);
  set.hold = (count) =>
    new Promise((done) => {
      held = {
        count,
        waiting: [],
        release: () => {
          const { waiting } = held;
          held = undefined;
          for (const refuse of waiting) refuse();
          done();
        },
      };
    });
  set.revoke = () => (access.clear(), refresh.clear());
  return { url: server.url, origin, seen, set, close: () => Promise.all([server.close(), authorization.close()]) };
}
