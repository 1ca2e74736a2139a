// The program of "helm test" and of the trial of a release: requests without a token get 401. If tokens are
// signed with a secret, it signs some, reads reports, and exceeds the rate limit of one user.
// A service may have no version 1 any more: it responds with 410.
const v1 = '/api/v1/reports';
const v2 = '/api/v2/reports';

const { JWT_SECRET_FILE } = process.env;
const FIELDS = ['id', 'title', 'description'];
/** A burst that is longer would take too much time. */
const MAX_LIMIT = 1_000;

// Each check is another user, whose limit is not reached.
const newHeaders = () => authorizationOf(`helm-test-${crypto.randomUUID()}`);

async function check() {
  if (!JWT_SECRET_FILE) return;
  const headers = newHeaders();
  const { data } = await call('GET', v2, { status: 200, headers });
  requireFields(data[0], [...FIELDS, 'links'], v2);
  const overview = await call('GET', `${v2}/overview`, { status: 200, headers });
  requireFields(overview.data, [...FIELDS, 'generatedAt', 'columns', 'rows'], `${v2}/overview`);
  if (hasV1) {
    const { reports } = await call('GET', v1, { status: 200, headers });
    requireFields(reports?.[0], FIELDS, v1);
  }
}

async function checkLimit(path) {
  const headers = newHeaders();
  const first = await ask(path, { headers });
  const limit = Number(first.headers.get('ratelimit-limit'));
  assert.ok(limit > 0, `${path} has no RateLimit-Limit: expected a rate limit`);
  if (limit > MAX_LIMIT) return;
  for (let sent = 1; sent < limit; sent++) await (await ask(path, { headers })).text();
  const limited = await ask(path, { headers });
  assert.equal(limited.status, 429, `${path}: request ${limit + 1} of a user is not limited`);
  assert.ok(Number(limited.headers.get('retry-after')) > 0, `${path}: 429 without Retry-After`);
}

await call('GET', v2, { status: 401 });
const hasV1 = (await ask(v1)).status !== 410;
if (JWT_SECRET_FILE) await checkLimit(hasV1 ? v1 : v2);
await repeat(check);
