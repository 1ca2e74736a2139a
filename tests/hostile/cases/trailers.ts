import { type Topic, USER } from '../cases.ts';

const DATA = `${USER.length.toString(16)}\r\n${USER}\r\n0\r\n`;

/** Trailer fields (RFC 9110 §6.5.1): no service reads them. */
export const trailers: Topic = ({ post, smuggled }) => {
  const trailer = (...fields: readonly string[]) =>
    post('Transfer-Encoding: chunked', `${DATA}${fields.join('\r\n')}\r\n\r\n`);
  return [
    ['a checksum', 'RFC 9112 §7.1.2', trailer('X-Checksum: abc'), 'created keep'],
    ['a length', 'RFC 9110 §6.5.1', trailer('Content-Length: 50'), '400* close', 'created keep'],
    [
      'a coding',
      'RFC 9110 §6.5.1',
      trailer('Transfer-Encoding: chunked'),
      '400* close',
      'created keep',
    ],
    ['a Host', 'RFC 9110 §6.5.1', trailer('Host: evil.example.com'), 'created keep'],
    ['credentials', 'RFC 9110 §6.5.1', trailer('Authorization: Bearer secret'), 'created keep'],
    ['a Content-Type', 'RFC 9110 §6.5.1', trailer('Content-Type: text/evil'), 'created keep'],
    ['a name of __proto__', 'CWE-1321', trailer('__proto__: a'), 'created keep'],
    [
      'a space before the colon',
      'RFC 9112 §5.1',
      trailer('X-Test : a'),
      '400* close',
      'created keep',
    ],
    ['a folded line', 'RFC 9112 §5.2', trailer('X-Test: a', ' b'), '400* close', 'created keep'],
    ['a NUL', 'RFC 9110 §5.5', trailer('X-Test: a\0'), '400* close', 'created keep'],
    ['no colon', 'CVE-2023-46589', trailer('NoColonHere'), '400* close', 'created keep'],
    [
      'a request line',
      'CVE-2023-46589',
      post('Transfer-Encoding: chunked', `${DATA}${smuggled}`),
      '400* close',
      'created keep',
    ],
    [
      '100 kB',
      'CVE-2023-46589',
      trailer(`X-Test: ${'a'.repeat(100_000)}`),
      '431* close',
      'created keep',
    ],
  ];
};
