import assert from 'node:assert/strict';

/** The path of the next page in the `Link` header (RFC 8288). */
export function nextPage(response: Pick<Response, 'headers'>): string {
  const [, path = ''] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
  assert.match(path, /^\/api\/v2\//, 'Link names the next page');
  return path;
}
