// The functions that files/test.js of a chart uses. BASE is the address of the service.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

// Each node applies NetworkPolicies to a new pod after a moment. Until a node has done so, connections to its
// pods fail, even if pods of other nodes have responded.
const NOT_SENT = ['ECONNREFUSED', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];
const deadline = Date.now() + 20_000;
const isTrial = Number(process.env.TRIAL_SECONDS ?? 0) > 0;

// A fetch that retries until the network is ready.
async function ask(path, { method = 'GET', ...init } = {}) {
  const url = `${process.env.BASE}${path}`;
  for (;;) {
    try {
      return await fetch(url, { method, ...init, signal: AbortSignal.timeout(5_000) });
    } catch (error) {
      // In a trial, a GET that was sent and got no response is a failure of the version.
      const mayRetry = NOT_SENT.includes(error.cause?.code) || (method === 'GET' && !isTrial);
      if (!mayRetry || Date.now() > deadline) {
        throw new Error(`Cannot reach ${url}`, { cause: error });
      }
      await sleep(250);
    }
  }
}

// Checks the status and returns the body.
async function call(method, path, { status, body, headers }) {
  const response = await ask(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  assert.equal(response.status, status, `${method} ${response.url}: ${text}`);
  if (!isTrial) console.log(`${method} ${path}: ${status}`);
  return text === '' ? undefined : JSON.parse(text);
}

// The Authorization header of a user, for services whose tokens are signed with a secret (JWT_SECRET_FILE).
function authorizationOf(sub, aud = process.env.JWT_AUDIENCE) {
  const iat = Math.floor(Date.now() / 1_000);
  const claims = { iss: process.env.JWT_ISSUER, aud, sub, tier: 'free', iat, exp: iat + 60 };
  const secret = readFileSync(process.env.JWT_SECRET_FILE, 'utf8').replace(/\r?\n$/, '');
  const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  const signature = createHmac('sha256', secret).update(signed).digest('base64url');
  return { authorization: `Bearer ${signed}.${signature}` };
}

function requireFields(value, fields, path) {
  const missing = fields.filter((field) => value?.[field] === undefined);
  assert.deepEqual(missing, [], `${path} has no ${missing}: ${JSON.stringify(value)}`);
}

// Runs check() once, and in a trial TRIAL_RATE times per second for TRIAL_SECONDS.
async function repeat(check) {
  await check();
  if (!isTrial) return;
  const TRIAL_RATE = 5;
  const checks = [];
  for (let left = Number(process.env.TRIAL_SECONDS) * TRIAL_RATE; left > 0; left--) {
    // An unhandled rejection ends the process.
    checks.push(check());
    await sleep(1_000 / TRIAL_RATE);
  }
  await Promise.all(checks);
  console.log(`${checks.length + 1} checks passed`);
}
