import { json } from '@fw/body-parser';
import { openConnection, type RawConnection } from '@fw/core/testing';
import { forms } from '@fw/middleware/forms';
import { listen } from 'fw';
import { expect, onTestFinished, test } from 'vitest';

import { createMetrics } from '../metrics/metrics.ts';
import { recordLog } from '../testing/log.ts';
import { createServiceApp } from './service-app.ts';
import { defaultBodyMemory } from './unavailable.ts';

const KIB = 1024;
const MIB = 1024 ** 2;

/** A service with room for two of the bodies of 40 KiB that clients send. */
async function startService() {
  const { errors, logger } = recordLog();
  const metrics = createMetrics();
  const app = createServiceApp({ logger, metrics, bodyMemoryBytes: 100 * KIB });
  app.use('/form', forms({ multipart: {} }));
  app.use(json(), (ctx) => ctx.json({ hasBody: ctx.body !== undefined }));
  const server = await listen(app, 0);
  const clients: RawConnection[] = [];
  onTestFinished(() => {
    for (const client of clients) client.close();
    return server.close({ timeoutMs: 1 });
  });
  return {
    errors,
    metrics,
    connect() {
      const client = openConnection(server.port);
      clients.push(client);
      return client;
    },
  };
}

const BODY = JSON.stringify(['x'.repeat(40 * KIB)]);

function head(length: number | 'chunked', path = '/', type = 'application/json'): string {
  const framing = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\n${framing}\r\n\r\n`;
}

const boundary = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n';
const text = 'x'.repeat(40 * KIB);

/** What clients send whose body of 40 KiB has not ended. */
const UNFINISHED = {
  'its announced length': head(BODY.length),
  'its received chunks': `${head('chunked')}a000\r\n${BODY.slice(0, 0xa000)}\r\n`,
  'the length of a form': `${head(text.length, '/form', 'application/x-www-form-urlencoded')}a`,
  'the length of a multipart form': head(text.length, '/form', 'multipart/form-data; boundary=b'),
  'the chunks of a multipart form': `${head('chunked', '/form', 'multipart/form-data; boundary=b')}${(boundary.length + text.length).toString(16)}\r\n${boundary}${text}\r\n`,
};

test.each(Object.entries(UNFINISHED))(
  'a body that does not fit into the memory for bodies gets 503: %s',
  async (_, unfinished) => {
    const { connect, errors, metrics } = await startService();
    connect().send(unfinished);
    const second = connect().send(unfinished);
    await expect.poll(() => metrics.inFlight).toBe(2);

    const shed = await connect()
      .send(unfinished)
      .read(/"SERVICE_UNAVAILABLE"/);
    const small = await connect()
      .send(`${head(2)}{}`)
      .read(/hasBody/);
    second.close();
    await expect.poll(() => metrics.inFlight).toBe(1);
    const served = await connect()
      .send(head(BODY.length) + BODY)
      .read(/\}$/);

    expect(shed).toMatch(/^HTTP\/1\.1 503 /);
    expect(shed).toContain('\r\nRetry-After: 1\r\n');
    expect(shed).toContain('Content-Type: application/problem+json');
    expect([small, served]).toEqual([
      expect.stringMatching(/^HTTP\/1\.1 200 /),
      expect.stringMatching(/^HTTP\/1\.1 200 /),
    ]);
    expect(errors).toEqual([]);
    expect(await metrics.register.metrics()).toContain(
      'http_requests_shed_total{reason="body_memory"} 1',
    );
  },
);

test('a body releases its memory when it is parsed, invalid, too large or abandoned', async () => {
  const { connect, metrics } = await startService();
  const ends = [BODY, BODY.replace('[', '{'), `${'x'.repeat(MIB)}`];

  for (let round = 0; round < 3; round++) {
    for (const body of ends) {
      await connect()
        .send(`${head('chunked')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
        .read(/\}$/);
    }
    const abandoned = connect().send(head(BODY.length) + BODY.slice(1));
    await expect.poll(() => metrics.inFlight).toBe(1);
    abandoned.close();
    await expect.poll(() => metrics.inFlight).toBe(0);
  }
  const statuses = await Promise.all(
    [1, 2].map(() =>
      connect()
        .send(head(BODY.length) + BODY)
        .read(/\}$/),
    ),
  );

  expect(statuses.map((response) => response.slice(9, 12))).toEqual(['200', '200']);
});

test('a single body is accepted even if it is larger than the memory for bodies', async () => {
  const { connect } = await startService();
  const body = JSON.stringify(['x'.repeat(200 * KIB)]);

  const received = await connect()
    .send(head(body.length) + body)
    .read(/\}$/);

  expect(received).toMatch(/^HTTP\/1\.1 200 /);
});

test.each([
  ['an eighth of the limit of a container', 256 * MIB, 32 * MIB],
  ['an eighth of 2 GiB if the limit is unknown', 0, 256 * MIB],
  ['an eighth of 2 GiB if there is no limit', 2 ** 64, 256 * MIB],
])('the default memory for bodies is %s', (_, limitBytes, expected) => {
  expect(defaultBodyMemory(limitBytes, 24 * 1024 * MIB)).toBe(expected);
});
