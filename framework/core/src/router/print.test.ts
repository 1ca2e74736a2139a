import { expect, test } from 'vitest';

import { createRouter } from './create-router.ts';

const handler = () => {};

// R22
test('print draws all routes as a tree, including mounted ones', () => {
  const users = createRouter()
    .get('/', handler)
    .post('/', handler)
    .get('/me', handler)
    .get('/:id', handler)
    .delete('/:id', handler)
    .get('/:id/posts/:post', handler);
  const router = createRouter()
    .get('/', handler)
    .mount('/api/v1/users', users)
    .group('/files', (files) => {
      files.get('/*', handler);
    });

  expect(router.print()).toBe(
    [
      '├── / (GET)',
      '├── /api',
      '│   └── /v1',
      '│       └── /users (GET, POST)',
      '│           ├── /me (GET)',
      '│           └── /:id (GET, DELETE)',
      '│               └── /posts',
      '│                   └── /:post (GET)',
      '└── /files',
      '    └── /* (GET)',
    ].join('\n'),
  );
});

test('print draws nothing without routes', () => {
  expect(createRouter().print()).toBe('');
});
