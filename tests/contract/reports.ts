import assert from 'node:assert/strict';

import { type Api, readJson, readNothing, readProblem } from './api.ts';
import { type Check, check } from './check.ts';
import type { Target } from './target.ts';

const REPORTS = '/api/v1/reports';

/** Version 1 of the reports: bearer token, then the limit of 100 a minute for each user. */
export const reportsChecks: readonly Check<Target>[] = [
  check('GET /reports with a bearer token answers { reports: array }', async (target) => {
    const response = await getReports(target.api, target.newToken());

    const body = await readJson(response);
    assert.deepEqual(Object.keys(body), ['reports']);
    assert.ok(Array.isArray(body.reports), 'reports is an array');
  }),
  check('each answer tells what remains of the user’s 100 a minute', async ({ api, newToken }) => {
    const token = newToken();

    const first = await getReports(api, token);
    const second = await getReports(api, token);

    assert.equal(first.headers.get('ratelimit-limit'), '100');
    assert.ok(remaining(first) <= 99, `${remaining(first)} remain`);
    assert.equal(remaining(second), remaining(first) - 1);
    const reset = Number(first.headers.get('ratelimit-reset'));
    assert.ok(reset > 0 && reset <= 60, `the window ends in ${reset} s`);
  }),
  ...(
    [
      ['no Authorization', {}],
      ['another scheme', { authorization: 'Basic YWRhOmFkYQ==' }],
      ['a token that nobody gave out', { authorization: 'Bearer nobody' }],
      ['no token', { authorization: 'Bearer ' }],
    ] as const
  ).map(([title, headers]) =>
    check<Target>(
      `GET /reports with ${title} answers 401, before the limit of users`,
      async ({ api }) => {
        const response = await api.get(REPORTS, headers);

        assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer\b/);
        // An invalid token counts towards a limit of its own, by client address.
        assert.notEqual(response.headers.get('ratelimit-limit'), '100');
        await readProblem(response, 401, 'UNAUTHORIZED');
      },
    ),
  ),
  check('HEAD /reports needs the token too', async ({ api, newToken }) => {
    const authorization = `Bearer ${newToken()}`;

    await readNothing(await api.send('HEAD', REPORTS), 401);
    await readNothing(await api.send('HEAD', REPORTS, undefined, { authorization }), 200);
  }),
  check(
    'a user has 100 answers a minute and then 429; another one is not held up',
    async (target) => {
      const { api, newToken } = target;
      const token = newToken();
      let answered = 0;
      let response = await getReports(api, token);
      for (; response.status === 200 && answered <= 100; answered += 1) {
        response = await getReports(api, token);
      }

      const problem = await readProblem(response, 429, 'RATE_LIMITED');
      assert.ok(answered <= 100, `${answered} were answered`);
      assert.match(problem.type, /quota-exceeded/);
      assert.equal(remaining(response), 0);
      const seconds = Number(response.headers.get('retry-after'));
      assert.ok(seconds >= 1 && seconds <= 60, `may be tried again in ${seconds} s`);
      await readJson(await getReports(api, newToken()));
    },
  ),
];

function getReports(api: Api, token: string): Promise<Response> {
  return api.get(REPORTS, { authorization: `Bearer ${token}` });
}

function remaining(response: Response): number {
  return Number(response.headers.get('ratelimit-remaining') ?? Number.NaN);
}
