/**
 * Node's HTTP module, without the 70 ms and 17 MB that `import` of it costs: an ES module namespace
 * runs every lazy getter, and one of those loads a whole HTTP client.
 */
export const http = process.getBuiltinModule('node:http');

/** `FW_PUBLIC_NODE_API=1` selects Node's public functions, as if no private field existed. */
export const usesPrivateFields = process.env.FW_PUBLIC_NODE_API !== '1';
