import { createClient } from '@fw/client';
import { startTestService } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { freePort } from '../../deploy/local/testing/ports.ts';
import { allowLongRequests, startTrialEdge } from '../../deploy/local/testing/trial-edge.ts';

/** `STREAMS=1000 npx vitest run tests/events` measures as many streams; it prints the longest pause. */
const STREAMS = Number(process.env.STREAMS ?? 100);

interface Paths {
  '/api/v1/users/events': {
    get: {
      responses: {
        200: { content: { 'text/event-stream': { event: 'number'; data: { value: number } } } };
      };
    };
  };
}

const MAIN = new URL('service/src/main.ts', import.meta.url);

function startReplica(port: number) {
  // nginx keeps idle connections for 3 s.
  const drain = { DRAIN_DELAY_MS: '500', DRAIN_IDLE_MS: '3500' };
  return startTestService(MAIN, { PORT: String(port), MAX_IN_FLIGHT: '10000', ...drain });
}

/** What one client has received. */
class Subscriber {
  readonly values: number[] = [];
  longestPauseMs = 0;

  async read(baseUrl: string, signal: AbortSignal): Promise<void> {
    const client = createClient<Paths>({ baseUrl });
    let last = performance.now();
    for await (const { data } of client.stream('/api/v1/users/events', { signal })) {
      this.values.push(data.value);
      this.longestPauseMs = Math.max(this.longestPauseMs, performance.now() - last);
      last = performance.now();
    }
  }
}

test(`${STREAMS} streams through a rolling update and a crash lose and repeat no event`, async () => {
  const ports = [await freePort(), await freePort()];
  const replicas = await Promise.all(ports.map(startReplica));
  const edge = await startTrialEdge({ users: ports }, { prepare: allowLongRequests });
  onTestFinished(() => edge.stop());
  const leave = new AbortController();
  const subscribers = Array.from({ length: STREAMS }, () => new Subscriber());
  const reading = subscribers.map((each) => each.read(edge.origin, leave.signal));
  const receiveMore = async () => {
    const newest = Math.max(0, ...subscribers.flatMap(({ values }) => values.slice(-1)));
    const isBehind = ({ values }: Subscriber) => (values.at(-1) ?? 0) <= newest;
    await Promise.race([
      expect.poll(() => subscribers.filter(isBehind).length, { timeout: 60_000 }).toBe(0),
      Promise.all(reading),
    ]);
  };
  await receiveMore();

  for (const [at, port] of ports.entries()) {
    replicas[at]?.signal('SIGTERM');
    expect(await replicas[at]?.ended).toMatchObject({ code: 0 });
    replicas[at] = await startReplica(port);
    await receiveMore();
  }
  replicas[0]?.signal('SIGKILL');
  await receiveMore();
  leave.abort('enough');

  expect(new Set((await Promise.allSettled(reading)).map((end) => Object(end).reason))).toEqual(
    new Set(['enough']),
  );
  for (const { values } of subscribers) {
    expect(values).toEqual(values.map((_, index) => (values[0] ?? 0) + index));
  }
  const longestPauseMs = Math.max(...subscribers.map((each) => each.longestPauseMs));
  expect(longestPauseMs).toBeLessThan(10_000);
  if (process.env.STREAMS) {
    const received = subscribers.reduce((sum, { values }) => sum + values.length, 0);
    console.log(`${received} events; longest pause ${Math.round(longestPauseMs)} ms`);
  }
});
