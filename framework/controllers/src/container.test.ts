import { listen } from '@fw/core';
import { request } from '@fw/core/testing';
import { afterEach, describe, expect, test } from 'vitest';

import { Controller, Get, inject, Service, type Type } from './index.ts';
import { bodyOf, serve } from './testing/serve.ts';

describe('dependencies', () => {
  let built: string[] = [];
  afterEach(() => {
    built = [];
  });

  @Service()
  class Clock {
    readonly now = 42;
    constructor() {
      built.push('Clock');
    }
  }

  @Service({ deps: [Clock] })
  class Log {
    readonly clock: Clock;
    constructor(clock: Clock) {
      built.push('Log');
      this.clock = clock;
    }
  }

  test('are created once, before the server starts, and only if they are injected', async () => {
    @Service()
    class Unused {
      constructor() {
        built.push('Unused');
      }
    }
    @Service({ deps: [Log] })
    @Controller()
    class Main {
      readonly clock = inject(Clock);
      readonly log: Log;
      constructor(log: Log) {
        this.log = log;
      }
      @Get() get() {
        return { same: this.log.clock === this.clock, now: this.clock.now, unused: Unused.name };
      }
    }
    const { app } = serve({ controllers: [Main] });

    const { close } = await listen(app, 0);
    expect(built.sort()).toEqual(['Clock', 'Log']);
    const responses = [await request(app, '/'), await request(app, '/')];

    expect(await responses[1]?.json()).toEqual({ same: true, now: 42, unused: 'Unused' });
    expect(built).toHaveLength(2);
    await close();
  });

  test('of scope "request" are built anew for each request, and shared within it', async () => {
    let count = 0;
    @Service({ scope: 'request' })
    class Unit {
      readonly id = ++count;
      readonly clock = inject(Clock);
    }
    @Service({ scope: 'request', deps: [Unit] })
    @Controller()
    class Main {
      readonly second = inject(Unit);
      readonly first: Unit;
      constructor(first: Unit) {
        this.first = first;
      }
      @Get() get() {
        return { id: this.first.id, shared: this.first === this.second };
      }
    }
    const { app } = serve({ controllers: [Main] });

    const first = (await (await request(app, '/')).json()) as { id: number };
    const second = (await (await request(app, '/')).json()) as { id: number };

    expect(first).toMatchObject({ shared: true });
    expect(second.id).toBe(first.id + 1);
    expect(built).toEqual(['Clock']);
  });

  test('are read from emitted metadata, if available', async () => {
    @Controller()
    class Main {
      readonly clock: Clock;
      constructor(clock: Clock) {
        this.clock = clock;
      }
      @Get() get() {
        return { now: this.clock.now };
      }
    }
    Object.assign(Reflect, {
      getMetadata: (key: string, type: object) =>
        key === 'design:paramtypes' && type === Main ? [Clock] : undefined,
    });
    try {
      expect(await bodyOf(Main)).toEqual({ now: 42 });
    } finally {
      Reflect.deleteProperty(Reflect, 'getMetadata');
    }
  });

  test('that are provided are not built', async () => {
    abstract class Store {
      abstract name: string;
    }
    @Controller()
    class Main {
      readonly store = inject(Store);
      @Get() get() {
        return { name: this.store.name };
      }
    }
    const { app } = serve({ controllers: [Main], provide: [[Store, { name: 'given' }]] });

    expect(await (await request(app, '/')).json()).toEqual({ name: 'given' });
  });

  test('of a base class are those of a class that inherits its constructor', async () => {
    @Service()
    class Special extends Log {}
    @Controller()
    class Main {
      readonly special = inject(Special);
      @Get() get() {
        return { now: this.special.clock.now };
      }
    }

    expect(await bodyOf(Main)).toEqual({ now: 42 });
  });
});

describe('an error names the chain', () => {
  class Unmarked {}
  @Service()
  class Ring {
    readonly next: unknown = inject(Round);
  }
  @Service()
  class Round {
    readonly next: unknown = inject(Ring);
  }
  @Service()
  class Middle {
    readonly unmarked = inject(Unmarked);
  }
  @Service()
  class Unnamed {
    readonly given: unknown;
    constructor(given: unknown) {
      this.given = given;
    }
  }
  @Service({ scope: 'request' })
  class Brief {}

  function controllerWith(type: Type, scope: 'singleton' | 'request' = 'singleton'): Type {
    @Service({ scope })
    @Controller()
    class Main {
      readonly dependency = inject(type);
      @Get() get() {
        return {};
      }
    }
    return Main;
  }

  test.each<[string, Type, string]>([
    [
      'for a missing dependency',
      controllerWith(Middle),
      'Missing dependency: Main → Middle → Unmarked: expected Unmarked to be a class marked',
    ],
    [
      'for a missing dependency of a class of scope "request"',
      controllerWith(Middle, 'request'),
      'Missing dependency: Main → Middle → Unmarked',
    ],
    [
      'for a circular dependency',
      controllerWith(Ring),
      'Circular dependency: Main → Ring → Round → Ring',
    ],
    [
      'for an argument that nothing names',
      controllerWith(Unnamed),
      'Missing dependency: Main → Unnamed: expected @Service({ deps }) to name the 1 arguments',
    ],
    [
      'for a singleton that depends on a class of scope "request"',
      controllerWith(Brief),
      'Cannot build Main → Brief: Main is built once, expected scope "request"',
    ],
  ])('%s', async (_, type, message) => {
    const { app } = serve({ controllers: [type] });

    await expect(listen(app, 0)).rejects.toThrow(message);
  });
});
