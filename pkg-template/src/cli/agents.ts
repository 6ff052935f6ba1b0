// How known agents are told where the proxy is.

/** Variables and arguments that an agent is started with. */
export interface AgentStart {
  readonly env: Readonly<Record<string, string>>;
  /** What stands before its own arguments. */
  readonly args: readonly string[];
}

/** Variables by which agents and SDKs find a provider, with what is behind the address of the proxy. */
export const VARIABLES = {
  OPENAI_BASE_URL: { provider: "openai", path: "/v1" },
  OPENAI_API_BASE: { provider: "openai", path: "/v1" },
  ANTHROPIC_BASE_URL: { provider: "anthropic", path: "" },
  GOOGLE_GEMINI_BASE_URL: { provider: "gemini", path: "" },
} as const;

/** The configuration of Codex that its variables do not reach. */
function codexArguments(address: string, hasKey: boolean): readonly string[] {
  const provider = "model_providers.contextweaver";
  const settings = [
    `${provider}.name="contextweaver"`,
    `${provider}.base_url="${address}/v1"`,
    `${provider}.wire_api="responses"`,
    // Without a key of its own it sends what the user has logged in by.
    hasKey ? `${provider}.env_key="OPENAI_API_KEY"` : `${provider}.requires_openai_auth=true`,
    `model_provider="contextweaver"`,
  ];
  return settings.flatMap((setting) => ["-c", setting]);
}

/** The configuration of OpenCode, which reads it from a variable. */
function openCodeConfig(address: string): string {
  const provider = Object.fromEntries(
    ["openai", "anthropic"].map((name) => [name, { options: { baseURL: `${address}/v1` } }]),
  );
  return JSON.stringify({ provider });
}

/** Says what an agent is started with. */
export function startOf(
  program: string,
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): AgentStart {
  const name = (program.split(/[/\\]/).at(-1) ?? program).replace(/\.(?:exe|cmd|js)$/i, "");
  const variables = Object.fromEntries(
    Object.entries(VARIABLES).map(([variable, { path }]) => [variable, `${address}${path}`]),
  );
  return {
    env: {
      ...variables,
      ...(env["OPENCODE_CONFIG_CONTENT"] === undefined && { OPENCODE_CONFIG_CONTENT: openCodeConfig(address) }),
    },
    args: name === "codex" ? codexArguments(address, env["OPENAI_API_KEY"] !== undefined) : [],
  };
}

/** The lines that tell how each known agent is pointed at a proxy. */
export function linesFor(address: string): string {
  const rows = [
    ["Claude Code, SDKs of Anthropic", `export ANTHROPIC_BASE_URL=${address}`],
    ["SDKs of OpenAI", `export OPENAI_BASE_URL=${address}/v1`],
    [
      "Codex",
      `codex ${codexArguments(address, true)
        .map((one) => (one === "-c" ? one : `'${one}'`))
        .join(" ")}`,
    ],
    ["OpenCode", `export OPENCODE_CONFIG_CONTENT='${openCodeConfig(address)}'`],
    ["Gemini CLI", `export GOOGLE_GEMINI_BASE_URL=${address}`],
  ] as const;
  return rows.map(([agent, line]) => `  ${agent.padEnd(32)}${line}\n`).join("");
}
