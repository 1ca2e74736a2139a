import assert from 'node:assert/strict';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { test } from 'vitest';

import { readTarget } from '../target.ts';

const { api } = readTarget();

test.each([
  ['users', ['listUsers', 'getUserFigures', 'getUser', 'createUser', 'changeUser'], 'listUsers'],
  ['catalog', ['listItems', 'getFacets', 'getCatalogFigures', 'getItem'], 'listItems'],
] as const)('mcp: an agent lists the tools of %s and calls one', async (service, names, list) => {
  const client = new Client({ name: 'api-tests', version: '1.0.0' });
  const url = new URL(`/api/v2/${service}/mcp`, api.origin);
  const requestInit = { headers: api.credentials(url.pathname) };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));

  const { tools } = await client.listTools();
  const page = await client.callTool({ name: list, arguments: { limit: 1 } });
  const invalid = await client.callTool({ name: list, arguments: { limit: 0 } });
  await client.close();

  assert.deepEqual(tools.map(({ name }) => name).toSorted(), [...names].toSorted());
  assert.equal(page.isError, undefined);
  assert.deepEqual(Object.keys(page.structuredContent ?? {}), ['data', 'meta']);
  assert.equal(invalid.isError, true);
});
