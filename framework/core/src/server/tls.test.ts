import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { quiet, recordLog } from '@fw/core/testing';

import { describe, expect, onTestFinished, test } from 'vitest';

import { createApp } from '../application.ts';
import type { Middleware } from '../context.ts';
import { dispatch, viaOf } from '../extension.ts';
import { GET, serve } from '../testing/vitest.ts';
import type { TlsOptions } from './create-server.ts';
import { type ListenOptions, listen } from './listen.ts';

/** A key and a certificate that it signed, for `name` on this machine. */
function createCertificate(name: string, ...keyOptions: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const protection = keyOptions.length > 0 ? keyOptions : ['-nodes'];
  const output = ['-keyout', key, '-out', cert, '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...protection, ...output], {
    stdio: 'pipe',
  });
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return pair;
}

const own = createCertificate('own');
const other = createCertificate('other');
const CLOSE = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');

function start(
  handler: Middleware,
  { writeTimeoutMs = 30_000, headersTimeoutMs = 10_000, ...tls }: Partial<TlsOptions & Times> = {},
) {
  return serve(handler, { writeTimeoutMs, headersTimeoutMs, tls: { ...own, ...tls } });
}

type Times = Pick<ListenOptions, 'writeTimeoutMs' | 'headersTimeoutMs'>;

/** A client whose connection is established. */
async function open(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca: own.cert, ...options });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

/** Sends `bytes` and reads until the server closes the connection. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = await open(port);
  socket.write(bytes);
  return text(socket);
}

test('listen serves HTTPS and logs its address', async () => {
  const { logger, lines } = recordLog();
  const app = createApp({ logger }).get('/', (ctx) => ({ protocol: ctx.protocol }));
  const server = await serve(app, { tls: own });

  const response = await exchange(server.port, CLOSE);

  expect(lines).toEqual([`info: Listening on https://127.0.0.1:${server.port}`]);
  expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\{"protocol":"https"\}$/s);
});

test('a client without TLS is disconnected, and others are still served', async () => {
  const { port } = await start((ctx) => ctx.send('here'));
  const plain = connectTcp({ port, host: '127.0.0.1' }).on('error', () => {});

  plain.write(GET);
  plain.resume();
  await once(plain, 'close');

  expect(await exchange(port, CLOSE)).toContain('here');
});

test('a client that starts no handshake is disconnected after the time limit for headers', async () => {
  const { port } = await start((ctx) => ctx.send('here'), { headersTimeoutMs: 20 });
  const silent = connectTcp({ port, host: '127.0.0.1' }).on('error', () => {});

  await once(silent.resume(), 'close');
});

test('a dispatched request has the TLS connection of its client', async () => {
  const { port } = await start(async (ctx) => {
    if (viaOf(ctx) === undefined) {
      const route = { method: 'GET', path: '/' };
      const options = { route, url: '/', headers: {}, via: 'test', limitBytes: 1_000 };
      ctx.send((await dispatch(ctx, options)).body);
      return;
    }
    const socket = ctx.raw.req.socket as TLSSocket;
    ctx.json([ctx.protocol, socket.encrypted, socket.authorized, socket.getPeerCertificate()]);
  });

  expect(await exchange(port, CLOSE)).toMatch(/\["https",true,false,\{\}\]$/);
});

test('a client that accepts no data over TLS is disconnected', async () => {
  const closed = Promise.withResolvers<void>();
  const { port } = await start(
    (ctx) => {
      ctx.raw.res.once('close', closed.resolve);
      ctx.send(Buffer.alloc(20_000_000));
    },
    { writeTimeoutMs: 30 },
  );
  const socket = await open(port);
  socket.on('error', () => {}).pause();

  socket.write(GET);

  await closed.promise;
});

describe('close() of a server with TLS', () => {
  test('waits for the response in progress and closes idle connections', async () => {
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const server = await start(async (ctx) => {
      begun.resolve();
      await finish.promise;
      ctx.send('complete');
    });
    const idle = await open(server.port);
    const busy = await open(server.port);
    busy.write(GET);
    await begun.promise;

    const closing = server.close();
    await text(idle);
    finish.resolve();
    const response = await text(busy);
    await closing;

    expect(response).toMatch(/Connection: close.*complete$/s);
  });

  test('closes connections that never start a handshake', async () => {
    const server = await start((ctx) => ctx.send('here'));
    const silent = connectTcp({ port: server.port, host: '127.0.0.1' });
    silent.on('error', () => {}).resume();
    await once(server.server, 'connection');

    await Promise.all([server.close(), once(silent, 'close')]);
  });
});

test('server.setSecureContext replaces the certificate for new connections', async () => {
  const { port, server } = await start((ctx) => ctx.send('here'));
  const namePresented = async () => {
    const socket = await open(port, { ca: [own.cert, other.cert] });
    return socket.getPeerCertificate().subject.CN;
  };
  const before = await namePresented();

  (server as https.Server).setSecureContext(other);

  expect([before, await namePresented()]).toEqual(['own', 'other']);
});

test('with tls.ca, only clients with a certificate of this authority are served', async () => {
  const { port } = await start((ctx) => ctx.send('here'), { ca: other.cert });
  const get = (client: https.RequestOptions) =>
    new Promise<string>((resolve, reject) => {
      const options = { port, host: '127.0.0.1', ca: own.cert, agent: false, ...client };
      https.get(options, (response) => resolve(text(response))).on('error', reject);
    });

  expect(await get(other)).toBe('here');
  await expect(get({})).rejects.toThrow();
  await expect(get(own)).rejects.toThrow();
});

test('only a client below tls.minVersion is rejected', async () => {
  const { port } = await start((ctx) => ctx.send('here'), { minVersion: 'TLSv1.3' });
  const other = await start((ctx) => ctx.send('here'), { minVersion: 'TLSv1.2' });

  await expect(open(port, { maxVersion: 'TLSv1.2' })).rejects.toThrow();
  expect((await open(other.port, { maxVersion: 'TLSv1.2' })).getProtocol()).toBe('TLSv1.2');
});

const encrypted = createCertificate('own', '-passout', 'pass:secret');

test('an encrypted key is used with its passphrase', async () => {
  const { port } = await start((ctx) => ctx.send('here'), { ...encrypted, passphrase: 'secret' });

  expect((await open(port, { ca: encrypted.cert })).authorized).toBe(true);
});

const CERTIFICATE = 'Cannot read option tls.cert of listen(): expected a certificate in PEM form';
const AUTHORITY = 'Cannot read option tls.ca of listen(): expected certificates in PEM form';
const KEY =
  'Cannot read option tls.key of listen(): expected a private key in PEM form, with the passphrase if it has one';

test.each<readonly [string, object, string]>([
  ['no key', { cert: own.cert }, 'the option tls of listen() needs the option key'],
  ['a file name as the key', { ...own, key: 'key.pem' }, KEY],
  ['an encrypted key without passphrase', encrypted, KEY],
  ['a wrong passphrase', { ...encrypted, passphrase: 'x' }, KEY],
  ['a file name as the certificate', { ...own, cert: 'cert.pem' }, CERTIFICATE],
  [
    'a certificate in binary form',
    { ...own, cert: new X509Certificate(own.cert).raw },
    CERTIFICATE,
  ],
  ['an invalid authority', { ...own, ca: 'ca.pem' }, AUTHORITY],
  [
    'the key of another certificate',
    { ...own, key: other.key },
    'Cannot use option tls of listen(): expected the private key of the certificate',
  ],
  [
    'a misspelled option',
    { ...own, minversion: 'TLSv1.3' },
    'the option tls of listen() has no option "minversion"; did you mean "minVersion"? Its options: key, cert, ca, passphrase, minVersion',
  ],
])('listen rejects %s with one line that does not contain the key', async (_, tls, message) => {
  const options = { port: 0, tls: tls as TlsOptions };

  const error = await listen(createApp({ logger: quiet }), options).catch((error) => error);

  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).toContain(message);
  expect(error.message).not.toMatch(/\n|BEGIN/);
});
