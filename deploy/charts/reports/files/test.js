// What "helm test" runs in a pod of the service's own image: reports are read with a token that it
// signs itself, where tokens are signed with a secret; without one they are refused.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const { BASE, JWT_SECRET_FILE, JWT_ISSUER: iss, JWT_AUDIENCE: aud } = process.env;
const reports = `${BASE}/api/v2/reports`;

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

async function read(url, status, headers = {}) {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(5_000) });
  const text = await response.text();
  assert.equal(response.status, status, `GET ${url}: ${text}`);
  console.log(`GET ${url}: ${status}`);
  return JSON.parse(text);
}

function sign(claims) {
  const secret = readFileSync(JWT_SECRET_FILE, 'utf8').replace(/\r?\n$/, '');
  const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

await reach(reports);
await read(reports, 401);
if (JWT_SECRET_FILE) {
  const now = Math.floor(Date.now() / 1000);
  const token = sign({ iss, aud, sub: 'helm-test', tier: 'free', iat: now, exp: now + 60 });
  const { data } = await read(reports, 200, { authorization: `Bearer ${token}` });
  assert.ok(data.length > 0);
  await read(`${reports}/overview`, 200, { authorization: `Bearer ${token}` });
}
