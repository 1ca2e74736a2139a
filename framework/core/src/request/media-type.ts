/** A media type of `Content-Type` (RFC 9110 §8.3.1): type and parameter names in lower case. */
interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** A token (RFC 9110 §5.6.2), for regular expressions. */
export const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const TYPE = new RegExp(`^(${TOKEN}/${TOKEN})[ \\t]*`);
const PARAMETER = new RegExp(
  `;[ \\t]*(?:(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\[\\t -~])*)"))?[ \\t]*`,
  'y',
);

/** Reads a `Content-Type`; `undefined` if it is malformed. */
export function parseMediaType(header: string): MediaType | undefined {
  const [start = '', type] = TYPE.exec(header) ?? [];
  if (type === undefined) return undefined;
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = start.length;
  while (PARAMETER.lastIndex < header.length) {
    const match = PARAMETER.exec(header);
    if (match === null) return undefined;
    const [, name, token, quoted] = match;
    if (name === undefined) continue; // an empty parameter, as in "a/b;"
    parameters.set(name.toLowerCase(), token ?? (quoted ?? '').replace(/\\(.)/g, '$1'));
  }
  return { type: type.toLowerCase(), parameters };
}

/**
 * Creates a function that returns what `choose` returns for the media type of a body in UTF-8; `undefined`
 * for another charset and a malformed `Content-Type`. Clients send few different types: the latest accepted
 * header is not read again.
 */
export function createTypeReader<Value extends {}>(
  choose: (mediaType: string) => Value | undefined,
): (contentType: string | undefined) => Value | undefined {
  let latest: { readonly header: string; readonly value: Value } | undefined;
  return (header = '') => {
    if (header === latest?.header) return latest.value;
    const media = parseMediaType(header);
    if (!media || !isUtf8Charset(media.parameters.get('charset'))) return undefined;
    const value = choose(media.type);
    if (value !== undefined) latest = { header, value };
    return value;
  };
}

/** Whether text in `charset` is UTF-8, of which ASCII is a part; without a charset it is. */
export function isUtf8Charset(charset = 'utf-8'): boolean {
  return /^(?:utf-?8|us-ascii)$/i.test(charset);
}

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
