import { expect, test } from 'vitest';

import { rename } from './rename.ts';

const ORDERS = { plural: 'orders', singular: 'order' };

test.each([
  ['services/users/src/user.ts', 'services/orders/src/order.ts'],
  ['class UserStore implements Users', 'class OrderStore implements Orders'],
  [
    'openSqliteUserStore(usersUrl, userOf, toUser)',
    'openSqliteOrderStore(ordersUrl, orderOf, toOrder)',
  ],
  ['USERS_FORMAT, USER', 'ORDERS_FORMAT, ORDER'],
  ['CREATE TABLE users_counts', 'CREATE TABLE orders_counts'],
  ['/api/v1/users/:id?user=1', '/api/v1/orders/:id?order=1'],
  ['Creates a user. A user is', 'Creates an order. An order is'],
  ['postgres://user:password@host', 'postgres://user:password@host'],
  ['User-Agent, user-agent, usersx, superuser', 'User-Agent, user-agent, usersx, superuser'],
])('%s becomes %s', (text, expected) => {
  expect(rename(text, ORDERS)).toBe(expected);
});

test('a name that begins with a consonant keeps its article', () => {
  expect(rename('a user', { plural: 'tickets', singular: 'ticket' })).toBe('a ticket');
});
