// An extension of pi, which reads no address from the environment: `contextweaver run -- pi` loads it. Calls to the providers' own addresses
// go to the proxy of `CONTEXTWEAVER_PROXY`; a key for another host stays with that host.
const PROVIDERS = {
  openai: { official: "https://api.openai.com/v1", path: "/v1" },
  anthropic: { official: "https://api.anthropic.com", path: "" },
  google: { official: "https://generativelanguage.googleapis.com/v1beta", path: "/v1beta" },
  "openai-codex": { official: "https://chatgpt.com/backend-api", path: "/codex" },
};

export default function toProxy(pi) {
  const address = process.env.CONTEXTWEAVER_PROXY;
  if (!address) return;
  pi.on("session_start", (_event, { modelRegistry }) => {
    const models = modelRegistry.getAll();
    for (const [name, { official, path }] of Object.entries(PROVIDERS)) {
      const own = models.filter(({ provider }) => provider === name);
      // A session that is begun anew finds the proxy there already.
      if (own.length > 0 && own.every(({ baseUrl }) => baseUrl === official))
        pi.registerProvider(name, { baseUrl: `${address}${path}` });
    }
  });
}
