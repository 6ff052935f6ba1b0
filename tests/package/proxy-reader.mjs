// An agent that reads on and on, in the language of Anthropic, by whatever sends a body and tells what became of it.
const WORDS = "harbour letter garden window refund account morning carrier".split(" ");
/** A result that no other is like. */
export const result = (name, n, lines = 60) =>
  Array.from({ length: lines }, (_, at) => `${name} ${n}.${at} ${WORDS[(at * 3 + n) % 8]} ${(at * 7919 + n) % 10007} of ${WORDS[(at + n) % 8]}`).join("\n");

/** An agent that reads on and on, as its client holds the conversation. */
export class Agent {
  constructor(name, ask, { system = "Be brief.", task = `Read all of ${name}.`, headers, body } = {}) {
    Object.assign(this, { name, call: ask, system, headers, body, messages: [{ role: "user", content: task }], steps: 0 });
  }

  async step() {
    const done = await this.call({ system: this.system, messages: this.messages, ...this.body }, this.headers);
    const n = (this.steps += 1);
    this.messages = [
      ...this.messages,
      { role: "assistant", content: [{ type: "tool_use", id: `${this.name}_${n}`, name: "read", input: { n } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `${this.name}_${n}`, content: result(this.name, n) }] },
    ];
    return done;
  }
}
