import {
  adding,
  all,
  type BreakingEdit,
  change,
  type HarmlessEdit,
  remove,
  set,
  without,
} from '../edits.ts';

const USERS = 'paths /api/v2/users';
const USER = 'paths /api/v2/users/{id}';
const BODY = 'requestBody content application/json schema';
const NEW_USER = 'components schemas NewUser';
const NAME = `${NEW_USER} properties name`;
const NULLABLE_NAME = set('components schemas UserPatch properties name type', ['string', 'null']);
const TEXT = { type: 'string' };

/** Edits of request bodies that break a client. */
export const BREAKING: readonly BreakingEdit[] = [
  [
    'a media type of a request is removed',
    'users/v2',
    remove(`${USER} patch requestBody content application/merge-patch+json`),
    'PATCH /api/v2/users/{id}: request body application/merge-patch+json: is removed',
  ],
  [
    'a required field is added to a request',
    'users/v2',
    all(
      set(`${NEW_USER} properties age`, { type: 'integer' }),
      change(`${NEW_USER} required`, adding('age')),
    ),
    'POST /api/v2/users: request body application/json age: is new and required',
  ],
  [
    'a request field becomes required',
    'users/v2',
    set('components schemas UserPatch required', ['name']),
    'PATCH /api/v2/users/{id}: request body application/merge-patch+json name: becomes required',
  ],
  [
    'a request field is removed from a closed object',
    'users/v2',
    all(remove(`${NEW_USER} properties email`), change(`${NEW_USER} required`, without('email'))),
    'POST /api/v2/users: request body application/json email: is removed',
  ],
  [
    'a request object is closed',
    'users/v1',
    set('components schemas NewUserV1 additionalProperties', false),
    'POST /api/v1/users: request body application/json: rejects other fields',
  ],
  [
    'the body becomes required',
    'users/v1',
    set('paths /api/v1/users/{id} put requestBody required', true),
    'PUT /api/v1/users/{id}: request body: becomes required',
  ],
  [
    'a body is required where there was none',
    'users/v2',
    set(`${USER} delete requestBody`, {
      required: true,
      content: { 'application/json': { schema: { type: 'object' } } },
    }),
    'DELETE /api/v2/users/{id}: request body: is new and required',
  ],
  [
    'a nullable request field is no longer nullable',
    'users/v2',
    set('components schemas UserPatch properties name type', 'string'),
    'PATCH /api/v2/users/{id}: request body application/merge-patch+json name: type changed from string or null to string',
    NULLABLE_NAME,
  ],
  [
    'maxLength of a request field is lowered',
    'users/v2',
    set(`${NAME} maxLength`, 100),
    'POST /api/v2/users: request body application/json name: maxLength changed from 200 to 100',
  ],
  [
    'minLength of a request field is raised',
    'users/v2',
    set(`${NAME} minLength`, 2),
    'POST /api/v2/users: request body application/json name: minLength changed from 1 to 2',
  ],
  [
    'a format is added to a request field',
    'users/v2',
    set(`${NAME} format`, 'uuid'),
    'POST /api/v2/users: request body application/json name: format changed from none to "uuid"',
  ],
  [
    'a rule is added with allOf',
    'users/v2',
    change(`${NAME} allOf`, adding({ pattern: '^[A-Z]' })),
    'POST /api/v2/users: request body application/json name: pattern changed from "\\\\S" to "^[A-Z]"',
  ],
];

/** Edits of request bodies that break no client. */
export const HARMLESS: readonly HarmlessEdit[] = [
  ['examples change', 'users/v2', set(`${NAME} examples`, ['Grace Hopper'])],
  ['a title is added to a schema', 'users/v2', set(`${NEW_USER} title`, 'New user')],
  [
    'an optional field is added to a request',
    'users/v2',
    set(`${NEW_USER} properties nickname`, TEXT),
  ],
  [
    'a request field becomes optional',
    'users/v2',
    change(`${NEW_USER} required`, without('email')),
  ],
  ['a request object is opened', 'users/v2', remove(`${NEW_USER} additionalProperties`)],
  ['a request field becomes nullable', 'users/v2', NULLABLE_NAME],
  ['maxLength of a request field is raised', 'users/v2', set(`${NAME} maxLength`, 300)],
  ['minLength of a request field is removed', 'users/v2', remove(`${NAME} minLength`)],
  ['the body becomes optional', 'users/v2', set(`${USERS} post requestBody required`, false)],
  [
    'a media type is added to a request',
    'users/v2',
    set(`${USERS} post requestBody content application/xml`, { schema: TEXT }),
  ],
  [
    'a component is written inline',
    'users/v2',
    change(`${USERS} post ${BODY}`, (schema) => schema),
  ],
  [
    'the required fields are reordered',
    'users/v2',
    change(`${NEW_USER} required`, (names: string[]) => names.toReversed()),
  ],
  ['a type is written as a list', 'users/v2', set(`${NAME} type`, ['string'])],
];
