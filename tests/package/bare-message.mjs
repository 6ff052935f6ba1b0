/** A message as JSON by which it is compared with that of another call: marks of a cache move on, and make a block of a text. */
export const bareMessage = (message) =>
  JSON.stringify(message, (key, value) => {
    if (key === "cache_control") return undefined;
    const isText =
      Array.isArray(value) &&
      value.length === 1 &&
      value[0].type === "text" &&
      Object.keys(value[0]).every((name) => ["type", "text", "cache_control"].includes(name));
    return isText ? value[0].text : value;
  });
