import { createApp } from '@fw/core';
import { request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { expect, test } from 'vitest';

import { negotiate } from './negotiate.ts';

const app = createApp();
app.use(errorHandler());
app.use((ctx) => ctx.send(negotiate(ctx, ['application/json', 'text/csv', 'text/html'])));

async function get(accept?: string): Promise<Response> {
  return request(app, '/', { headers: accept === undefined ? {} : { Accept: accept } });
}

test.each([
  [undefined, 'application/json'],
  ['text/csv', 'text/csv'],
  ['TEXT/CSV', 'text/csv'],
  ['text/*', 'text/csv'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
  ['application/json;q=0.5, text/csv;q=0.7', 'text/csv'],
  ['text/*;q=0.9, text/csv;q=0, */*;q=0.1', 'text/html'],
  ['application/json;q=0, */*', 'text/csv'],
  ['text/csv;header=present;q=0.9', 'text/csv'],
  ['application/json; charset=utf-8', 'application/json'],
  ['text/html;level=2;q=0.1, text/html, application/json;q=0.5', 'text/html'],
  ['text/html;level="2,3;q=1";q=0.1, application/json;q=0.5, text/html', 'text/html'],
  ['text/html;x="a\\",b;q=0";q=0.1, text/html, application/json;q=0.5', 'text/html'],
  ['text/html;q=0.1;x="a, application/json;q=0.5', 'application/json'],
  ['text/html;level=2, */*;q=0.5', 'application/json'],
  ['application/json;q=1.000, text/csv', 'application/json'],
  ['text/csv; q=.2, application/json; q=.1', 'text/csv'],
  ['application/json;q=0.1;level=1, text/csv;q=0.2', 'text/csv'],
  ['application/json;q=0.1234, text/csv;q=0.1', 'text/csv'],
  ['application/json;q=1.5, text/csv;q=0.1', 'text/csv'],
  ['application/json;q=0x1, text/csv;q=0.1', 'text/csv'],
  ['application/json;q="1", text/csv;q=0.1', 'text/csv'],
])('negotiate chooses for Accept %j the type %s', async (accept, type) => {
  const response = await get(accept);

  expect(await response.text()).toBe(type);
  expect(response.headers.get('vary')).toBe('Accept');
});

test.each([
  ['text/plain;format=flowed, text/plain;q=0.2', 'text/plain;format=flowed'],
  ['text/plain;FORMAT="Flowed";q=0.1, text/plain', 'text/plain'],
  ['text/plain;q=0.1, text/*', 'application/x'],
  [
    '*/*;q=0.1, text/*;q=0.2, text/plain;q=0.3, text/plain;format=flowed;q=0.4',
    'text/plain;format=flowed',
  ],
])('negotiate compares the parameters of types: Accept %j chooses %s', async (accept, type) => {
  const types = ['application/x', 'text/plain', 'text/plain;format=flowed'];
  const offers = createApp().use((ctx) => ctx.send(negotiate(ctx, types)));

  const response = await request(offers, '/', {
    headers: { Accept: `${accept}, application/x;q=0.15` },
  });

  expect(await response.text()).toBe(type);
});

test.each(['image/png', 'application/json;q=0', ';;;', 'text/csv;q=much', '\xa0text/csv'])(
  'negotiate responds to Accept %j with 406 naming the types',
  async (accept) => {
    const response = await get(accept);

    expect(response.status).toBe(406);
    expect(response.headers.get('vary')).toBe('Accept');
    expect(await response.json()).toMatchObject({
      code: 'NOT_ACCEPTABLE',
      detail: 'expected an Accept that allows application/json or text/csv or text/html',
    });
  },
);
