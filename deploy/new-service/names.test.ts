import { expect, test } from 'vitest';

import { readPort, readWords } from './names.ts';

const TAKEN = ['users', 'catalog', 'router'];

test.each([
  ['orders', '', 'order'],
  ['inventory', 'item', 'item'],
  ['categories', 'category', 'category'],
])('%s with SINGULAR=%j has resources called %s', (name, singular, expected) => {
  expect(readWords({ name, singular }, TAKEN)).toEqual({ plural: name, singular: expected });
});

test.each([
  ['Orders!', '', 'NAME is "Orders!": expected 2 to 20 lower-case letters, such as orders'],
  ['', '', 'NAME is "": expected 2 to 20 lower-case letters, such as orders'],
  ['../users', '', 'NAME is "../users": expected 2 to 20 lower-case letters, such as orders'],
  ['users', '', 'NAME is "users": there is already a service or package of this name'],
  ['router', 'route', 'NAME is "router": there is already a service or package of this name'],
  ['platform', 'item', 'NAME is "platform", which is reserved: expected another word'],
  ['news', '', 'SINGULAR is "new", which is reserved: set another word, such as SINGULAR=item'],
  [
    'inventory',
    '',
    'Cannot derive the name of one resource from "inventory": set SINGULAR, such as SINGULAR=item',
  ],
  [
    'orders',
    'orders',
    'SINGULAR is "orders": expected 2 to 20 lower-case letters, and not the same as NAME',
  ],
])('NAME=%s SINGULAR=%s is rejected in one line', (name, singular, message) => {
  expect(() => readWords({ name, singular }, TAKEN)).toThrow(new RangeError(message));
});

const PORTS = new Map([
  [8081, 'users'],
  [8083, 'reports'],
  [9090, 'health and metrics'],
]);

test('the default port is the one after those of the other services', () => {
  expect(readPort('', PORTS)).toBe(8084);
  expect(readPort('9200', PORTS)).toBe(9200);
});

test.each([
  ['8083', 'PORT is 8083: it is the default port of reports'],
  ['9090', 'PORT is 9090: it is the default port of health and metrics'],
  ['80', 'PORT is "80": expected a whole number from 1024 to 65535'],
  ['web', 'PORT is "web": expected a whole number from 1024 to 65535'],
])('PORT=%s is rejected in one line', (port, message) => {
  expect(() => readPort(port, PORTS)).toThrow(new RangeError(message));
});
