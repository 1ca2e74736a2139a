/**
 * Reads an integer in canonical decimal form: an optional minus sign and digits without leading zeros.
 * Returns `undefined` for any other text, such as `""`, `0x10`, `1e3`, `1.0`, `+1` or `007`, and for
 * integers that a number cannot represent exactly.
 */
export function readInteger(text: string): number | undefined {
  if (!/^(?:0|-?[1-9]\d{0,15})$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}
