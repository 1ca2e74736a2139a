import { lines, type Topic } from '../cases.ts';

/** `Host` (RFC 9112 §3.2). */
export const host: Topic = ({ path }) => {
  const get = (...headers: string[]) => lines(`GET ${path} HTTP/1.1`, ...headers);
  return [
    ['no Host', 'RFC 9112 §3.2', get(), '400 keep', '400 close'],
    ['no Host, but a length', 'h1spec', { cut: get('Content-Length: 5') }, '400 close'],
    [
      'no Host in HTTP/1.0',
      'RFC 9112 §3.2',
      lines(`GET ${path} HTTP/1.0`),
      'ok close',
      '400 close',
    ],
    ['an empty Host', 'Http11Probe', get('Host: '), '400 keep', '400 close'],
    ['two equal Hosts', 'RFC 9112 §3.2', get('Host: a', 'Host: a'), '400 keep', '400 close'],
    ['two Hosts', 'RFC 9112 §3.2', get('Host: a', 'Host: b'), '400 keep', '400 close'],
    [
      'two Hosts, the second in another case',
      'RFC 9110 §5.1',
      get('Host: a', 'hOST: b'),
      '400 keep',
      '400 close',
    ],
    ['two Hosts, the second folded', 'Kettle 2019', get('Host: a', ' Host: b'), '400 close'],
    ['a list of hosts', 'Http11Probe', get('Host: a, b'), '400 keep', '400 close'],
    ['credentials', 'Http11Probe', get('Host: user@a'), '400 keep', '400 keep | 400 close'],
    [
      'credentials that look like a host',
      'CVE-2026-27959',
      get('Host: evil.example:x@a'),
      '400 keep',
    ],
    ['a path', 'Http11Probe', get('Host: a/b'), '400 keep', '400 close'],
    ['a space', 'RFC 3986 §3.2.2', get('Host: a b'), '400 keep', '400 close'],
    ['a fragment', 'RFC 3986 §3.2.2', get('Host: a#b'), '400 keep', '400 keep | 400 close'],
    ['a backslash', 'Orange Tsai 2018', get('Host: a\\b'), '400 keep', '400 keep | 400 close'],
    ['a NUL', 'HTTP Garden', get('Host: a\0.example.com'), '400 close'],
    [
      'bytes outside ASCII',
      'HTTP Garden',
      get('Host: \xffa\xff'),
      '400 keep',
      '400 keep | 400 close',
    ],
    [
      'a port that is no number',
      'CVE-2024-32652',
      get('Host: a:http'),
      '400 keep',
      '400 keep | 400 close',
    ],
    [
      'a port above 65535',
      'RFC 9110 §4.2.1',
      get('Host: a:65536'),
      '400 keep',
      '400 keep | 400 close',
    ],
    ['two ports', 'RFC 3986 §3.2.3', get('Host: a:80:81'), '400 keep', '400 keep | 400 close'],
    ['a port only', 'RFC 9110 §4.2.1', get('Host: :80'), '400 keep', '400 close'],
    ['an open bracket', 'CVE-2024-32652', get('Host: [::1'), '400 keep', '400 keep | 400 close'],
    ['an IPv6 address', 'RFC 3986 §3.2.2', get('Host: [::1]:80'), 'ok keep'],
    ['a URL', 'RFC 9112 §3.2', get('Host: http://a/'), '400 keep', '400 close'],
    ['a Host of 7,000 characters', 'RFC 1035 §2.3.4', get(`Host: ${'a'.repeat(7_000)}`), 'ok keep'],
  ];
};
