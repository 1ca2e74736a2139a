// What "helm test" runs in a pod of the service's own image: the catalog is listed, and an item of it
// read. Items change by imports only, so there is nothing to write.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

const catalog = `${process.env.BASE}/api/v2/catalog`;

// A NetworkPolicy takes a moment to let a new pod in.
async function reach(url) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    try {
      return await fetch(url, { signal: AbortSignal.timeout(2_000) });
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`Cannot reach ${url}`, { cause: error });
      await sleep(250);
    }
  }
}

async function read(url, status) {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  const text = await response.text();
  assert.equal(response.status, status, `GET ${url}: ${text}`);
  console.log(`GET ${url}: ${status}`);
  return JSON.parse(text);
}

await reach(catalog);
const list = await read(`${catalog}?limit=1`, 200);
assert.equal(list.data.length, 1);
const [item] = list.data;
assert.deepEqual((await read(`${catalog}/${item.id}`, 200)).data, item);
await read(`${catalog}?limit=nonsense`, 400);
