/** `FW_PUBLIC_NODE_API=1` selects Node's public functions, as if no private field existed. */
export const usesPrivateFields = process.env.FW_PUBLIC_NODE_API !== '1';
