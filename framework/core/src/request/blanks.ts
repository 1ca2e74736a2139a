/**
 * `text` without the spaces and tabs around it, the only white space of a header (RFC 9110 §5.6.3).
 * `trim()` also removes a no-break space, which makes another name or value equal.
 */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
