// The program of "helm test" and of the trial of a release: creates, reads and deletes a user. With AUTH=required and
// tokens of an identity provider, it can only check that requests without a token get 401.
// A service may have no version 1 any more: it responds with 410.
const v1 = '/api/v1/users';
const v2 = '/api/v2/users';
const FIELDS = ['id', 'name', 'email', 'createdAt', 'updatedAt'];
const { AUTH, JWT_SECRET_FILE } = process.env;
const isPrivate = AUTH === 'required';
const headers = isPrivate && JWT_SECRET_FILE ? authorizationOf('helm-test') : {};
// ask() retries a GET until the network is ready; the other requests are sent once.
const hasV1 = (await ask(`${v1}?limit=1`, { headers })).status !== 410;

async function check() {
  if (isPrivate) await call('GET', v2, { status: 401 });
  if (isPrivate && !JWT_SECRET_FILE) return;
  const user = { name: 'Helm Test', email: `helm-test-${crypto.randomUUID()}@example.org` };
  const { data } = await call('POST', v2, { status: 201, body: user, headers });
  const found = await call('GET', `${v2}/${data.id}`, { status: 200, headers });
  requireFields(found.data, [...FIELDS, 'version'], v2);
  assert.equal(found.data.email, user.email);
  if (hasV1) {
    const old = await call('GET', `${v1}/${data.id}`, { status: 200, headers });
    requireFields(old.data, FIELDS, v1);
    assert.equal(old.data.email, user.email);
  }
  await call('DELETE', `${v2}/${data.id}`, { status: 200, headers });
  await call('GET', `${v2}/${data.id}`, { status: 404, headers });
}

await repeat(check);
