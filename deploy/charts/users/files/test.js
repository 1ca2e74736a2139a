// What "helm test" runs in a pod of the service's own image: a user is made, found and removed.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

const users = `${process.env.BASE}/api/v2/users`;

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

async function call(method, url, { status, body }) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(5_000),
  });
  const text = await response.text();
  assert.equal(response.status, status, `${method} ${url}: ${text}`);
  console.log(`${method} ${url}: ${status}`);
  return text === '' ? undefined : JSON.parse(text);
}

await reach(users);
const user = { name: 'Helm Test', email: `helm-test-${crypto.randomUUID()}@example.org` };
const { data } = await call('POST', users, { status: 201, body: user });
const found = await call('GET', `${users}/${data.id}`, { status: 200 });
assert.equal(found.data.email, user.email);
await call('DELETE', `${users}/${data.id}`, { status: 200 });
await call('GET', `${users}/${data.id}`, { status: 404 });
