import {
  adding,
  type BreakingEdit,
  change,
  type HarmlessEdit,
  or,
  remove,
  set,
  without,
} from '../edits.ts';

const USERS = 'paths /api/v2/users';
const USER = 'paths /api/v2/users/{id}';
const LIMIT = `${USERS} get parameters limit`;
const SORT = 'paths /api/v2/catalog get parameters sort';
const DAYS = 'paths /api/v2/users/figures get parameters days';
const V1_LIST = 'paths /api/v1/users get';
const TEXT = { type: 'string' };

/** Edits of parameters that break a client. */
export const BREAKING: readonly BreakingEdit[] = [
  [
    'an enum value is removed from a parameter',
    'catalog/v2',
    change(`${SORT} schema enum`, without('price')),
    'GET /api/v2/catalog: query parameter sort: the value "price" is removed',
  ],
  [
    'a required query parameter is added',
    'users/v2',
    change(
      `${USERS} get parameters`,
      adding({ name: 'tenant', in: 'query', required: true, schema: { type: 'string' } }),
    ),
    'GET /api/v2/users: query parameter tenant: is new and required',
  ],
  [
    'a required header is added',
    'users/v2',
    change(
      `${USERS} post parameters`,
      adding({ name: 'X-Tenant', in: 'header', required: true, schema: { type: 'string' } }),
    ),
    'POST /api/v2/users: request header X-Tenant: is new and required',
  ],
  [
    'a parameter becomes required',
    'users/v2',
    set(`${USERS} get parameters email required`, true),
    'GET /api/v2/users: query parameter email: becomes required',
  ],
  [
    'a parameter is removed',
    'catalog/v2',
    remove('paths /api/v2/catalog get parameters q'),
    'GET /api/v2/catalog: query parameter q: is removed',
  ],
  [
    'a parameter moves from the query to a header',
    'users/v2',
    set(`${LIMIT} in`, 'header'),
    'GET /api/v2/users: query parameter limit: is removed',
  ],
  [
    'the type of a path parameter is narrowed',
    'users/v2',
    set(`${USER} get parameters id schema`, { type: 'integer' }),
    'GET /api/v2/users/{id}: path parameter id: type changed from string to integer',
  ],
  [
    'an alternative of a parameter is removed',
    'users/v1',
    remove(`${V1_LIST} parameters page schema anyOf 1`),
    'GET /api/v1/users: query parameter page: type changed from integer or string to integer',
  ],
  [
    'the maximum of a parameter is lowered',
    'users/v2',
    set(`${LIMIT} schema maximum`, 50),
    'GET /api/v2/users: query parameter limit: maximum changed from 100 to 50',
  ],
  [
    'the minimum of a parameter is raised',
    'users/v2',
    set(`${DAYS} schema minimum`, 2),
    'GET /api/v2/users/figures: query parameter days: minimum changed from 1 to 2',
  ],
  [
    'a pattern is added to a header',
    'users/v2',
    set(`${USER} get parameters if-none-match schema pattern`, '^"[0-9]+"$'),
    'GET /api/v2/users/{id}: request header if-none-match: pattern changed from none to "^\\"[0-9]+\\"$"',
  ],
  [
    'the pattern of a parameter changes',
    'users/v2',
    set(`${USERS} get parameters cursor schema pattern`, '^[a-z]+$'),
    'GET /api/v2/users: query parameter cursor: pattern changed from "^[A-Za-z0-9_-]+$" to "^[a-z]+$"',
  ],
  [
    'multipleOf is added to a parameter',
    'users/v2',
    set(`${LIMIT} schema multipleOf`, 10),
    'GET /api/v2/users: query parameter limit: multipleOf changed from none to 10',
  ],
  [
    'the default of a parameter changes',
    'catalog/v2',
    set(`${SORT} schema default`, 'name'),
    'GET /api/v2/catalog: query parameter sort: default changed from "id" to "name"',
  ],
];

/** Edits of parameters that break no client. */
export const HARMLESS: readonly HarmlessEdit[] = [
  ['the maximum of a parameter is raised', 'users/v2', set(`${LIMIT} schema maximum`, 200)],
  ['the minimum of a parameter is lowered', 'users/v2', set(`${DAYS} schema minimum`, 0)],
  [
    'the pattern of a parameter is removed',
    'users/v2',
    remove(`${USERS} get parameters cursor schema pattern`),
  ],
  ['a parameter accepts all numbers', 'users/v2', set(`${LIMIT} schema type`, 'number')],
  [
    'a parameter accepts another type',
    'users/v2',
    change(`${LIMIT} schema`, or({ type: 'string', const: 'all' })),
  ],
  [
    'an alternative is added to a parameter',
    'users/v1',
    change(`${V1_LIST} parameters page schema anyOf`, adding({ type: 'boolean' })),
  ],
  [
    'an enum value is added to a parameter',
    'catalog/v2',
    change(`${SORT} schema enum`, adding('brand')),
  ],
  [
    'an optional query parameter is added',
    'users/v2',
    change(`${USERS} get parameters`, adding({ name: 'tenant', in: 'query', schema: TEXT })),
  ],
  [
    'an optional header is added',
    'users/v2',
    change(`${USERS} get parameters`, adding({ name: 'X-Tenant', in: 'header', schema: TEXT })),
  ],
  [
    'a header is written in another case',
    'users/v2',
    set(`${USER} get parameters if-none-match name`, 'If-None-Match'),
  ],
  [
    'the enum values are reordered',
    'catalog/v2',
    change(`${SORT} schema enum`, (values: string[]) => values.toReversed()),
  ],
  [
    'parameters are reordered',
    'users/v2',
    change(`${USERS} get parameters`, (parameters: object[]) => parameters.toReversed()),
  ],
];
