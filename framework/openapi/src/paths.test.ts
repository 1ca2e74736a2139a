import { expect, test } from 'vitest';

import { extractPathParams, toOpenApiPath } from './index.ts';

test.each([
  ['/', '/', []],
  ['/users', '/users', []],
  ['/users/:id', '/users/{id}', ['id']],
  ['/users/:userId/posts/:post-id/', '/users/{userId}/posts/{post-id}/', ['userId', 'post-id']],
  ['/files/*', '/files/{path}', ['path']],
  ['/files/:path/*', '/files/{path}/{path2}', ['path', 'path2']],
  ['/files/:path/:path2/*', '/files/{path}/{path2}/{path3}', ['path', 'path2', 'path3']],
  ['/a:b/c*', '/a:b/c*', []],
  ['/{id}', '/%7Bid%7D', []],
  ['/caf%C3%A9', '/caf%C3%A9', []],
])('the pattern %s is the path %s', (pattern, path, names) => {
  expect(toOpenApiPath(pattern)).toBe(path);
  expect(extractPathParams(pattern)).toEqual(names);
});
