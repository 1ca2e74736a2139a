import { lines, type Topic, USER } from '../cases.ts';

/** Connections, expectations and upgrades (RFC 9112 §9, RFC 9110 §7.8, §10.1.1). */
export const connections: Topic = ({ get, post, path, collection }) => {
  const length = `Content-Length: ${USER.length}`;
  const websocket = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  return [
    ['a valid request', 'h1spec', get(), 'ok keep'],
    [
      'unusual, but valid headers',
      'h1spec',
      lines(`GET ${path} HTTP/1.1`, 'hoSt:\ta', 'empty:'),
      'ok keep',
      '400 close',
    ],
    ['two requests at once', 'RFC 9112 §9.3.2', get() + get(), 'ok ok keep'],
    ['a POST and a GET at once', 'RFC 9112 §9.3.2', post(length, USER) + get(), 'created ok keep'],
    [
      'an invalid request after a valid one',
      'HTTP Garden',
      `${get()}INVALID\r\n\r\n`,
      'ok 400 close',
    ],
    [
      'a POST without data, and a byte',
      'Http11Probe',
      `${lines(`POST ${collection} HTTP/1.1`, 'Host: a', 'Content-Length: 0')}X`,
      '400* 400 close',
      '400* 501 close',
    ],
    ['line breaks after a body', 'RFC 9112 §2.2', `${post(length, USER)}\r\n\r\n`, 'created keep'],
    ['Connection: close', 'RFC 9112 §9.6', get('Connection: close'), 'ok close'],
    [
      'Connection: close, then a request',
      'RFC 9112 §9.6',
      get('Connection: close') + get(),
      'ok close',
    ],
    ['close and keep-alive', 'RFC 9112 §9.6', get('Connection: keep-alive, close'), 'ok close'],
    ['a Connection header that names Host', 'Davison 2019', get('Connection: Host'), 'ok keep'],
    [
      'a Connection header that names X-Forwarded-For',
      'Davison 2019',
      get('Connection: X-Forwarded-For, X-Request-Id', 'X-Forwarded-For: 1.2.3.4'),
      'ok keep',
    ],
    ['HTTP/1.0', 'RFC 9112 §9.3', lines(`GET ${path} HTTP/1.0`, 'Host: a'), 'ok close'],
    [
      'HTTP/1.0 with keep-alive',
      'RFC 9112 §9.3',
      lines(`GET ${path} HTTP/1.0`, 'Host: a', 'Connection: keep-alive'),
      'ok keep',
    ],
    [
      '100-continue',
      'RFC 9110 §10.1.1',
      post([length, 'Expect: 100-continue'], USER),
      '100 created keep | 405 close',
      '100 created keep',
    ],
    [
      '100-continue without a body',
      'h1spec',
      get('Expect: 100-continue'),
      'ok close',
      '100 ok keep',
    ],
    [
      '100-continue in HTTP/1.0',
      'RFC 9110 §10.1.1',
      lines(
        `POST ${collection} HTTP/1.0`,
        'Host: a',
        'Content-Type: application/json',
        length,
        'Expect: 100-continue',
      ) + USER,
      'created close',
    ],
    [
      '100-continue twice',
      'Kettle 2025',
      post([length, 'Expect: 100-continue', 'Expect: 100-continue'], USER),
      '417 close',
      '400 close',
    ],
    ['an unknown expectation', 'RFC 9110 §10.1.1', get('Expect: 200-ok'), '417 close', 'ok keep'],
    [
      'an upgrade to WebSocket',
      'RFC 6455 §4.2',
      get(...websocket, 'Sec-WebSocket-Version: 13'),
      'ok keep',
    ],
    [
      'an upgrade to an old WebSocket',
      'RFC 6455 §4.4',
      get(...websocket, 'Sec-WebSocket-Version: 99'),
      'ok keep',
    ],
    [
      'an upgrade without Connection',
      'RFC 9110 §7.8',
      get('Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
      'ok keep',
    ],
    [
      'an upgrade in HTTP/1.0',
      'RFC 9110 §7.8',
      lines(`GET ${path} HTTP/1.0`, 'Host: a', ...websocket),
      'ok close',
    ],
    [
      'an upgrade with POST',
      'RFC 6455 §4.1',
      post(['Content-Length: 0', ...websocket]),
      '400* keep',
    ],
    [
      'an upgrade to an unknown protocol',
      'RFC 9110 §7.8',
      get('Connection: Upgrade', 'Upgrade: made-up/1.0'),
      'ok keep',
    ],
    ['an upgrade to TLS', 'RFC 2817 §3', get('Connection: Upgrade', 'Upgrade: TLS/1.0'), 'ok keep'],
    [
      'a greeting of TLS',
      'RFC 8446 §4.1.2',
      '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n',
      '400 close',
    ],
    ['a greeting of SSH', 'RFC 4253 §4.2', 'SSH-2.0-OpenSSH_9.9\r\n\r\n', '400 close'],
    ['a command of Redis', 'Orange Tsai 2018', '*1\r\n$4\r\nPING\r\n\r\n', '400 close'],
    ['a command of SMTP', 'RFC 5321 §4.1.1.1', 'EHLO example.com\r\n\r\n', '400 close'],
    [
      'the PROXY protocol',
      'PROXY protocol §2.1',
      `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${get()}`,
      '400 close',
    ],
    [
      '256 bytes that are no text',
      'Http11Probe',
      String.fromCharCode(...Array.from({ length: 256 }, (_, at) => (at * 167 + 13) % 256)),
      '400 close',
    ],
  ];
};
