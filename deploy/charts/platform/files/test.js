import { createHmac, randomUUID } from 'node:crypto';

const { BASE, SERVICES = '', JWT_SECRET, JWT_ISSUER, JWT_AUDIENCE } = process.env;
const TIMEOUT_MS = 5_000;

/** Asks the edge, and takes no other answer than the one expected; gives its body. */
async function ask(expected, path, { headers, ...options } = {}) {
  const method = options.method ?? 'GET';
  const response = await fetch(new URL(path, BASE), {
    ...options,
    headers: { 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  console.log(`${method} ${path} ${response.status}`);
  if (response.status !== expected) {
    throw new Error(`${method} ${path} answered ${response.status}, expected ${expected}: ${text}`);
  }
  return text;
}

function issueToken() {
  const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 60;
  const claims = { iss: JWT_ISSUER, aud: JWT_AUDIENCE, sub: 'helm-test', tier: 'free', exp };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', JWT_SECRET).update(signed).digest('base64url')}`;
}

const trials = {
  async users() {
    const email = `helm-test-${randomUUID()}@example.org`;
    const body = JSON.stringify({ name: 'Helm', email });
    const { data } = JSON.parse(await ask(201, '/api/v2/users', { method: 'POST', body }));
    const found = await ask(200, `/api/v2/users/${data.id}`);
    if (!found.includes(email)) throw new Error(`Expected the user just made, got ${found}`);
    await ask(200, `/api/v2/users/${data.id}`, { method: 'DELETE' });
    await ask(404, `/api/v2/users/${data.id}`);
  },
  async catalog() {
    const { data } = JSON.parse(await ask(200, '/api/v2/catalog?limit=1'));
    if (data.length !== 1) throw new Error(`Expected one item, got ${data.length}`);
  },
  async reports() {
    await ask(401, '/api/v2/reports');
    if (!JWT_SECRET) return;
    const headers = { authorization: `Bearer ${issueToken()}` };
    await ask(200, '/api/v2/reports/overview', { headers });
  },
};

const page = await ask(200, '/');
if (!page.includes('<!doctype html>')) throw new Error('Expected the page of the edge at /');
for (const service of SERVICES.split(' ')) await trials[service]();
