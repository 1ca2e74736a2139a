// The program of "helm test": calls each service through the edge.
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

const { JWT_SECRET_FILE, JWT_ISSUER: iss, JWT_AUDIENCE: aud } = process.env;

function issueToken() {
  const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const exp = Math.floor(Date.now() / 1_000) + 60;
  const claims = { iss, aud, sub: 'helm-test', tier: 'free', exp };
  const secret = readFileSync(JWT_SECRET_FILE, 'utf8').replace(/\r?\n$/, '');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

const checks = {
  async users() {
    const user = { name: 'Helm Test', email: `helm-test-${randomUUID()}@example.org` };
    const { data } = await call('POST', '/api/v2/users', { status: 201, body: user });
    const found = await call('GET', `/api/v2/users/${data.id}`, { status: 200 });
    assert.equal(found.data.email, user.email);
    await call('DELETE', `/api/v2/users/${data.id}`, { status: 200 });
    await call('GET', `/api/v2/users/${data.id}`, { status: 404 });
  },
  async catalog() {
    const { data } = await call('GET', '/api/v2/catalog?limit=1', { status: 200 });
    assert.equal(data.length, 1);
  },
  async reports() {
    await call('GET', '/api/v2/reports', { status: 401 });
    if (!JWT_SECRET_FILE) return;
    const headers = { authorization: `Bearer ${issueToken()}` };
    await call('GET', '/api/v2/reports/overview', { status: 200, headers });
  },
};

const page = await ask('/');
assert.match(await page.text(), /^<!doctype html>/);
const system = await (await ask('/page/system.json')).json();
for (const service of system.services) {
  const documented = () => call('GET', `/docs/${service}/openapi.json`, { status: 200 });
  await (checks[service] ?? documented)();
}
