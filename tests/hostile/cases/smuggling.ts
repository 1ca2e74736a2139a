import { chunk, lines, type Topic } from '../cases.ts';

const END = '0\r\n\r\n';

/** A request inside of another one: a response to it would be a second response. */
export const smuggling: Topic = ({ post, get, collection, path, smuggled }) => {
  const body = END + smuggled;
  const length = `Content-Length: ${body.length}`;
  const size = smuggled.length.toString(16);
  const hidden = chunk(smuggled);
  const head = smuggled.replace('GET', 'HEAD');
  return [
    ['CL.TE', 'Linhart 2005', post([length, 'Transfer-Encoding: chunked'], body), '400 close'],
    [
      'CL.TE, the coding first',
      'Kettle 2019',
      post(['Transfer-Encoding: chunked', length], body),
      '400 close',
    ],
    [
      'CL.TE with a short length',
      'Http11Probe',
      post(['Content-Length: 4', 'Transfer-Encoding: chunked'], END),
      '400 close',
    ],
    [
      'CL.TE with a byte left over',
      'Http11Probe',
      post(['Content-Length: 6', 'Transfer-Encoding: chunked'], `${END}X`),
      '400 close',
    ],
    [
      'CL.TE with a plus sign',
      'Http11Probe',
      post([length.replace(': ', ': +'), 'Transfer-Encoding: chunked'], body),
      '400 close',
    ],
    [
      'CL.TE with a letter in the length',
      'Http11Probe',
      post([`${length}x`, 'Transfer-Encoding: chunked'], body),
      '400 close',
    ],
    [
      'CL.TE with a folded coding',
      'CVE-2022-32215',
      post(['Transfer-Encoding:\r\n chunked', length], body),
      '400 close',
    ],
    [
      'CL.TE with a space after the coding',
      'Http11Probe',
      post([length, 'Transfer-Encoding: chunked '], body),
      '400 close',
    ],
    [
      'CL.TE with a comma before the coding',
      'Http11Probe',
      post([length, 'Transfer-Encoding: , chunked'], body),
      '400 close',
      '501 close',
    ],
    [
      'CL.TE with a coding in upper case',
      'Http11Probe',
      post([length, 'Transfer-Encoding: Chunked'], body),
      '400 close',
    ],
    [
      'CL.TE with a space before the colon',
      'CVE-2019-16869',
      post([length, 'Transfer-Encoding : chunked'], body),
      '400 close',
    ],
    [
      'CL.TE with two codings',
      'CVE-2020-8287',
      post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity', length], body),
      '400 close',
    ],
    [
      'CL.TE with a vertical tab',
      'CVE-2019-18277',
      post(['Transfer-Encoding:\vchunked', length], body),
      '400 close',
      '501 close',
    ],
    [
      'CL.TE with HEAD inside',
      'Http11Probe',
      post(
        [`Content-Length: ${END.length + head.length}`, 'Transfer-Encoding: chunked'],
        END + head,
      ),
      '400 close',
    ],
    [
      'TE.CL',
      'Linhart 2005',
      post(['Transfer-Encoding: chunked', `Content-Length: ${size.length + 2}`], hidden),
      '400 close',
    ],
    [
      'TE.CL, the length first',
      'Kettle 2019',
      post([`Content-Length: ${size.length + 2}`, 'Transfer-Encoding: chunked'], hidden),
      '400 close',
    ],
    [
      'TE.CL with a byte left over',
      'Http11Probe',
      post(['Transfer-Encoding: chunked', 'Content-Length: 30'], `${END}X`),
      '400 close',
    ],
    [
      'TE.TE with an unknown coding',
      'Kettle 2019',
      post(['Transfer-Encoding: chunked', 'Transfer-Encoding: cow', length], body),
      '400 close',
    ],
    [
      'TE.TE with xchunked',
      'Kettle 2019',
      post(['Transfer-Encoding: xchunked', length], body),
      '400 close',
      '501 close',
    ],
    [
      'TE.TE in one list',
      'Kettle 2019',
      post(['Transfer-Encoding: chunked, cow', length], body),
      '400 close',
      '501 close',
    ],
    [
      'TE.TE with a header in a header',
      'Kettle 2019',
      post([length, 'X: X\nTransfer-Encoding: chunked'], body),
      '400 close',
    ],
    [
      'CL.CL',
      'Linhart 2005',
      post(['Content-Length: 4', `Content-Length: ${4 + smuggled.length}`], `PING${smuggled}`),
      '400 close',
    ],
    [
      'CL.CL, the long one first',
      'Linhart 2005',
      post([`Content-Length: ${4 + smuggled.length}`, 'Content-Length: 4'], `PING${smuggled}`),
      '400 close',
    ],
    [
      'CL.0 of a GET',
      'Kettle 2022',
      get(`Content-Length: ${smuggled.length}`) + smuggled,
      'ok keep',
    ],
    [
      'CL.0 of an unknown path',
      'Kettle 2022',
      lines(`POST ${collection}/a/b HTTP/1.1`, 'Host: a', `Content-Length: ${smuggled.length}`) +
        smuggled,
      '404 keep',
    ],
    [
      'CL.0 of HEAD',
      'Kettle 2022',
      lines(`HEAD ${path} HTTP/1.1`, 'Host: a', `Content-Length: ${smuggled.length}`) + smuggled,
      'ok keep',
    ],
    [
      'CL.0 of OPTIONS',
      'CVE-2025-54142',
      lines(`OPTIONS ${path} HTTP/1.1`, 'Host: a', `Content-Length: ${smuggled.length}`) + smuggled,
      '200 keep',
    ],
    [
      'CL.0 of a rejected path',
      'Kettle 2022',
      lines('POST /a/../b HTTP/1.1', 'Host: a', `Content-Length: ${smuggled.length}`) + smuggled,
      '400 keep',
      '404 keep',
    ],
    [
      'CL.0 of a page of the edge',
      'CVE-2019-20372',
      lines('GET / HTTP/1.1', 'Host: a', `Content-Length: ${smuggled.length}`) + smuggled,
      '404 keep',
      '200 keep',
    ],
    ['TE.0 of a GET', 'Arnolfo 2024', get('Transfer-Encoding: chunked') + hidden, 'ok keep'],
    [
      'TE.0 of OPTIONS',
      'Arnolfo 2024',
      lines(`OPTIONS ${path} HTTP/1.1`, 'Host: a', 'Transfer-Encoding: chunked') + hidden,
      '200 keep',
    ],
    [
      'TE.0 of HEAD',
      'Arnolfo 2024',
      lines(`HEAD ${path} HTTP/1.1`, 'Host: a', 'Transfer-Encoding: chunked') + hidden,
      'ok keep',
    ],
    [
      'TE.0 of an unknown path',
      'Arnolfo 2024',
      lines(`POST ${collection}/a/b HTTP/1.1`, 'Host: a', 'Transfer-Encoding: chunked') + hidden,
      '404 keep',
    ],
    [
      '0.CL with a space before the colon',
      'Kettle 2025',
      get(`Content-Length : ${smuggled.length}`) + smuggled,
      '400 close',
    ],
    [
      '0.CL with a folded length',
      'Kettle 2025',
      get(`Content-Length:\r\n ${smuggled.length}`) + smuggled,
      '400 close',
    ],
    [
      '0.CL with a length after an empty name',
      'CVE-2023-25725',
      get(':', `Content-Length: ${smuggled.length}`) + smuggled,
      '400 close',
    ],
    [
      '0.CL with an expectation',
      'Kettle 2025',
      post(['Expect: 100-continue', `Content-Length: ${smuggled.length}`], smuggled),
      '100 400* keep | 405 close',
      '100 400* keep',
    ],
    [
      '0.CL with a folded expectation',
      'CVE-2025-32094',
      lines(
        `OPTIONS ${path} HTTP/1.1`,
        'Host: a',
        'Expect:\r\n 100-continue',
        `Content-Length: ${smuggled.length}`,
      ) + smuggled,
      '400 close',
    ],
    [
      '0.CL with an invalid expectation',
      'Kettle 2025',
      post(['Expect: y 100-continue', `Content-Length: ${smuggled.length}`], smuggled),
      '417 close',
      '400* keep',
    ],
    [
      'a request after CONNECT',
      'RFC 9110 §9.3.6',
      lines('CONNECT a:80 HTTP/1.1', 'Host: a:80') + smuggled,
      '501 close',
      '400 close',
    ],
    [
      'a request after an upgrade',
      'Egorov 2019',
      get('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 777') + get(),
      'ok keep',
      'ok ok keep',
    ],
    [
      'a request after an upgrade to HTTP/2',
      'Bishop Fox 2020',
      get(
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
      ),
      'ok keep',
    ],
    [
      'a length that the connection header removes',
      'Davison 2019',
      post(['Connection: close, Content-Length', `Content-Length: ${smuggled.length}`], smuggled),
      '400* close',
    ],
    [
      'encoded line breaks in the query',
      'CVE-2018-12116',
      get().replace('?', '?a=%0d%0a%0d%0aGET%20/%20HTTP/1.1&'),
      '400+ keep',
    ],
    [
      'a header over the limit, then a request',
      'CVE-2021-40346',
      get(`X-Test: ${'a'.repeat(100_000)}`) + smuggled,
      '431 close',
    ],
  ];
};
