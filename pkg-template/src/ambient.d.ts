// Modules that exist only in the built package or only inside a bundler.

declare module "*_inline.js" {
  /** The WebAssembly module as base64. */
  const base64: string;
  export default base64;
}

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}
