import { issueToken } from '../../../deploy/local/token.ts';
import type { Endpoint, ServiceRequest } from '../endpoint.ts';

/** What the tokens of the load are signed with, and of nothing else. */
export const SECRET = 'only the load of the benchmark is signed with this';

const V1 = '/api/v1/reports';
const V2 = '/api/v2/reports';

const AUTHORIZATION = `Bearer ${issueToken({ secret: SECRET, user: 'ada', tier: 'pro' })}`;

function get(path: string, headers: Readonly<Record<string, string>> = {}): ServiceRequest {
  return { method: 'GET', path, headers: { authorization: AUTHORIZATION, ...headers } };
}

const REPORT_PATHS = ['overview', 'users-by-day', 'items-by-category'].map((id) => `${V2}/${id}`);

/** The same report in each of its formats. */
function inFormat(accept: string): Pick<Endpoint, 'status' | 'requests'> {
  return { status: 200, requests: () => REPORT_PATHS.map((path) => get(path, { accept })) };
}

export const REPORTS_ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'GET v1',
    status: 200,
    requests: () => [get(V1)],
    refuses: [
      [{ method: 'GET', path: V1 }, 401],
      [get(V1, { authorization: 'Bearer a.b.c' }), 401],
    ],
  },
  {
    name: 'GET v2',
    status: 200,
    requests: () => [get(V2)],
  },
  {
    name: 'GET v2/:id, JSON',
    ...inFormat('application/json'),
    refuses: [
      [get(`${V2}/nothing`), 404],
      [get(REPORT_PATHS[0] ?? '', { accept: 'image/png' }), 406],
    ],
  },
  { name: 'GET v2/:id, CSV', ...inFormat('text/csv') },
  { name: 'GET v2/:id, HTML', ...inFormat('text/html') },
];
