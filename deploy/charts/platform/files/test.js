// The program of "helm test": calls each service through the edge.
const { services } = await (await ask('/page/system.json')).json();
// Services that require no token ignore it. Without a secret, the tests of the services check more.
const headers = process.env.JWT_SECRET_FILE ? authorizationOf('helm-test', services) : {};

const checks = {
  async users() {
    const user = { name: 'Helm Test', email: `helm-test-${crypto.randomUUID()}@example.org` };
    const { data } = await call('POST', '/api/v2/users', { status: 201, body: user, headers });
    const found = await call('GET', `/api/v2/users/${data.id}`, { status: 200, headers });
    assert.equal(found.data.email, user.email);
    await call('DELETE', `/api/v2/users/${data.id}`, { status: 200, headers });
    await call('GET', `/api/v2/users/${data.id}`, { status: 404, headers });
  },
  async catalog() {
    const { data } = await call('GET', '/api/v2/catalog?limit=1', { status: 200, headers });
    assert.equal(data.length, 1);
  },
  async reports() {
    await call('GET', '/api/v2/reports', { status: 401 });
    if (!process.env.JWT_SECRET_FILE) return;
    await call('GET', '/api/v2/reports/overview', { status: 200, headers });
  },
};

const page = await ask('/');
assert.match(await page.text(), /^<!doctype html>/);
for (const service of services) {
  const documented = () => call('GET', `/docs/${service}/openapi.json`, { status: 200 });
  await (checks[service] ?? documented)();
}
