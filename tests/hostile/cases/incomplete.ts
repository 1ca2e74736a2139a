import { chunk, type Topic, USER } from '../cases.ts';

/** Requests that end in the middle. */
export const incomplete: Topic = ({ get, post }) => {
  const request = get();
  const half = (title: string, end: number | string) => {
    const at = typeof end === 'number' ? end : request.indexOf(end) + end.length;
    return [
      title,
      'h1spec',
      { cut: request.slice(0, at) },
      at === 0 ? 'close' : '400 close',
      'close',
    ] as const;
  };
  const body = (
    title: string,
    source: string,
    text: string,
    direct = '400* close',
    edge = 'close',
  ) => [title, source, { cut: text }, direct, edge] as const;
  return [
    half('no byte', 0),
    half('one letter', 1),
    half('a method', 'GET '),
    half('a target', 'limit'),
    half('a target and a space', '=1 '),
    half('a part of the version', 'HTTP'),
    half('a request line without an end', '1.1'),
    half('a request line and a carriage return', '1.1\r'),
    half('a request line', '1.1\r\n'),
    half('a part of a name', 'Hos'),
    half('a name', 'Host:'),
    half('a name and a space', 'Host: '),
    half('a header without an end', 'Host: a'),
    half('a header and a carriage return', 'Host: a\r'),
    half('a header', 'Host: a\r\n'),
    half('a head without the last byte', 'Host: a\r\n\r'),
    body(
      'a part of a body',
      'RFC 9112 §8',
      post(`Content-Length: ${USER.length}`, USER.slice(0, 5)),
    ),
    body('no body', 'RFC 9112 §8', post(`Content-Length: ${USER.length}`)),
    body(
      'no body after 100-continue',
      'RFC 9110 §10.1.1',
      post([`Content-Length: ${USER.length}`, 'Expect: 100-continue']),
      '100 400* close | 405 close',
      '100 close',
    ),
    body(
      'a body of 999,999,999 bytes',
      'Http11Probe',
      post('Content-Length: 999999999', USER),
      '413* close',
      '413 close',
    ),
    body('a part of a size', 'RFC 9112 §8', post('Transfer-Encoding: chunked', '2')),
    body(
      'a part of a chunk',
      'RFC 9112 §8',
      post('Transfer-Encoding: chunked', chunk(USER).slice(0, 9)),
    ),
    body(
      'chunks without the last one',
      'RFC 9112 §8',
      post('Transfer-Encoding: chunked', chunk(USER).slice(0, -5)),
    ),
    body(
      'chunks without the last byte',
      'RFC 9112 §8',
      post('Transfer-Encoding: chunked', chunk(USER).slice(0, -1)),
    ),
    body(
      'a chunk of 4 GiB',
      'CVE-2021-32714',
      post('Transfer-Encoding: chunked', `ffffffff\r\n${USER}`),
      '400* close',
      '413 close',
    ),
  ];
};
