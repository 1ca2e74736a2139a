// The program of "helm test" and of the trial of a release: lists the catalog and reads an item. Only imports
// write items.
// A service may have no version 1 any more: it responds with 410.
const v1 = '/api/v1/catalog';
const v2 = '/api/v2/catalog';
const FIELDS_V1 = ['items', 'page', 'limit', 'total', 'totalPages', 'hasNextPage'];
const FIELDS = ['id', 'name', 'category', 'brand', 'priceCents', 'currency', 'description', 'tags'];
const { AUTH, JWT_SECRET_FILE } = process.env;
const isPrivate = AUTH === 'required';
const headers = isPrivate && JWT_SECRET_FILE ? authorizationOf('helm-test') : {};
const hasV1 = (await ask(`${v1}?limit=1`, { headers })).status !== 410;

async function check() {
  if (isPrivate) await call('GET', v2, { status: 401 });
  if (isPrivate && !JWT_SECRET_FILE) return;
  const list = await call('GET', `${v2}?limit=1`, { status: 200, headers });
  assert.equal(list.data.length, 1);
  const [item] = list.data;
  requireFields(item, FIELDS, v2);
  assert.deepEqual((await call('GET', `${v2}/${item.id}`, { status: 200, headers })).data, item);
  await call('GET', `${v2}?limit=nonsense`, { status: 400, headers });
  if (hasV1) {
    const page = await call('GET', `${v1}?limit=1`, { status: 200, headers });
    requireFields(page, FIELDS_V1, v1);
    requireFields(page.items[0], ['id', 'name'], v1);
  }
}

await repeat(check);
