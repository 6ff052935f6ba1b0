// What the program says of itself: each text fits a screen of 24 lines and 80 columns, examples first.

/** What is said of a command: what it does, examples, and its options. */
const HELP: Readonly<Record<string, string>> = {
  init: `a running example for the framework of this project

  contextweaver init                        of what package.json has
  contextweaver init --framework langchain

  --framework <name>     write for this one; --list prints those there are
  --force                write over contextweaver-example.mjs
`,
  build: `a prompt from a session, and what was left out

  contextweaver build session.jsonl --query "payment of order 12446"
  contextweaver build - --phase route --budget 800 --json < session.jsonl

A session has an item per line, or is a list; - reads standard input.

  --phase <phase>        route, call, interpret or answer (default: answer)
  --query <text>         what the prompt is about
  --tag <tag>            a tag that matters; may be repeated
  --budget <tokens>      tokens of the prompt (default: the phase's)
  --pin <id>             an item that must be in it; may be repeated
  --header <text>        text above the items; --footer <text> below
  --profile <name>       fast, balanced or accurate
  --no-redact            leave secrets in the prompt
  --explain              say for every item why it was kept or dropped
`,
  audit: `what recorded sessions of agents cost, and would cost

  contextweaver audit ~/.codex/sessions ~/.claude/projects
  contextweaver audit requests.jsonl --budgets none --html report.html

It reads sessions of Claude Code, Codex, OpenCode, Gemini CLI, mini-swe-agent
and OpenHands, logs of requests to OpenAI, Anthropic and Gemini, and spans of
OpenTelemetry; - reads standard input.

  --budgets <tokens>     compare at so many tokens of a prompt
                         (default: 32000,64000,128000), or none
  --prices <file>        prices of models as JSON, before those that are known
  --html <file>          write the report as one HTML file, too
`,
  drilldown: `artifacts of a snapshot, their views, or a part of one

  contextweaver drilldown snapshot.json
  contextweaver drilldown snapshot.json artifact:result:c1 --lines 10:20
  contextweaver drilldown snapshot.json artifact:result:c1 --search ERROR

A snapshot is what JSON.stringify(manager) wrote; - reads standard input.

  --views                list the views of every artifact
  --lines <from:to>      lines from 0, without the last; negative from the end
  --rows <from:to>       the same for rows of a table, of JSON or NDJSON
  --search <text>        lines or JSON values that hold a text
  --path <path>          what a path of JSON leads to, such as items[0].name
  --head <n>             the first characters
  --selector <json>      any selector, such as one of a view
  --max-tokens <n>       most tokens; a last line says how to go on
`,
  recall: `what a snapshot holds about something, cited

  contextweaver recall snapshot.json "payment of order 12446"

A snapshot is what JSON.stringify(manager) wrote; - reads standard input.

  --max-tokens <n>       most tokens of what is found (default: 300)
`,
  inspect: `a session in the browser, call by call

  contextweaver inspect session.json
  contextweaver inspect ~/.codex/sessions/2026/11/27/rollout.jsonl --no-open

It takes a session of an agent, a snapshot or a list of messages, and runs until
it is stopped. What it serves never leaves this machine.

  --port <number>        on 127.0.0.1 (default: any that is free)
  --no-open              print the address alone, open no browser
`,
  route: `the few tools that a query needs

  contextweaver route tools.json "refund the order"
  contextweaver route git.json openapi.json "open issues" --top 5 --explain

Lists of tools are answers to tools/list, catalogs, OpenAPI documents, A2A
cards, or folders with skills (SKILL.md); each file is a server by its name.

  --query <text>         the query, in place of the last word
  --top <n>              most tools (default: 10)
  --namespace <name>     only tools of this namespace; may be repeated
  --exclude <id>         a tool that must not be chosen; may be repeated
  --pin <id>             a tool that must be chosen; may be repeated
  --budget <tokens>      print the cards that a model gets, in so many tokens
  --debug                say what each tool was found by
  --explain              explain the choice as Markdown
`,
  lint: `what keeps tools from being chosen or makes them dangerous

  contextweaver lint tools.json
  contextweaver lint tools.json --pin > pins.json
  contextweaver lint tools.json --pinned pins.json

Lists of tools are as for route; - reads standard input.

  --pin                  print a digest of every tool as JSON, to be kept
  --pinned <file>        say what is not as it was when they were printed
`,
  diff: `what changed in a list of tools, and what that may break

  contextweaver diff before.json after.json --check

Lists of tools are as for route.

  --check                exit with 1 when something changed
`,
  convert: `from one form into another

  contextweaver convert messages chat.json --from openai-chat --to anthropic
  contextweaver convert messages chat.json --from gemini --to items
  contextweaver convert tools list.json --to openai-chat

  tools        an answer to tools/list, or another list, to a catalog or to
               definitions: --to catalog, openai-chat, openai-responses,
               anthropic, gemini or ai-sdk; --server <name>; --id-form name
               or canonical
  result       an answer of a tool of MCP to an envelope: --tool <name>;
               --artifacts <folder> writes images and resources to files
  messages     --from and --to openai-chat, openai-responses, anthropic,
               gemini, ai-sdk-ui, ai-sdk-model, or items, one per line
  definition   definitions of tools to tools of MCP; --to mcp
  session      a recorded session of MCP, JSON lines, to items
`,
  decisions: `a tool of the decision memory

  contextweaver decisions tools --store team.json
  contextweaver decisions query '{"query":"database"}' --store team.json
  contextweaver decisions serve --store team.json      a server of MCP

  --store <file>         what JSON.stringify(store) wrote; made if there is none
  --guardrails <file>    rules as JSON or YAML, beside those of the store
  --agent <name>         who calls
`,
  serve: `sessions over HTTP, on this machine

  contextweaver serve --store sessions.db
  contextweaver serve --store sessions --idle-days 30

  --store <path>         SQLite in a .db or .sqlite file, or files in a folder
  --port <number>        default: 8321; 0 for any that is free
  --host <name>          default: 127.0.0.1
  --idle-days <number>   remove sessions that nobody wrote to for so long
  --token <text>         what clients must send (default: CONTEXTWEAVER_TOKEN);
                         needed beyond this machine
`,
  gateway: `any MCP servers behind one small front

  contextweaver gateway --config mcp.json              over standard input
  contextweaver gateway --config mcp.json --http --page
  contextweaver gateway doctor --config mcp.json       what is wrong with it
  contextweaver gateway add io.github.x/y --config mcp.json    of the registry
  contextweaver gateway login docs --config mcp.json --store s   for its user
  contextweaver gateway accept shop refund --config mcp.json   from quarantine

  --config <file>        servers as editors write them; may be repeated
  --mode <mode>          firewall, search or auto (default: auto)
  --store <path>         keep results and pins: a .db file, or a folder
  --http                 serve /mcp and /stats; --port (8322), --host, --token
  --result-tokens <n>    most tokens of a result for clients (default: 1150)
  --login-port <number>  where the browser comes back to after a login
  --page                 show it all on 127.0.0.1; --page-port for a known port
  --inspect              print what is counted by the one on --port
  --from <file>          of add: a server.json, or an address; --kind npm, pypi,
                         oci, nuget or remote; --dry-run; --force
`,
  proxy: `one endpoint before providers, within a token budget

  contextweaver proxy --budget 60000
  OPENAI_BASE_URL=http://127.0.0.1:8323/v1 your-agent

  --budget <tokens>      most tokens of a call of a model (default: 60000)
  --thrift <share>       0 cuts when it must, 1 saves what it can (default: 0)
  --openai <address>     in place of https://api.openai.com; --anthropic,
                         --gemini, --chatgpt and --code-assist the same
  --mask                 mask secrets in prompts that are made shorter
  --store <path>         keep conversations, with what was said in them: a .db
                         file, or a folder. Without it they end with the proxy
  --verbose              a line for each request on standard error
  --port <number>        default: 8323; 0 for any that is free
  --host <name>          default: 127.0.0.1
  --token <text>         what clients must send as x-contextweaver-token
                         (default: CONTEXTWEAVER_TOKEN); needed beyond this
                         machine
`,
  run: `an agent behind a proxy of its own; at the end what was saved

  contextweaver run -- codex
  contextweaver run --budget 40000 --verbose -- claude -p "Fix the build"
  contextweaver run --store ~/.contextweaver -- claude -c

Options are those of proxy, before --: --budget, --thrift, --openai, --chatgpt,
--anthropic, --gemini, --code-assist, --mask, --store and --verbose. With the
same --store an agent that is resumed goes on with the prompt that it had. Where
OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL or
CODE_ASSIST_ENDPOINT is set, that stands behind it. Codex pays with its login,
or with OPENAI_API_KEY where it has none.
`,
  install: `an agent sees large results of tools shortened

  contextweaver install claude-code        or opencode, gemini-cli, codex

It shows what it writes, and asks.

  --yes                  write without asking
  --result-tokens <n>    most tokens of a result that it sees (default: 1150)
  --mask                 mask secrets in results that are shortened
`,
  uninstall: `takes away what install has written, and nothing else

  contextweaver uninstall claude-code

Results that were stored stay in .contextweaver.

  --yes                  do it without asking
`,
  hook: `what an agent runs after each of its tools

  contextweaver hook claude-code < event.json

Whatever goes wrong, the result stays as it is, the exit code is 0, and hook.log
in the store says why.

  --store <folder>       where results are kept (default: .contextweaver)
  --result-tokens <n>    most tokens of a result that it sees (default: 1150)
  --mask                 mask secrets in results that are shortened
`,
  mcp: `drilldown and recall over stored results, by MCP

  contextweaver mcp --store .contextweaver

  --store <folder>       where results are kept (default: .contextweaver)
  --mask                 mask secrets in what is read
`,
  demo: `all four phases on a session, and queries to 232 tools

  contextweaver demo
  contextweaver demo --session session.jsonl
`,
};

export const COMMANDS: readonly string[] = Object.keys(HELP);

/** Those that print nothing as JSON. */
const BARE: readonly string[] = ["demo", "inspect", "serve", "proxy", "run", "install", "uninstall", "hook", "mcp"];
const EXIT_CODES = "Exit codes: 0 done, 1 cannot be done or something was found, 2 bad input.\n";

/** The program as a whole. */
export const USAGE = `contextweaver keeps what an agent sends within a token budget, and says why.

  npx contextweaver init                     a running example for this project
  npx contextweaver run -- codex             an agent within a token budget
  npx contextweaver audit ~/.codex/sessions  what sessions cost, and would cost
  npx contextweaver inspect session.json     a session in the browser

Commands
  init                       an example for the framework of this project
  build, drilldown, recall   a prompt from a session; parts of stored results
  audit, inspect             what recorded sessions cost; one call by call
  route, lint, diff          tools for a query; what is wrong or new in lists
  convert, decisions         between formats; the memory of decisions
  run, proxy                 any agent, or any client, within a token budget
  install, uninstall, hook   coding agents whose large results are shortened
  gateway, mcp               MCP servers behind one front; results over MCP
  serve, demo                sessions over HTTP; all of it on a sample

contextweaver <command> --help has its options and examples; --version.
${EXIT_CODES}`;

/** What is to be known of one command. */
export function helpOf(command: string): string {
  const json = BARE.includes(command) ? "" : "; --json prints JSON";
  return `contextweaver ${command}: ${HELP[command] ?? ""}  --color <when>         auto, always or never${json}\n${EXIT_CODES}`;
}
