// Watches the instances that the package makes, for tests that reach below the facade; to be imported before the package.
const instances = [];

WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct(Instance, args) {
    const instance = new Instance(...args);
    instances.push(instance);
    return instance;
  },
});

/** The exports of the newest instance that has this one. */
export const newest = (name) => instances.findLast(({ exports }) => name in exports).exports;

const EMPTY = new TextEncoder().encode('{"items":[]}');
/** An export over handles of each module, and what makes a handle. */
const OBJECTS = [
  ["manager_call", (glue) => glue.manager_new("{}")],
  ["catalog_call", (glue) => glue.catalog_new(EMPTY)],
  ["decisions_call", (glue) => glue.decisions_new("{}")],
];
const PAGE_BYTES = 65_536;
const MOST_PAGES = 65_536;
/** Where a text is said to be, and its length: behind the end of every memory but the largest. */
const WILD = [0xffff_0000, 0x8000];

function exportsOf(glue) {
  const [name, make] = OBJECTS.find(([name]) => glue[name]);
  return { name, make, exports: newest(name) };
}

/** Ways to end an instance of a module, given its glue. */
export const TRAPS = {
  "a wild pointer": (glue) => exportsOf(glue).exports.mask_text(...WILD),
  "a panic": (glue) => {
    const { name, make, exports } = exportsOf(glue);
    const call = (handle) => exports[name](handle, ...WILD, ...WILD);
    const handle = make(glue);
    try {
      call(handle);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    }
    // What was borrowed when the first call ended still is.
    call(handle);
  },
  "a stack overflow": (glue) => {
    const { exports } = exportsOf(glue);
    const dive = () => {
      exports.engine_version();
      dive();
    };
    dive();
  },
  "exhausted memory": (glue) => {
    const { exports } = exportsOf(glue);
    exports.memory.grow(MOST_PAGES - exports.memory.buffer.byteLength / PAGE_BYTES);
    exports.__wbindgen_malloc(1 << 30, 1);
  },
};
