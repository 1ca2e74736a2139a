import { expect, test } from 'vitest';

import { clientKey } from './client-key.ts';

test.each([
  ['192.0.2.7', 64, '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', 64, '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::', 64, '2001:db8:1:2::/64'],
  ['2001:db8::1', 64, '2001:db8:0:0::/64'],
  ['::1', 64, '0:0:0:0::/64'],
  ['2001:db8:1:2ff::1', 56, '2001:db8:1:200::/56'],
  ['2001:db8:ffff::1', 33, '2001:db8:8000::/33'],
  ['2001:db8::1', 128, '2001:db8::1'],
  ['2001:db8::ffff', 127, '2001:db8:0:0:0:0:0:fffe/127'],
  ['64:ff9b::192.0.2.7', 120, '64:ff9b:0:0:0:0:c000:200/120'],
  ['fe80::1%eth0', 64, 'fe80:0:0:0::/64'],
  ['', 64, ''],
])('the client at %j with an IPv6 subnet of %i has the key %j', (ip, subnet, key) => {
  expect(clientKey(ip, subnet)).toBe(key);
});
