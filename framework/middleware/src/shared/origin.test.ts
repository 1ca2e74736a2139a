import type { Context } from '@fw/core';
import { expect, test } from 'vitest';

import { anOrigin, isListed, isOwnOrigin, normalOrigin } from './origin.ts';

test.each([
  ['https://shop.example', 'https://shop.example'],
  ['https://SHOP.example:443', 'https://shop.example'],
  ['https://shop.example:8443', 'https://shop.example:8443'],
  ['https://[2001:DB8::1]:443', 'https://[2001:db8::1]'],
  ['capacitor://localhost', 'capacitor://localhost'],
  ['null', undefined],
  ['', undefined],
  ['file://host', undefined],
  ['app://', undefined],
  ['https://*.example', undefined],
])('the normal form of the origin %j is %j', (text, normal) => {
  expect(normalOrigin(text)).toBe(normal);
  expect(anOrigin.accepts(text)).toBe(text === normal);
});

test.each([
  ['https://shop', 'shop:443', true],
  ['https://shop:443', 'shop', true],
  ['http://shop', 'shop:80', true],
  ['https://shop:8443', 'SHOP:8443', true],
  // Behind a proxy that ends TLS the request may be one of http.
  ['https://SHOP', 'shop', true],
  ['https://[::1]', '[0:0::1]:443', true],
  ['https://shop', 'shop:80', false],
  ['http://shop', 'shop:443', false],
  ['https://shop:8443', 'shop', false],
  ['https://a.shop', 'shop', false],
  ['https://shop@evil', 'shop', false],
  ['app://shop', 'shop', false],
  ['null', 'null', false],
  ['', '', false],
])('the origin %j is that of the host %j: %j', (origin, host, expected) => {
  expect(isOwnOrigin({ host } as Context, origin)).toBe(expected);
});

test('an origin is listed in any spelling', () => {
  const origins = ['https://shop.example', 'capacitor://localhost'];

  const listed = ['https://shop.example:443', 'https://Shop.Example', 'capacitor://localhost'];
  expect(listed.filter((origin) => !isListed(origins, origin))).toEqual([]);
  const prefixes = ['https://shop.example.evil', 'https://shop.example:444'];
  const others = [...prefixes, 'http://shop.example', 'null', ''];
  expect(others.filter((origin) => isListed(origins, origin))).toEqual([]);
});
