import { createPublicKey, createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join, resolve } from 'node:path';

import compression from 'compression';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { basicAuth } from './basic-auth.ts';
import { bearerToken } from './bearer-token/bearer-token.ts';
import { compress } from './compress.ts';
import { connect } from './connect/connect.ts';
import { createSignedCookies, setCookie } from './cookies.ts';
import { cors } from './cors.ts';
import { deprecation } from './deprecation.ts';
import { etag } from './etag.ts';
import { forms } from './forms/forms.ts';
import { idempotency, memoryStore } from './idempotency/idempotency.ts';
import { redisStore } from './idempotency/redis.ts';
import { securityHeaders } from './security-headers.ts';
import { session } from './session/session.ts';
import { sse } from './sse.ts';
import { staticFiles } from './static-files/static-files.ts';
import { publicKeyOf, SECRET } from './testing/tokens.ts';
import { createTickets } from './tickets.ts';
import { timeout } from './timeout.ts';
import { websocket } from './websocket/websocket.ts';

const ORIGIN = 'https://app.example.com';
const csp = (directives: object) => ({ contentSecurityPolicy: directives });
const root = import.meta.dirname;
const users = { ada: 'correct horse' };
const secrets = [SECRET];
const since = new Date('2026-12-01T00:00:00Z');

const { privateKey } = generateKeyPairSync('ed25519');
const exponentOne = { ...publicKeyOf('rsa').export({ format: 'jwk' }), e: 'AQ' };

/** Keys that cannot verify tokens, by their description. */
const KEYS = new Map<string, string | KeyObject>([
  ['a private key', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
  ['a private key as object', privateKey],
  ['text', 'text'],
  ['a secret key', createSecretKey(Buffer.alloc(32))],
  ['an RSA key of 1,024 bits', publicKeyOf('rsa', 1_024)],
  ['an RSA key with the exponent 1', createPublicKey({ key: exponentOne, format: 'jwk' })],
  ['a key for ES384', publicKeyOf('P-384')],
]);

/** A factory with invalid arguments, and the error that each causes. */
type Row = readonly [
  name: string,
  create: (options: never) => unknown,
  errors: readonly (readonly [options: unknown, message: string])[],
];

describe.each<Row>([
  [
    'basicAuth',
    basicAuth,
    [
      [{}, 'basicAuth() needs the option users'],
      [{ users: {} }, 'option users of basicAuth(): expected passwords by user name'],
      [{ users: ['my-secret'] }, 'option users of basicAuth(): expected passwords by user name'],
      [{ users: { 'a:b': 'my-secret' } }, 'user "a:b" of basicAuth(): expected a name without ":"'],
      [{ users: { ada: '' } }, 'password of "ada" of basicAuth(): expected at least 8 characters'],
      [{ users, realm: 'a"b' }, 'option realm "a"b" of basicAuth(): expected 1 to 128'],
    ],
  ],
  [
    'bearerToken',
    ({ publicKey = '', ...options }: { readonly publicKey?: string }) => {
      const key = KEYS.get(publicKey);
      const given = { issuer: 'https://a.example', audience: 'a', ...options };
      bearerToken(key === undefined ? given : { ...given, publicKey: key });
    },
    [
      [{}, 'needs exactly one of the options jwksUrl, publicKey and secret'],
      [{ secret: SECRET, jwksUrl: 'https://a.example' }, 'needs exactly one of'],
      [{ secret: 'my-secret'.padEnd(31) }, 'secret of 31 bytes of bearerToken(): expected'],
      [{ secret: `-----BEGIN ${SECRET}` }, 'expected no PEM; use publicKey'],
      [{ publicKey: 'a private key' }, 'expected a public key as PEM'],
      [{ publicKey: 'a private key as object' }, 'expected a public key as PEM'],
      [{ publicKey: 'a secret key' }, 'expected a public key'],
      [{ publicKey: 'text' }, 'expected a public key as PEM'],
      [{ publicKey: 'an RSA key of 1,024 bits' }, 'RSA needs 2048 bits'],
      [{ publicKey: 'an RSA key with the exponent 1' }, 'an exponent above 2'],
      [
        { publicKey: 'a key for ES384', algorithms: ['RS256', 'ES256'] },
        'option publicKey of bearerToken(): expected a key for RS256, ES256',
      ],
      [{ jwksUrl: 'https://ada:my-secret@a.example' }, 'no user and password'],
      [{ jwksUrl: 'file:///keys' }, 'option jwksUrl "file:///keys" of bearerToken()'],
      [{ secret: SECRET, issuer: undefined }, 'needs the option issuer: a string'],
      [{ secret: SECRET, audience: '' }, 'option audience "" of bearerToken()'],
      [{ jwksUrl: 'https://a.example', algorithms: ['HS256'] }, 'expected a list of RS256'],
      [{ jwksUrl: 'https://a.example', algorithms: [] }, 'expected a list of RS256'],
      [{ secret: SECRET, algorithms: ['RS256'] }, 'for public keys only'],
      [{ secret: SECRET, scopes: ['a"b'] }, 'expected a list of scopes'],
    ],
  ],
  [
    'compress',
    compress,
    [
      [{ encodings: ['deflate'] }, 'expected a list of zstd, br, gzip'],
      [{ thresholdBytes: -1 }, 'option thresholdBytes "-1" of compress(): expected a whole number'],
    ],
  ],
  [
    'connect',
    connect,
    [
      [
        compression,
        'Cannot connect compression: call it; expected a function (req, res, next), such as helmet()',
      ],
      [
        function onError(_error: Error, _req: object, _res: object, _next: object) {},
        'Cannot connect onError, an error handler: expected a function (req, res, next)',
      ],
      [undefined, 'Cannot connect "undefined": expected a function (req, res, next)'],
    ],
  ],
  [
    'createSignedCookies',
    createSignedCookies,
    [
      [['my-secret'], 'secret 1, which has 9 bytes: expected a string of at least 32 bytes'],
      [[undefined], 'secret 1, which has 0 bytes'],
      [[], 'Cannot sign cookies: expected a list of secrets'],
      ['my-secret', 'Cannot sign cookies: expected a list of secrets'],
    ],
  ],
  [
    'setCookie',
    ({ name = 'a', ...options }: { readonly name?: string }) =>
      setCookie({ append: () => expect.unreachable() }, name, 'b', options),
    [
      [{ name: '' }, 'Cannot set cookie "": expected a name of token characters'],
      [{ name: 'a;b' }, 'expected a name of token characters'],
      [{ maxAgeSeconds: 34_560_001 }, 'option maxAgeSeconds "34560001" of the cookie "a"'],
      [{ maxAgeSeconds: -1 }, 'expected a whole number from 0 to 34560000'],
      [{ domain: 'a.example; Path=/' }, 'option domain "a.example; Path=/"'],
      [{ path: 'x' }, 'option path "x"'],
      [{ path: '/;Domain=b' }, 'option path "/;Domain=b"'],
      [{ path: `/${'x'.repeat(1_024)}` }, 'of at most 1024 characters'],
      [{ sameSite: 'None' }, 'expected one of "strict", "lax", "none"'],
      [{ expires: 1 }, 'the cookie "a" has no option "expires"'],
      [{ name: '__Host-a', path: '/x' }, '"__Host-" requires path "/" and no domain'],
      [{ name: '__host-a', domain: 'a.example' }, '"__Host-" requires path "/" and no domain'],
      [{ name: '__Host-a', secure: false }, 'the prefix of its name requires secure'],
      [{ name: '__Secure-a', secure: false }, 'the prefix of its name requires secure'],
      [{ sameSite: 'none', secure: false }, 'sameSite "none" requires secure'],
      [{ partitioned: true, secure: false }, 'partitioned requires secure'],
    ],
  ],
  [
    'cors',
    cors,
    [
      [
        { origin: `${ORIGIN}/` },
        `option origin "${ORIGIN}/" of cors(): expected an origin such as "${ORIGIN}"; did you mean "${ORIGIN}"?`,
      ],
      [{ origin: 'app.example.com' }, 'origin "app.example.com" of cors(): expected an origin'],
      [{ origin: [new URL(ORIGIN)] }, `did you mean "${ORIGIN}"?`],
      [{ origin: [ORIGIN, '*'] }, 'origin "*" of cors(): expected "*" alone, not in a list'],
      [{ origin: [] }, 'option origin "[]" of cors(): expected at least one origin'],
      [{ origin: /example/ }, 'expected "*", an origin, a list of origins or a function'],
      [
        { credentials: true },
        'credentials "true" of cors(): expected false, or a list of origins in option origin',
      ],
      [{ methods: ['patch'] }, `"[ 'patch' ]" of cors(): expected a list of methods in capital`],
      [{ allowedHeaders: ['If Match'] }, 'expected a list of header names'],
      [{ exposedHeaders: 'ETag' }, 'exposedHeaders "ETag" of cors(): expected a list of header'],
      [{ maxAgeSeconds: -1 }, '"-1" of cors(): expected a whole number from 0 to 86400'],
    ],
  ],
  [
    'deprecation',
    (options: object) => deprecation({ from: '/v1', to: '/v2', ...options } as never),
    [
      [
        { since: new Date('2026-13-01') },
        'since "Invalid Date" of deprecation(): expected a valid',
      ],
      [{}, 'needs the option since: a valid Date'],
      [{ since, sunset: new Date('') }, 'sunset "Invalid Date" of deprecation(): expected a valid'],
      [
        { since, sunset: new Date('2026-11-30') },
        'sunset "2026-11-30T00:00:00.000Z" of deprecation(): expected a date that is not before since, 2026-12-01T',
      ],
      [{ since, from: 1 }, 'from "1" of deprecation(): expected a string'],
    ],
  ],
  ['etag', etag, [[{ weak: 'yes' }, 'option weak "yes" of etag(): expected true or false']]],
  [
    'forms',
    forms,
    [
      [{ limit: 0 }, 'Cannot read option limit "0" of forms(): expected a whole number from 1'],
      [{ maxFields: 1_001 }, 'maxFields "1001" of forms(): expected a whole number from 1 to 1000'],
      [{ multipart: { maxFiles: -1 } }, 'maxFiles "-1" of forms({ multipart }): expected'],
      [{ multipart: true }, 'option multipart "true" of forms(): expected an object'],
      [
        { multipart: { folder: '/missing' } },
        'folder "/missing" of forms({ multipart }): expected',
      ],
      [
        { multipart: { folder: import.meta.filename } },
        'a folder in which this process may create',
      ],
    ],
  ],
  [
    'idempotency',
    (options: object) => idempotency({ store: memoryStore(), ...options }),
    [
      [
        { store: undefined },
        'idempotency() needs the option store: a store, such as memoryStore()',
      ],
      [{ store: new Map() }, 'of idempotency(): expected a store, such as memoryStore()'],
      [{ required: 1 }, 'option required "1" of idempotency(): expected true or false'],
      [{ retentionMs: 0 }, 'retentionMs "0" of idempotency(): expected a whole number from 1'],
      [{ waitMs: -1 }, 'option waitMs "-1" of idempotency(): expected 0 to'],
      [{ maxResponseBytes: 0.5 }, 'expected a whole number from 0 to 16777216'],
      [{ scope: 'user' }, 'option scope "user" of idempotency(): expected a function'],
    ],
  ],
  [
    'memoryStore',
    memoryStore,
    [[{ maxBytes: 1 }, 'maxBytes "1" of memoryStore(): expected a whole number from 1048576']],
  ],
  [
    'redisStore',
    (options: object) =>
      redisStore({ isReady: true, sendCommand: async () => null, on() {} }, options),
    [
      [{ leaseMs: 0 }, 'leaseMs "0" of redisStore(): expected a whole number from 1'],
      [{ timeoutMs: 60_001 }, 'expected a whole number from 1 to 60000'],
    ],
  ],
  [
    'securityHeaders',
    securityHeaders,
    [
      [csp({ 'script-scr': [] }), 'did you mean "script-src"?'],
      [csp({ 'script-src': ['self'] }), 'keywords have single quotes'],
      [csp({ 'script-src': ["'self'; img-src *"] }), 'option script-src'],
      [csp({ 'script-src': ['https://bücher.example'] }), 'option script-src'],
      [csp({ 'script-src': "'self'" }), 'option script-src "\'self\'" of contentSecurityPolicy'],
      [{ frameOptions: 'deny' }, 'expected false or one of "DENY", "SAMEORIGIN"'],
      [{ referrerPolicy: 'none' }, 'option referrerPolicy "none" of securityHeaders()'],
      [{ noSniff: 'yes' }, 'noSniff "yes" of securityHeaders(): expected true or false'],
      [{ strictTransportSecurity: { maxAgeSeconds: -1 } }, 'option maxAgeSeconds "-1"'],
      [
        { strictTransportSecurity: { maxAge: 1 } },
        'strictTransportSecurity has no option "maxAge"',
      ],
      [
        { permissionsPolicy: { Camera: [] } },
        'permissionsPolicy "Camera" of securityHeaders(): expected names of features in lower case',
      ],
      [{ permissionsPolicy: { 'camera=*, x': [] } }, 'names of features in lower case'],
      [{ permissionsPolicy: { camera: ['https://a.example/'] } }, '"self", "*" or an origin'],
      [{ permissionsPolicy: { camera: 'self' } }, 'a list of origins for each feature'],
    ],
  ],
  [
    'session',
    session,
    [
      [{}, 'session() needs the option secrets'],
      [{ secrets: 'my-secret' }, 'Cannot encrypt sessions: expected a list of secrets'],
      [{ secrets: [SECRET, 'my-secret'] }, 'secret 2, which has 9 bytes: expected a string of at'],
      [{ secrets, name: 'session' }, 'option name "session" of session(): expected a name'],
      [{ secrets, name: '__Host-a;b' }, 'option name "__Host-a;b" of session(): expected'],
      [{ secrets, maxAgeSeconds: 0 }, 'expected a whole number from 1 to 34560000'],
      [{ secrets, lifetimeSeconds: -1 }, 'option lifetimeSeconds "-1" of session()'],
      [{ secrets, trustedOrigins: ['a.example'] }, 'expected a list of origins such as'],
    ],
  ],
  [
    'sse with schemas',
    (schemas: never) => sse(schemas, async function* () {}),
    [
      [{ tick: 1 }, 'Cannot read option tick "1" of sse(): expected a schema of the data'],
      [{ tick: z.map(z.string(), z.string()) }, 'the schema of Event "tick" cannot be checked: '],
    ],
  ],
  [
    'sse with schemas without a source',
    (source: never) => sse({ done: z.string() }, source),
    [[undefined, 'Cannot create sse() with the source "undefined": expected async function*']],
  ],
  [
    'sse',
    (options: object) => sse(async function* () {}, options),
    [
      [{ heartbeatMs: -1 }, 'Cannot read option heartbeatMs "-1" of sse(): expected 0 to'],
      [{ maxClients: 0 }, 'option maxClients "0" of sse(): expected a whole number from 1'],
      [{ maxAgeMs: 0 }, 'option maxAgeMs "0" of sse(): expected 1 to 2147483647 milliseconds, or'],
    ],
  ],
  [
    'staticFiles',
    staticFiles,
    [
      [{ root: join(root, 'missing') }, 'expected an existing folder'],
      [{ root: 'missing' }, `option root "${resolve('missing')}" of staticFiles()`],
      [{ root: import.meta.filename }, 'expected an existing folder'],
      [{}, 'staticFiles() needs the option root: a string'],
      [{ root, maxAgeSeconds: -1 }, 'option maxAgeSeconds "-1"'],
      [{ root, immutable: 1 }, 'option immutable "1" of staticFiles(): expected true or false'],
      [{ root, prefix: 'assets' }, 'Cannot serve static files: the path must start with "/"'],
    ],
  ],
  [
    'createTickets',
    createTickets,
    [
      [{ secrets }, 'createTickets() needs the option audience: a name'],
      [{ audience: '', secrets }, 'option audience "" of createTickets(): expected a name'],
      [{ audience: 'a' }, 'createTickets() needs the option secrets'],
      [
        { audience: 'a', secrets: ['my-secret'] },
        'Cannot create tickets with secret 1, which has 9',
      ],
      [{ audience: 'a', secrets, maxAgeSeconds: 301 }, 'expected a whole number from 1 to 300'],
      [{ audience: 'a', secrets, store: {} }, 'expected a store, such as memoryStore()'],
    ],
  ],
  [
    'timeout',
    timeout,
    [0, -1, Number.NaN, 2 ** 31].map((timeoutMs) => [
      timeoutMs,
      `Cannot limit time to "${timeoutMs}": expected 1 to 2147483647 ms`,
    ]),
  ],
  [
    'websocket',
    websocket,
    [
      [{ schema: {} }, 'option schema "{}" of websocket(): expected a Standard Schema'],
      [{ message: 'x' }, 'option message "x" of websocket(): expected a function'],
      [{ origins: `${ORIGIN}/` }, 'expected "*" or a list of origins such as "https://app.'],
      [{ origins: [`${ORIGIN}/`] }, 'expected "*" or a list of origins'],
      [{ protocols: ['a b'] }, 'expected a list of names of subprotocols'],
      [{ maxClients: 0 }, 'option maxClients "0" of websocket(): expected a whole number from 1'],
      [{ maxMessageBytes: 0 }, 'option maxMessageBytes "0"'],
      [{ maxMessagesPerSecond: 0.5 }, 'option maxMessagesPerSecond "0.5"'],
      [{ maxUnsentBytes: -1 }, 'option maxUnsentBytes "-1"'],
      [{ pingMs: -1 }, 'option pingMs "-1" of websocket(): expected 0 to'],
      [{ maxAgeMs: 2 ** 31 }, 'option maxAgeMs "2147483648" of websocket(): expected 1 to'],
    ],
  ],
])('%s rejects', (_, create, errors) => {
  test.each(errors)('%j with "%s"', (options, message) => {
    const call = () => create(options as never);

    expect(call).toThrow(TypeError);
    expect(call).toThrow(message);
    // In one line that contains no key and no secret of a test.
    expect(call).not.toThrow(/BEGIN|my-secret|made for tests|\n/);
  });
});
