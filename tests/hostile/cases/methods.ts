import { lines, type Topic } from '../cases.ts';

const HOST = 'Host: a';

/** Methods (RFC 9110 §9). */
export const methods: Topic = ({ path, collection }) => [
  [
    'a method in lower case',
    'RFC 9110 §9.1',
    lines(`get ${path} HTTP/1.1`, HOST),
    '501 close',
    '400 close',
  ],
  [
    'an unknown method',
    'RFC 9110 §9.1',
    lines(`FOOBAR ${path} HTTP/1.1`, HOST),
    '501 close',
    '501 keep',
  ],
  [
    'a method that starts like another',
    'Http11Probe',
    lines(`GETX ${path} HTTP/1.1`, HOST),
    '501 close',
    '501 keep',
  ],
  ['a method of WebDAV', 'RFC 4918 §9', lines(`PROPFIND ${path} HTTP/1.1`, HOST), '501 keep'],
  [
    'a method with a delimiter',
    'HTTP Garden',
    lines(`G=":<>(e) ${path} HTTP/1.1`, HOST),
    '400 close',
  ],
  ['a method with a NUL', 'HTTP Garden', lines(`\0 ${path} HTTP/1.1`, HOST), '400 close'],
  [
    'a method with an 8-bit byte',
    'RFC 9110 §9.1',
    lines(`G\xcbT ${path} HTTP/1.1`, HOST),
    '400 close',
  ],
  [
    'a method of 100 kB',
    'Http11Probe',
    lines(`${'A'.repeat(100_000)} ${path} HTTP/1.1`, HOST),
    '400 close',
    '414 close',
  ],
  ['TRACE', 'RFC 9110 §9.3.8', lines(`TRACE ${path} HTTP/1.1`, HOST), '405 keep', '405 close'],
  [
    'TRACE with credentials',
    'RFC 9110 §9.3.8',
    lines(`TRACE ${path} HTTP/1.1`, HOST, 'Authorization: Bearer secret'),
    '405 keep',
    '405 close',
  ],
  [
    'TRACE with a body',
    'RFC 9110 §9.3.8',
    `${lines(`TRACE ${path} HTTP/1.1`, HOST, 'Content-Length: 5')}hello`,
    '405 keep',
    '405 close',
  ],
  [
    'CONNECT',
    'RFC 9110 §9.3.6',
    lines('CONNECT example.com:443 HTTP/1.1', 'Host: example.com:443'),
    '501 close',
    '400 close',
  ],
  [
    'CONNECT with a path',
    'RFC 9112 §3.2.3',
    lines(`CONNECT ${path} HTTP/1.1`, HOST),
    '501 close',
    '405 close',
  ],
  [
    'CONNECT followed by a TLS greeting',
    'RFC 9110 §9.3.6',
    `${lines('CONNECT a:443 HTTP/1.1', HOST)}\x16\x03\x01`,
    '501 close',
    '400 close',
  ],
  ['PRI, the preface of HTTP/2', 'RFC 9113 §3.4', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400 close'],
  [
    'PRI with settings after it',
    'HTTP Garden',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    '400 close',
  ],
  [
    'DELETE of a collection',
    'RFC 9110 §15.5.6',
    lines(`DELETE ${collection} HTTP/1.1`, HOST),
    '405 keep',
  ],
  ['HEAD', 'RFC 9110 §9.3.2', lines(`HEAD ${path} HTTP/1.1`, HOST), 'ok keep'],
  [
    'HEAD with a body',
    'RFC 9110 §9.3.2',
    `${lines(`HEAD ${path} HTTP/1.1`, HOST, 'Content-Length: 5')}hello`,
    'ok keep',
  ],
  [
    'OPTIONS with a body',
    'RFC 9110 §9.3.7',
    `${lines(`OPTIONS ${path} HTTP/1.1`, HOST, 'Content-Length: 5')}hello`,
    '200 keep',
  ],
  [
    'an override of the method',
    'CWE-436',
    lines(`GET ${path} HTTP/1.1`, HOST, 'X-HTTP-Method-Override: DELETE'),
    'ok keep',
  ],
];
