import { createCipheriv, randomBytes } from 'node:crypto';
import { createApp, createRouter } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { beforeAll, expect, test } from 'vitest';
import { createSignedCookies } from '../cookies.ts';
import { encode } from '../testing/tokens.ts';
import { session } from './session.ts';

const secret = randomBytes(32).toString('base64');
const HOUR_MS = 3_600_000;

interface Attack {
  readonly secrets?: readonly string[];
  readonly name?: string;
  readonly hours?: number;
}

/** An application whose time is `hours` after the login. */
function newApp({ secrets = [secret], name = '__Host-session', hours = 0 }: Attack = {}) {
  const now = () => new Date(Date.UTC(2026, 11, 1) + hours * HOUR_MS);
  const sessions = session<{ userId: string }>({ secrets, name, now });
  const router = createRouter()
    .get('/login', sessions, (ctx) => ctx.state.session.set({ userId: 'ada' }))
    .get('/', sessions, (ctx) => ctx.state.session.data ?? ctx.throw(401));
  const app = createApp({ logger: quiet }).use(errorHandler());
  app.route('/', router);
  return app;
}
const login = async (attack?: Attack) => {
  const [cookie = ''] = (await request(newApp(attack), '/login')).headers.getSetCookie();
  return cookie.slice(cookie.indexOf('=') + 1, cookie.indexOf(';'));
};
const statusOf = async (Cookie: string, attack?: Attack) =>
  (await request(newApp(attack), '/', { headers: { Cookie } })).status;
const signed = (value: string, name = '__Host-session') => {
  let header = '';
  const ctx = { append: (_: string, set: string) => (header = set) };
  createSignedCookies([secret]).set(ctx as never, name, value);
  return header.slice(header.indexOf('=') + 1, header.indexOf(';'));
};
/** A session that is encrypted with the signature of a cookie whose value the attacker chose. */
const encryptedWithSignature = (chosen: string) => {
  const [name, rest = ''] = chosen.split('=');
  const key = Buffer.from(signed(rest, name).split('.').at(-1) ?? '', 'base64url');
  const head = Buffer.concat([Buffer.from('theme=attackers!'), Buffer.alloc(12)]);
  const cipher = createCipheriv('aes-256-gcm', key, head.subarray(16));
  const setMs = Date.UTC(2026, 11, 1);
  const text = cipher.update(JSON.stringify([{ userId: 'root' }, setMs, setMs]));
  return Buffer.concat([head, text, cipher.final(), cipher.getAuthTag()]).toString('base64url');
};
let value = '';
beforeAll(async () => {
  value = await login();
});

test('session() accepts the cookie that the forged ones vary', async () => {
  expect(await statusOf(`__Host-session=${value}`)).toBe(200);
  expect(await statusOf(`other=1; __Host-session=${value}; __Host-session=x`)).toBe(200);
});

test.each<[string, () => string | Promise<string>, Attack?]>([
  ['no value', () => '__Host-session='],
  ['JSON', () => `__Host-session=${encode([{ userId: 'ada' }, 0, Date.now()])}`],
  [
    'a signed value instead of an encrypted one',
    () => `__Host-session=${signed('[{"userId":"ada"},0,9e15]')}`,
  ],
  [
    'a signature of the same secret as its key',
    () =>
      `__Host-session=${encryptedWithSignature('theme=attackers!fw sealed text\0__Host-session')}`,
  ],
  ['the last byte missing', () => `__Host-session=${value.slice(0, -2)}`],
  ['only its tag', () => `__Host-session=${value.slice(-22)}`],
  ['an added byte', () => `__Host-session=${value}AA`],
  ['padding', () => `__Host-session=${value}=`],
  [
    'standard base64',
    () => `__Host-session=${Buffer.from(value, 'base64url').toString('base64')}==`,
  ],
  ['no prefix', () => `session=${value}`],
  ['the prefix __Secure-', () => `__Secure-session=${value}`],
  ['the prefix in percent-encoding', () => `%5F_Host-session=${value}`],
  ['a forged cookie before it', () => `__Host-session=x; __Host-session=${value}`],
  [
    'the value of another cookie',
    async () => `__Host-session=${await login({ name: '__Host-other' })}`,
  ],
  ['its secret as a prefix', () => `__Host-session=${value}`, { secrets: [`${secret}x`] }],
  ['maxAgeSeconds passed', () => `__Host-session=${value}`, { hours: 24 }],
])('session() rejects a cookie with %s', async (_, create, attack) => {
  expect(await statusOf(await create(), attack)).toBe(401);
});

test('session() rejects a cookie with any changed bit', async () => {
  const bytes = Buffer.from(value, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 5) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    expect(await statusOf(`__Host-session=${changed.toString('base64url')}`)).toBe(401);
  }
});
