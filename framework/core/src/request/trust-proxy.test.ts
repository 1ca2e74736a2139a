import { describe, expect, test } from 'vitest';

import { createApp } from '../application.ts';
import { request } from '../testing/index.ts';
import { readForwarding, readTrustProxy, type TrustProxy } from './trust-proxy.ts';

/** The ip, host and protocol of a request through proxies; the peer is 127.0.0.1. */
async function see(trustProxy: TrustProxy, headers: Record<string, string>) {
  const app = createApp({ trustProxy }).use((ctx) => {
    ctx.json({ ip: ctx.ip, host: ctx.host, protocol: ctx.protocol });
  });
  return (await request(app, '/', { headers: { Host: 'inner:80', ...headers } })).json();
}

describe('ctx.ip is read from the right of X-Forwarded-For', () => {
  test.each<readonly [TrustProxy, string, string]>([
    [false, '192.0.2.1', '127.0.0.1'],
    [0, '192.0.2.1', '127.0.0.1'],
    [1, '192.0.2.1', '192.0.2.1'],
    [1, '6.6.6.6, 192.0.2.1', '192.0.2.1'],
    [2, '6.6.6.6, 192.0.2.1, 10.0.0.1', '192.0.2.1'],
    [2, '192.0.2.1', '192.0.2.1'],
    [5, '192.0.2.1, 10.0.0.1', '192.0.2.1'],
    [1, '', '127.0.0.1'],
    [1, 'unknown', '127.0.0.1'],
    [2, 'unknown, 10.0.0.1', '10.0.0.1'],
    [1, '192.0.2.1,', '127.0.0.1'],
    [1, '192.0.2.1:4711', '192.0.2.1'],
    [1, '[2001:db8::1]:4711', '2001:db8::1'],
    [1, '2001:DB8:0:0::1', '2001:db8::1'],
    [1, '::ffff:192.0.2.1', '192.0.2.1'],
    [1, '::FFFF:c000:201', '192.0.2.1'],
    [1, '0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    [1, '[2001:db8::1]', '2001:db8::1'],
    [1, 'x[2001:db8::1]', '127.0.0.1'],
    [1, '[2001:db8::1]x', '127.0.0.1'],
    [1, '2001:db8::ffff:1', '2001:db8::ffff:1'],
    [1, '::ffff:1:2:3', '::ffff:1:2:3'],
    [['127.0.0.0/8'], '192.0.2.1', '192.0.2.1'],
    [['127.0.0.1'], '6.6.6.6, 192.0.2.1', '192.0.2.1'],
    [['127.0.0.1', '10.0.0.0/8'], '6.6.6.6, 192.0.2.1, 10.1.2.3, 10.9.9.9', '192.0.2.1'],
    [['127.0.0.1', '10.0.0.0/8'], '192.0.2.1, ::ffff:10.1.2.3', '192.0.2.1'],
    [['127.0.0.1', '2001:db8::/32'], '192.0.2.1, 2001:db8::5', '192.0.2.1'],
    [['127.0.0.1', '2001:db8::/64'], '192.0.2.1, 2001:db8::5', '192.0.2.1'],
    [['127.0.0.1', '2001:db8::/64'], '192.0.2.1, 2001:db8:0:1::5', '2001:db8:0:1::5'],
    [['127.0.0.1', '10.0.0.0/8'], '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    [['10.0.0.0/8'], '192.0.2.1', '127.0.0.1'],
    [['0.0.0.0/0'], '192.0.2.1', '192.0.2.1'],
    [[], '192.0.2.1', '127.0.0.1'],
  ])('trustProxy %j and "%s": %s', async (trustProxy, forwardedFor, ip) => {
    expect(await see(trustProxy, { 'X-Forwarded-For': forwardedFor })).toMatchObject({ ip });
  });
});

describe('ctx.host and ctx.protocol follow trustProxy', () => {
  const forwarded = {
    'X-Forwarded-Host': 'evil, outer.example',
    'X-Forwarded-Proto': 'http, https',
  };
  const outer = { host: 'outer.example', protocol: 'https' };
  const padded = { 'X-Forwarded-Host': '\xa0outer.example', 'X-Forwarded-Proto': '\xa0https' };

  test.each<readonly [string, TrustProxy, Record<string, string>, object]>([
    ['no proxy is trusted', false, forwarded, {}],
    ['the last of two entries counts', 1, forwarded, outer],
    ['the peer is not in a trusted network', ['10.0.0.0/8'], forwarded, {}],
    ['the header is missing', 1, {}, {}],
    ['the host is malformed', 1, { 'X-Forwarded-Host': 'a/<b>' }, {}],
    ['the protocol is unknown', 1, { 'X-Forwarded-Proto': 'javascript' }, {}],
    ['a no-break space precedes host and protocol', 1, padded, {}],
    ['an encrypted WebSocket', 1, { 'X-Forwarded-Proto': 'wss' }, { protocol: 'https' }],
    ['a WebSocket', 1, { 'X-Forwarded-Proto': 'ws' }, {}],
    ['the protocol is in upper case', 1, { 'X-Forwarded-Proto': 'HTTPS' }, { protocol: 'https' }],
  ])('%s', async (_, trustProxy, headers, expected) => {
    const own = { host: 'inner:80', protocol: 'http' };

    expect(await see(trustProxy, headers)).toMatchObject({ ...own, ...expected });
  });
});

test.each(
  [
    ...[true, -1, 1.5, Number.NaN, '10.0.0.0/8', null, {}, [true], ['']],
    ...'10.0.0.0/33 10.0.0.0/-1 10.0.0.0/ 10.0.0.0/8/8 10.0.0.0/x8 10.0.0.0/8x 10.0.0/8 ::1/129 loopback'
      .split(' ')
      .map((network) => [network]),
  ].map((option) => ({ option })),
)('trustProxy $option throws at start', ({ option }) => {
  const create = () => createApp({ trustProxy: option as TrustProxy });

  expect(create).toThrow(TypeError);
  expect(create).toThrow(/^Cannot read option trustProxy ".*" of createApp\(\): expected /);
});

test.each([
  ['a client that has disconnected', undefined],
  ['a link-local client', 'fe80::1%eth0'],
])('%s is not a trusted network', (_, remote) => {
  const isTrusted = readTrustProxy(['10.0.0.0/8', '2001:db8::/32']);

  expect(readForwarding(remote, '192.0.2.1', isTrusted).hops).toBe(0);
});

test('ctx.ip is an address without a zone', () => {
  const { ip } = readForwarding('fe80::1%eth0', undefined, readTrustProxy(false));

  expect(ip).toBe('fe80::1');
});
