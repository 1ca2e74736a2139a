import {
  adding,
  all,
  type BreakingEdit,
  change,
  type HarmlessEdit,
  remove,
  rename,
  set,
} from '../edits.ts';

const USERS = 'paths /api/v2/users';
const USER = 'paths /api/v2/users/{id}';
const REPORT = 'paths /api/v2/reports/{id} get';
const API_KEY = { type: 'apiKey', in: 'header', name: 'X-Key' };

/** Edits of operations and security that break a client. */
export const BREAKING: readonly BreakingEdit[] = [
  [
    'an operation is removed',
    'users/v2',
    remove(`${USER} delete`),
    'DELETE /api/v2/users/{id}: the operation is removed',
  ],
  [
    'a path is removed',
    'users/v2',
    remove('paths /api/v2/users/figures'),
    'GET /api/v2/users/figures: the operation is removed',
  ],
  [
    'a path is renamed',
    'users/v2',
    rename('paths /api/v2/users/figures', '/api/v2/users/statistics'),
    'GET /api/v2/users/figures: the operation is removed',
  ],
  [
    'a method is replaced',
    'users/v2',
    rename(`${USER} patch`, 'put'),
    'PATCH /api/v2/users/{id}: the operation is removed',
  ],
  [
    'security is added',
    'users/v2',
    all(
      set(`${USERS} get security`, [{ key: [] }]),
      set('components securitySchemes', { key: API_KEY }),
    ),
    'GET /api/v2/users: security changed from none to key apiKey',
  ],
  [
    'the security scheme is replaced',
    'reports/v2',
    all(set(`${REPORT} security`, [{ key: [] }]), set('components securitySchemes key', API_KEY)),
    'GET /api/v2/reports/{id}: security changed from bearer http to key apiKey',
  ],
  [
    'a second security scheme is required',
    'reports/v2',
    all(
      set(`${REPORT} security`, [{ bearer: [], key: [] }]),
      set('components securitySchemes key', API_KEY),
    ),
    'GET /api/v2/reports/{id}: security changed from bearer http to bearer http and key apiKey',
  ],
  [
    'the definition of a security scheme changes',
    'reports/v2',
    set('components securitySchemes bearer', API_KEY),
    'GET /api/v2/reports: security changed from bearer http to bearer apiKey',
  ],
  [
    'the base URL changes',
    'users/v2',
    set('servers', [{ url: '/internal' }]),
    'servers: the base URL / is removed',
  ],
];

/** Edits of operations and security that break no client. */
export const HARMLESS: readonly HarmlessEdit[] = [
  ['a description changes', 'users/v2', set(`${USERS} get description`, 'Other words.')],
  ['a summary changes', 'users/v2', set(`${USERS} get summary`, 'List all users')],
  ['the version of the document changes', 'users/v2', set('info version', '2.1.0')],
  ['tags change', 'users/v2', set(`${USERS} get tags`, ['People'])],
  ['an operation id changes', 'users/v2', set(`${USERS} get operationId`, 'readUsers')],
  ['an operation is deprecated', 'users/v2', set(`${USERS} get deprecated`, true)],
  ['an extension is added', 'users/v2', set(`${USERS} get x-owner`, 'team')],
  [
    'external documentation is added',
    'users/v2',
    set('externalDocs', { url: 'https://example.com' }),
  ],
  [
    'an operation is added',
    'users/v2',
    change(USER, (item: { get: object }) => ({
      ...item,
      put: { ...item.get, operationId: 'replaceUser' },
    })),
  ],
  [
    'a path is added',
    'users/v2',
    change('paths', (paths: Record<string, unknown>) => ({
      ...paths,
      '/api/v2/users/count': paths['/api/v2/users/figures'],
    })),
  ],
  [
    'a path parameter is renamed',
    'users/v2',
    all(
      set(`${USER} get parameters id name`, 'userId'),
      set(`${USER} patch parameters id name`, 'userId'),
      set(`${USER} delete parameters id name`, 'userId'),
      rename(USER, '/api/v2/users/{userId}'),
    ),
  ],
  ['security is removed', 'reports/v2', remove(`${REPORT} security`)],
  [
    'another security scheme is accepted too',
    'reports/v2',
    all(
      change(`${REPORT} security`, adding({ key: [] })),
      set('components securitySchemes key', API_KEY),
    ),
  ],
  [
    'a component is renamed',
    'users/v2',
    (document) =>
      Object.assign(
        document,
        JSON.parse(
          JSON.stringify(document)
            .replaceAll('schemas/User"', 'schemas/Person"')
            .replace('"User":', '"Person":'),
        ),
      ),
  ],
  [
    'keys are reordered',
    'users/v2',
    change('paths', (paths: object) => Object.fromEntries(Object.entries(paths).reverse())),
  ],
];
