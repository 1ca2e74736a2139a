// The program of "helm test": requests without a token get 401. If tokens are signed with a secret, it signs one
// and reads reports.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

const { BASE, JWT_SECRET_FILE, JWT_ISSUER: iss, JWT_AUDIENCE: aud } = process.env;
const reports = `${BASE}/api/v2/reports`;

async function read(url, status, headers = {}) {
  const response = await ask(url, { headers });
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

await read(reports, 401);
if (JWT_SECRET_FILE) {
  const now = Math.floor(Date.now() / 1000);
  const token = sign({ iss, aud, sub: 'helm-test', tier: 'free', iat: now, exp: now + 60 });
  const { data } = await read(reports, 200, { authorization: `Bearer ${token}` });
  assert.ok(data.length > 0);
  await read(`${reports}/overview`, 200, { authorization: `Bearer ${token}` });
}
