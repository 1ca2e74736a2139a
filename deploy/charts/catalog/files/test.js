// The program of "helm test": lists the catalog and reads an item. Only imports write items.
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
