import {
  adding,
  all,
  type BreakingEdit,
  change,
  type HarmlessEdit,
  remove,
  rename,
  set,
  without,
} from '../edits.ts';

const USERS = 'paths /api/v2/users';
const USER = 'paths /api/v2/users/{id}';
const OK = 'responses 200 content application/json schema';
const USER_FIELDS = 'components schemas User properties';
const ITEM_FIELDS = 'components schemas Item properties';
const COLUMN_FIELDS =
  'components schemas Report properties data properties columns items properties';
const V1_LIST = 'paths /api/v1/users get';
const REPORT = 'paths /api/v2/reports/{id} get';
const TEXT = { type: 'string' };

/** Edits of responses that break a client. */
export const BREAKING: readonly BreakingEdit[] = [
  [
    'a required response field is removed',
    'users/v2',
    all(
      remove(`${USER_FIELDS} email`),
      change('components schemas User required', without('email')),
    ),
    'GET /api/v2/users: response 200 application/json data[].email: is removed',
  ],
  [
    'an optional response field is removed',
    'users/v2',
    remove(`${USERS} get ${OK} properties meta properties nextCursor`),
    'GET /api/v2/users: response 200 application/json meta.nextCursor: is removed',
  ],
  [
    'a response field becomes optional',
    'users/v2',
    change('components schemas User required', without('email')),
    'GET /api/v2/users: response 200 application/json data[].email: can be absent',
  ],
  [
    'a response field becomes nullable',
    'users/v2',
    set(`${USER_FIELDS} name type`, ['string', 'null']),
    'GET /api/v2/users: response 200 application/json data[].name: type changed from string to string or null',
  ],
  [
    'the type of a response field changes',
    'users/v2',
    set(`${USER_FIELDS} version type`, 'string'),
    'GET /api/v2/users: response 200 application/json data[].version: type changed from integer to string',
  ],
  [
    'the type of a response field is widened',
    'catalog/v2',
    set(`${ITEM_FIELDS} priceCents type`, 'number'),
    'GET /api/v2/catalog: response 200 application/json data[].priceCents: type changed from integer to number',
  ],
  [
    'the items of a response array change',
    'catalog/v2',
    set(`${ITEM_FIELDS} tags items`, { type: 'object' }),
    'GET /api/v2/catalog: response 200 application/json data[].tags[]: type changed from string to object',
  ],
  [
    'an enum value is added to a response',
    'reports/v2',
    change(`${COLUMN_FIELDS} kind enum`, adding('percent')),
    'GET /api/v2/reports/{id}: response 200 application/json data.columns[].kind: the value "percent" is added',
  ],
  [
    'a field of a union in a response gets another type',
    'users/v1',
    set(`${V1_LIST} ${OK} anyOf 0 properties total type`, 'string'),
    'GET /api/v1/users: response 200 application/json total: type changed from integer to string',
  ],
  [
    'a response schema gets another alternative',
    'users/v1',
    change(`${V1_LIST} ${OK} anyOf`, adding({ type: 'string' })),
    'GET /api/v1/users: response 200 application/json: type changed from object to object or string',
  ],
  [
    'a constant of a response changes',
    'users/v2',
    set(`${USER} delete ${OK} properties success const`, false),
    'DELETE /api/v2/users/{id}: response 200 application/json success: the value false is added',
  ],
  [
    'the range of a response field grows',
    'catalog/v2',
    set(`${ITEM_FIELDS} priceCents minimum`, -1),
    'GET /api/v2/catalog: response 200 application/json data[].priceCents: minimum changed from 0 to -1',
  ],
  [
    'the upper bound of a response field is removed',
    'users/v2',
    remove(`${USERS} get ${OK} properties meta properties limit maximum`),
    'GET /api/v2/users: response 200 application/json meta.limit: maximum changed from 100 to none',
  ],
  [
    'the format of a response field is removed',
    'users/v2',
    remove(`${USER_FIELDS} createdAt format`),
    'GET /api/v2/users: response 200 application/json data[].createdAt: format changed from "date-time" to none',
  ],
  [
    'other values are added to a map in a response',
    'reports/v2',
    set(
      'components schemas Report properties data properties rows items additionalProperties type',
      ['string', 'number', 'boolean'],
    ),
    'GET /api/v2/reports/{id}: response 200 application/json data.rows[].*: type changed from string or number to string or number or boolean',
  ],
  [
    'a field of error responses is removed',
    'users/v2',
    all(
      remove('components schemas Problem properties code'),
      change('components schemas Problem required', without('code')),
    ),
    'GET /api/v2/users: response 400 application/problem+json code: is removed',
  ],
  [
    'a media type of a response is removed',
    'reports/v2',
    remove(`${REPORT} responses 200 content text/csv`),
    'GET /api/v2/reports/{id}: response 200 text/csv: is removed',
  ],
  [
    'the body of a response is removed',
    'users/v2',
    remove(`${USER} delete responses 200 content`),
    'DELETE /api/v2/users/{id}: response 200 application/json: is removed',
  ],
  [
    'a success status is replaced',
    'users/v2',
    rename(`${USERS} post responses 201`, '200'),
    'POST /api/v2/users: response 201: is removed',
  ],
  [
    'an error status is removed',
    'users/v2',
    remove(`${USERS} post responses 409`),
    'POST /api/v2/users: response 409: is removed',
  ],
  [
    'a response header is removed',
    'users/v2',
    remove(`${USERS} post responses 201 headers Location`),
    'POST /api/v2/users: response 201 header Location: is removed',
  ],
];

/** Edits of responses that break no client. */
export const HARMLESS: readonly HarmlessEdit[] = [
  [
    'the description of a field changes',
    'users/v2',
    set(`${USER_FIELDS} id description`, 'Random'),
  ],
  [
    'the description of a response changes',
    'users/v2',
    set(`${USERS} post responses 409 description`, 'Taken'),
  ],
  [
    'a required field is added to a response',
    'users/v2',
    all(
      set(`${USER_FIELDS} nickname`, TEXT),
      change('components schemas User required', adding('nickname')),
    ),
  ],
  ['an optional field is added to a response', 'users/v2', set(`${USER_FIELDS} nickname`, TEXT)],
  [
    'an optional response field becomes required',
    'users/v2',
    change(`${USERS} get ${OK} properties meta required`, adding('nextCursor')),
  ],
  [
    'an enum value is removed from a response',
    'reports/v2',
    change(`${COLUMN_FIELDS} kind enum`, without('money')),
  ],
  [
    'the range of a response field shrinks',
    'catalog/v2',
    set(`${ITEM_FIELDS} priceCents maximum`, 1_000_000),
  ],
  [
    'a response field is narrowed to integers',
    'catalog/v2',
    set(`${ITEM_FIELDS} priceCents type`, 'integer'),
    set(`${ITEM_FIELDS} priceCents type`, 'number'),
  ],
  [
    'a pattern is added to a response field',
    'users/v2',
    set(`${USER_FIELDS} id pattern`, '^[0-9a-f-]+$'),
  ],
  ['a format is added to a response field', 'users/v2', set(`${USER_FIELDS} id format`, 'uuid')],
  [
    'a nullable response field is no longer nullable',
    'users/v2',
    set(`${USER_FIELDS} name type`, 'string'),
    set(`${USER_FIELDS} name type`, ['string', 'null']),
  ],
  ['an alternative is removed from a response', 'users/v1', remove(`${V1_LIST} ${OK} anyOf 1`)],
  [
    'a response object is closed',
    'users/v2',
    set('components schemas Problem additionalProperties', false),
  ],
  [
    'a media type is added to a response',
    'reports/v2',
    set(`${REPORT} responses 200 content application/xml`, { schema: TEXT }),
  ],
  [
    'a header is added to a response',
    'users/v2',
    set(`${USERS} get responses 200 headers X-Total`, { schema: { type: 'integer' } }),
  ],
  [
    'an error status is added',
    'users/v2',
    set(`${USERS} get responses 429`, { description: 'Too many requests' }),
  ],
  [
    'alternatives are reordered',
    'users/v1',
    change(`${V1_LIST} ${OK} anyOf`, (schemas: object[]) => schemas.toReversed()),
  ],
  [
    'a constant is written as an enum',
    'users/v2',
    all(
      set(`${USER} delete ${OK} properties success enum`, [true]),
      remove(`${USER} delete ${OK} properties success const`),
    ),
  ],
  ['a limit without effect is added', 'users/v2', set('components schemas UserPatch required', [])],
];
