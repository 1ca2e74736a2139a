import { expectTypeOf, test } from 'vitest';

import { newNotesClient } from './testing/notes.ts';

/** The compiler checks these calls; they are never made. */
const client = newNotesClient({ baseUrl: 'http://localhost' });
const path = { id: '7' };

test('the data of a response has the documented type', () => {
  const read = () => client.get('/notes/{id}', { path });
  const remove = () => client.delete('/notes/{id}', { path });
  const create = () => client.post('/notes', { body: { text: '' } });

  expectTypeOf(read)
    .returns.resolves.toHaveProperty('data')
    .toEqualTypeOf<{ readonly data: { readonly id: string; readonly text: string } }>();
  expectTypeOf(remove).returns.resolves.toHaveProperty('data').toEqualTypeOf<undefined>();
  expectTypeOf(create).returns.resolves.toHaveProperty('data').toHaveProperty('data');
});

test('only documented calls compile', () => {
  const calls = [
    () => client.get('/notes'),
    () => client.get('/notes', { query: { order: 'newest' } }),
    () => client.put('/notes/{id}', { path }),
    () => client.put('/notes/{id}', { path, body: { text: '' } }),
    () => client.post('/files', { body: new FormData() }),
    // @ts-expect-error the path is not documented
    () => client.get('/note'),
    // @ts-expect-error the method is not documented for the path
    () => client.put('/notes', {}),
    // @ts-expect-error a path parameter is missing
    () => client.get('/notes/{id}'),
    // @ts-expect-error a path parameter has another name
    () => client.get('/notes/{id}', { path: { name: '' } }),
    // @ts-expect-error a query parameter has another type
    () => client.get('/notes', { query: { limit: '1' } }),
    // @ts-expect-error a query parameter has another value
    () => client.get('/notes', { query: { order: 'random' } }),
    // @ts-expect-error the body is missing
    () => client.post('/notes', {}),
    // @ts-expect-error a field of the body has another type
    () => client.post('/notes', { body: { text: 1 } }),
    // @ts-expect-error the operation has no body
    () => client.get('/notes', { body: {} }),
    // @ts-expect-error a required header is missing
    () => client.patch('/notes/{id}', { path, body: {} }),
  ];

  expectTypeOf(calls).toBeArray();
});
