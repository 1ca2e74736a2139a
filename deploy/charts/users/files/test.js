// The program of "helm test": creates, reads and deletes a user.
import assert from 'node:assert/strict';

const users = `${process.env.BASE}/api/v2/users`;

async function call(method, url, { status, body }) {
  const response = await ask(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  assert.equal(response.status, status, `${method} ${url}: ${text}`);
  console.log(`${method} ${url}: ${status}`);
  return text === '' ? undefined : JSON.parse(text);
}

// ask() retries a GET until the network is ready; the other requests are sent once.
await ask(users);
const user = { name: 'Helm Test', email: `helm-test-${crypto.randomUUID()}@example.org` };
const { data } = await call('POST', users, { status: 201, body: user });
const found = await call('GET', `${users}/${data.id}`, { status: 200 });
assert.equal(found.data.email, user.email);
await call('DELETE', `${users}/${data.id}`, { status: 200 });
await call('GET', `${users}/${data.id}`, { status: 404 });
