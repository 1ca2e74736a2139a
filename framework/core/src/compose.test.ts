import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, onTestFinished, test } from 'vitest';

import { createApp } from './application.ts';
import { compose } from './compose.ts';
import type { Context, Middleware, Next } from './context.ts';
import { recordLog, request } from './testing/index.ts';

/** The body of a middleware; `goOn` calls the next one. */
type Body = (ctx: Context, goOn: Next) => unknown;

/** The two forms of middleware; all tables apply to both. */
const FORMS: readonly (readonly [string, (body: Body) => Middleware])[] = [
  ['next', (body) => (ctx, next) => body(ctx, next)],
  ['ctx.next', (body) => (ctx) => body(ctx, () => ctx.next())],
];

/** A thenable, like the promises of other libraries. */
function thenable(then: (resolve: () => void, reject: (error: Error) => void) => void): object {
  return { then };
}

const twice = 'next() called multiple times';

/** Runs `layers` for one request; returns the status and what was logged. */
async function run(...layers: Middleware[]) {
  const { logger, errors, problems } = recordLog();
  const { status } = await request(createApp({ logger }).use(...layers), '/');
  await sleep(20);
  return { status, logged: errors.map(String), problems };
}

describe.each(FORMS)('middleware that calls %s()', (_, write) => {
  test.each<readonly [string, Body, string]>([
    ['awaits it', async (_ctx, goOn) => void (await goOn()), 'abcba'],
    ['returns it', (_ctx, goOn) => goOn(), 'abcba'],
    ['calls it only', (_ctx, goOn) => void goOn(), 'abcba'],
    ['waits before it', async (_ctx, goOn) => sleep(5).then(goOn), 'abcba'],
    ['returns a thenable', (_ctx, goOn) => thenable((done) => void goOn().then(done)), 'abcba'],
    ['never calls it', () => {}, 'aa'],
  ])('runs inwards and then outwards if the middle one %s', async (_, middle, expected) => {
    let steps = '';
    const around = (name: string) =>
      write(async (_ctx, goOn) => {
        steps += name;
        await goOn();
        steps += name;
      });
    const last = write(async (ctx) => {
      await sleep(5);
      steps += 'c';
      ctx.json({});
    });

    await run(around('a'), write(middle), around('b'), last);

    expect(steps).toBe(expected);
  });

  test.each(
    Object.entries<Body>({
      'awaits both': async (_ctx, goOn) => {
        await goOn();
        await goOn();
      },
      'returns the second': (_ctx, goOn) => {
        goOn();
        return goOn();
      },
      'is synchronous and awaits neither': (_ctx, goOn) => {
        goOn();
        goOn();
      },
      'awaits both at once': (_ctx, goOn) => Promise.all([goOn(), goOn()]),
      'chains them': (_ctx, goOn) => goOn().then(goOn),
    }),
  )('twice gets 500 if it %s', async (_, body) => {
    let downstreamRuns = 0;
    const last = write(async (ctx) => {
      downstreamRuns++;
      await sleep(5);
      ctx.json({});
    });

    const between = write(async (_ctx, goOn) => {
      await sleep(1);
      await goOn();
    });

    const { status, logged } = await run(write(body), between, last);

    expect(status).toBe(500);
    expect(logged).toEqual([`Error: ${twice}`]);
    expect(downstreamRuns).toBe(1);
  });

  test.each(
    Object.entries<Body>({
      'awaits only the first': async (_ctx, goOn) => {
        await goOn();
        goOn();
      },
      'awaits neither': async (_ctx, goOn) => {
        goOn();
        goOn();
      },
      'catches the rejection': async (_ctx, goOn) => {
        await goOn();
        await goOn().catch((error: Error) => expect(error.message).toBe(twice));
      },
    }),
  )('twice is logged if an asynchronous layer %s', async (_, body) => {
    const { status, logged } = await run(write(body), (ctx) => ctx.json({}));

    expect(logged).toEqual([`Error: ${twice}`]);
    expect(status).toBe(200);
  });

  test('after an await can be caught by the layer: no rejection remains unhandled', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const rescue = write(async (ctx, goOn) => {
      await sleep(1);
      await goOn().catch(() => ctx.send('rescued'));
    });

    const { status } = await run(rescue, async () => {
      throw new Error('failed');
    });

    expect(status).toBe(200);
    expect(unhandled).toEqual([]);
  });

  test('twice rejects in the layer that awaited it, through layers that returned next()', async () => {
    const steps: string[] = [];
    const outer = write(async (_ctx, goOn) => {
      await goOn();
      await goOn().catch((error: Error) => steps.push(error.message));
    });
    const passOn = write((_ctx, goOn) => goOn());
    const slow = write(async (_ctx, goOn) => {
      await sleep(2);
      steps.push('inner');
      await goOn();
    });

    const { logged } = await run(outer, passOn, passOn, slow, (ctx) => ctx.json({}));

    expect(steps).toEqual(['inner', twice]);
    expect(logged).toEqual([`Error: ${twice}`]);
  });

  test('calls its own next() again after an inner layer has finished', async () => {
    const steps: number[] = [];
    const layer = (depth: number) =>
      write(async (_ctx, goOn) => {
        steps.push(depth);
        await goOn();
        await sleep(1);
        await goOn().catch(() => steps.push(-depth));
      });

    await run(layer(1), layer(2), layer(3), (ctx) => ctx.json({}));

    expect(steps).toEqual([1, 2, 3, -3, -2, -1]);
  });

  test.each(
    Object.entries<Body>({
      'thrown synchronously': () => {
        throw new Error('broken');
      },
      'thrown asynchronously': async () => {
        await sleep(2);
        throw new Error('broken');
      },
      'a rejection': () => Promise.reject(new Error('broken')),
      'a rejected thenable': () => thenable((_resolve, reject) => reject(new Error('broken'))),
    }),
  )('propagates an error that is %s through every kind of layer', async (_, failing) => {
    const seen: string[] = [];
    const watching = write(async (_ctx, goOn) => {
      try {
        await goOn();
      } catch (error) {
        seen.push(String(error));
        throw error;
      }
    });

    const { status, logged } = await run(
      watching,
      write((_ctx, goOn) => goOn()),
      write((_ctx, goOn) => void goOn()),
      write(async (_ctx, goOn) => goOn()),
      watching,
      write(failing),
    );

    expect(seen).toEqual(['Error: broken', 'Error: broken']);
    expect(status).toBe(500);
    expect(logged).toEqual(['Error: broken']);
  });

  test('that is not awaited is logged if it fails after the response', async () => {
    const { status, logged, problems } = await run(
      write(async (_ctx, goOn) => void goOn()),
      async () => {
        await sleep(5);
        throw new Error('broken downstream');
      },
    );

    expect(status).toBe(404);
    expect(problems).toEqual(['error: A middleware failed after the response was sent']);
    expect(logged).toEqual(['Error: broken downstream']);
  });

  test('can set headers and the status after next()', async () => {
    const app = createApp()
      .use(
        write(async (ctx, goOn) => {
          await goOn();
          ctx.set('X-After', 'yes');
          ctx.status = 202;
        }),
      )
      .use((ctx) => ctx.json({}));

    const response = await request(app, '/');

    expect(response.headers.get('x-after')).toBe('yes');
    expect(response.status).toBe(202);
  });

  test('is synchronous if every layer is', () => {
    const steps: string[] = [];
    const chain = compose([
      write((_ctx, goOn) => {
        steps.push('a');
        return goOn();
      }),
      write((_ctx, goOn) => {
        steps.push('b');
        goOn();
        steps.push('b');
      }),
    ]);
    const app = createApp().use((ctx, next) => {
      chain(ctx, next);
      steps.push('end');
      ctx.json({});
    });

    return request(app, '/').then(() => expect(steps).toEqual(['a', 'b', 'b', 'end']));
  });
});

test('a repeated next() is logged for each layer that returned the first one', async () => {
  const outer: Middleware = async (_ctx, next) => next();
  const passOn: Middleware = (_ctx, next) => {
    setTimeout(next, 2);
    return next();
  };

  const { status, logged } = await run(outer, passOn, passOn, async (ctx) => {
    await sleep(10);
    ctx.json({});
  });

  expect(status).toBe(200);
  expect(logged).toEqual([`Error: ${twice}`, `Error: ${twice}`]);
});

test('compose rejects a layer that is not a function', () => {
  const layers = [() => {}, 'text' as unknown as Middleware];

  expect(() => compose(layers)).toThrow(
    new TypeError('Cannot compose "text": expected a middleware function'),
  );
});
