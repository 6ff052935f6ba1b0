// The public names; the lists below name them one by one, so that nothing becomes public by accident.
export * from "./api/common.js";
export * from "./api/context.js";
export * from "./api/convert.js";
export * from "./api/decisions.js";
export * from "./api/routing.js";
