// What a client does in the client scenarios of the conformance suite, on the official SDK. How it gets to the server of
// the scenario, alone or through the gateway, is the caller's to say.
import {
  Client,
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  DpopSession,
  PrivateKeyJwtProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  requestJwtAuthorizationGrant,
} from "@modelcontextprotocol/client";

import { SkillVerificationError, SkillsClient } from "@modelcontextprotocol/client/ext/skills";

const INFO = { name: "conformance-client", version: "1.0.0" };
/** The document by which a client is known to an authorization server without registration, as the suite expects it. */
const CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json";
/** How often a client is authorized before it gives up. */
const MOST_AUTHORIZATIONS = 3;

/** Lists the tools and calls the first. */
async function callFirst(client) {
  const { tools } = await client.listTools();
  if (tools.length > 0) await client.callTool({ name: tools[0].name, arguments: { a: 2, b: 3 } });
}

/** Lists the tools and calls them in turn, or those of `names`. */
async function callAll(client, names) {
  const { tools } = await client.listTools();
  for (const { name } of tools) if (!names || names.includes(name)) await client.callTool({ name, arguments: {} });
}

/** Lists the skills and loads each as a host does: a file that is not what its entry says ends that. */
async function loadSkills(client) {
  const skills = new SkillsClient(client);
  for (const skill of (await skills.list()).skills) {
    try {
      for (const { uri } of skill.resources) await skills.read(skill, uri);
    } catch (error) {
      // A gateway refuses such a file before its client reads it.
      if (!(error instanceof SkillVerificationError) && !/is not what/.test(error.message)) throw error;
    }
  }
}

/** What is done in a scenario once the client is connected; the others call the first tool. */
const scripts = {
  "json-schema-ref-no-deref": (client) => client.listTools(),
  "auth/wif-jwt-bearer": (client) => client.listTools(),
  "elicitation-sep1034-client-defaults": (client) => callAll(client),
  "sep-2322-client-request-state": (client) => callAll(client),
  "sse-retry": (client) => callAll(client),
  "sep-2640-client-no-prefetch": (client) => new SkillsClient(client).list(),
  "sep-2640-client-verify-digest": loadSkills,
  "sep-2640-client-verify-frontmatter": loadSkills,
  "sep-2640-client-verify-size": loadSkills,
  async "http-standard-headers"(client) {
    await callAll(client);
    const { resources } = await client.listResources();
    for (const { uri } of resources) await client.readResource({ uri });
    const { prompts } = await client.listPrompts();
    for (const { name } of prompts) await client.getPrompt({ name });
  },
  async "http-custom-headers"(client, { toolCalls }) {
    await client.listTools();
    for (const { name, arguments: given } of toolCalls) await client.callTool({ name, arguments: given });
  },
  async "http-invalid-tool-headers"(client) {
    const { tools } = await client.listTools();
    // Whatever is still there after the client has left out what it must not call.
    for (const { name, inputSchema } of tools)
      await client.callTool({ name, arguments: Object.fromEntries(Object.keys(inputSchema.properties ?? {}).map((key) => [key, "test"])) });
  },
  async "json-schema-2020-12-preservation"(client) {
    const { tools } = await client.listTools();
    const { inputSchema } = tools.find(({ name }) => name === "json_schema_2020_12_tool");
    await client.callTool({ name: "json_schema_echo", arguments: { schema: inputSchema } });
  },
};

/** Plays one scenario, `{ scenario, context, url }`, with the client that `connect({ url, capabilities, authProvider, prepare })` makes. */
export async function playScenario(started, connect) {
  const { scenario, context } = started;
  const connected = await connect({
    ...started,
    capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
    authProvider: await providerOf(started),
    prepare(client) {
      client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: {} }));
      client.setRequestHandler("sampling/createMessage", () => ({ role: "assistant", content: { type: "text", text: "Yes." }, model: "none" }));
      client.setRequestHandler("roots/list", () => ({ roots: [] }));
    },
  });
  try {
    await connected.authorized((client) => (scripts[scenario] ?? callFirst)(client, context));
  } finally {
    await connected.close();
  }
}

/** Connects to the server of the scenario itself. */
export async function connectDirectly({ url, capabilities, authProvider, prepare }) {
  let client;
  let transport;
  const open = async () => {
    client = new Client(INFO, { capabilities, versionNegotiation: { mode: "auto" } });
    prepare(client);
    transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
    await client.connect(transport);
  };
  /** Does `work`; where the server wants an authorization first, gets it and does the work again. */
  let left = MOST_AUTHORIZATIONS;
  const authorized = async (work) => {
    for (;;) {
      try {
        return await work(client);
      } catch (error) {
        left -= 1;
        if (!UnauthorizedError.isInstance(error) || !authProvider?.answer || left === 0) throw error;
        await transport.finishAuth(authProvider.answer);
        authProvider.answer = undefined;
      }
    }
  };
  await authorized(open);
  return { authorized, close: () => client.close() };
}

async function providerOf({ scenario, context }) {
  if (!scenario.startsWith("auth/")) return undefined;
  const { client_id: clientId, client_secret: clientSecret } = context ?? {};
  switch (scenario) {
    case "auth/client-credentials-basic":
      return new ClientCredentialsProvider({ clientId, clientSecret });
    case "auth/client-credentials-jwt":
      return new PrivateKeyJwtProvider({ clientId, privateKey: context.private_key_pem, algorithm: context.signing_algorithm });
    case "auth/cross-app-access-complete-flow":
    case "auth/enterprise-managed-authorization":
      return new CrossAppAccessProvider({
        clientId,
        clientSecret,
        assertion: async ({ authorizationServerUrl, resourceUrl, fetchFn }) => {
          const grant = await requestJwtAuthorizationGrant({
            tokenEndpoint: context.idp_token_endpoint,
            audience: authorizationServerUrl,
            resource: resourceUrl,
            idToken: context.idp_id_token,
            clientId: context.idp_client_id,
            fetchFn,
          });
          return grant.jwtAuthGrant;
        },
      });
    case "auth/wif-jwt-bearer":
      return workloadProvider(context);
    case "auth/pre-registration":
      return new Browser({ registered: { client_id: clientId, client_secret: clientSecret } });
    case "auth/dpop":
    case "auth/dpop-nonce":
      return new Browser({ dpop: await DpopSession.create() });
    default:
      return new Browser({});
  }
}

/** Presents a token of the workload that it runs as. */
function workloadProvider({ client_id, valid_jwt }) {
  let tokens;
  return {
    redirectUrl: undefined,
    clientMetadata: {
      client_name: INFO.name,
      redirect_uris: [],
      grant_types: ["urn:ietf:params:oauth:grant-type:jwt-bearer"],
      token_endpoint_auth_method: "none",
    },
    clientInformation: () => ({ client_id }),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    redirectToAuthorization() {
      throw new Error("a workload has no browser");
    },
    saveCodeVerifier() {},
    codeVerifier: () => "",
    prepareTokenRequest: (scope) =>
      new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: valid_jwt, ...(scope ? { scope } : {}) }),
  };
}

/** A user who agrees at once: what a browser would bring back from the authorization server is in `answer`. */
class Browser {
  clientMetadataUrl = CLIENT_DOCUMENT;
  redirectUrl = "http://localhost:3000/callback";
  clientMetadata = {
    client_name: INFO.name,
    redirect_uris: [this.redirectUrl],
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
  #kept = new Map();
  #tokens;
  #verifier;

  constructor({ registered, dpop }) {
    this.registered = registered;
    if (dpop) this.dpop = () => dpop;
  }
  clientInformation({ issuer } = {}) {
    return this.registered ?? this.#kept.get(issuer);
  }
  saveClientInformation(information, { issuer } = {}) {
    this.#kept.set(issuer, information);
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens) {
    this.#tokens = tokens;
  }
  saveCodeVerifier(verifier) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  invalidateCredentials(scope) {
    if (scope === "all" || scope === "client") this.#kept.clear();
    if (scope === "all" || scope === "tokens") this.#tokens = undefined;
  }
  async redirectToAuthorization(url) {
    const response = await fetch(url, { redirect: "manual" });
    await response.body?.cancel();
    this.answer = new URL(response.headers.get("location")).searchParams;
  }
}
