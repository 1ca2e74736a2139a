// The program of "helm test" and of the trial of a release: creates, reads and deletes a user.
// A service may have no version 1 any more: it responds with 410.
const v1 = '/api/v1/users';
const v2 = '/api/v2/users';
const FIELDS = ['id', 'name', 'email', 'createdAt', 'updatedAt'];
// ask() retries a GET until the network is ready; the other requests are sent once.
const hasV1 = (await ask(`${v1}?limit=1`)).status !== 410;

async function check() {
  const user = { name: 'Helm Test', email: `helm-test-${crypto.randomUUID()}@example.org` };
  const { data } = await call('POST', v2, { status: 201, body: user });
  const found = await call('GET', `${v2}/${data.id}`, { status: 200 });
  requireFields(found.data, [...FIELDS, 'version'], v2);
  assert.equal(found.data.email, user.email);
  if (hasV1) {
    const old = await call('GET', `${v1}/${data.id}`, { status: 200 });
    requireFields(old.data, FIELDS, v1);
    assert.equal(old.data.email, user.email);
  }
  await call('DELETE', `${v2}/${data.id}`, { status: 200 });
  await call('GET', `${v2}/${data.id}`, { status: 404 });
}

await repeat(check);
