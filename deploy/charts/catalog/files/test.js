// What "helm test" runs in a pod of the service's own image: the catalog is listed, and an item of it
// read. Items change by imports only, so there is nothing to write.
import assert from 'node:assert/strict';

const catalog = `${process.env.BASE}/api/v2/catalog`;

async function read(url, status) {
  const response = await ask(url);
  const text = await response.text();
  assert.equal(response.status, status, `GET ${url}: ${text}`);
  console.log(`GET ${url}: ${status}`);
  return JSON.parse(text);
}

const list = await read(`${catalog}?limit=1`, 200);
assert.equal(list.data.length, 1);
const [item] = list.data;
assert.deepEqual((await read(`${catalog}/${item.id}`, 200)).data, item);
await read(`${catalog}?limit=nonsense`, 400);
