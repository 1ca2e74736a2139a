/*
 * Measures one router with one set of routes: `node server.ts <router> <size>`. For each message
 * from its parent it sends the nanoseconds of CPU time per lookup, by kind of route.
 */
import { Bench } from 'tinybench';

import { serveParent } from '../measured.ts';
import { createEmpty, ROUTERS, type RouterUnderTest } from './peers.ts';
import { createRoutes, createTargets, KINDS, type Kind, type Target } from './routes.ts';

const ROUND_MS = 40;
const LOOKUPS_PER_SAMPLE = 1_000;
/** Some routers generate code per route, which V8 compiles late. */
const WARMUP_PER_PATH = 400;

type Params = ReturnType<RouterUnderTest<unknown>['paramsOf']>;

/** Reads the parameters of a match by fixed names, as a handler does; returns their total length. */
const READ: Readonly<Partial<Record<Kind, (params: Params) => number>>> = {
  parameter: (params) => length(params.id),
  '3 parameters in 6 segments': (params) =>
    length(params.id) + length(params.orderId) + length(params.itemId),
  wildcard: (params) => length(params['*']),
};

function length(text: string | undefined): number {
  return text === undefined ? 0 : text.length;
}

const [name, sizeText] = process.argv.slice(2);
if (!name || !sizeText) throw new Error('Usage: server.ts <router> <size>');

const routes = createRoutes(Number(sizeText));
const create = ROUTERS[name]?.create ?? createEmpty;
const router: RouterUnderTest<unknown> = create(routes);
const targets = KINDS.map((kind) => createTargets(kind, routes));
if (name !== 'empty') for (const target of targets.flat()) check(router, target);

const lookups = KINDS.map((kind, index) => {
  const paths = (targets[index] ?? []).map(({ path }) => path);
  const nextPath = createPathSource(paths);
  return {
    kind,
    pathCount: paths.length,
    run: () => lookUp(nextPath, READ[kind]),
  };
});
// Two passes: each kind runs with the type feedback of the others, as in a server.
for (let pass = 0; pass < 2; pass++) {
  for (const { pathCount, run } of lookups) {
    const samples = (pathCount * WARMUP_PER_PATH) / LOOKUPS_PER_SAMPLE;
    const endMs = performance.now() + 1_000;
    for (let sample = 0; sample < samples && performance.now() < endMs; sample++) run();
  }
}

serveParent('ready', measure);

/** CPU time in milliseconds: other programs on the machine do not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function measure(): number[] {
  const bench = new Bench({ now: cpuMs, time: ROUND_MS, warmup: false, throws: true });
  for (const { kind, run } of lookups) bench.add(kind, run);
  return bench.runSync().map(({ result }) => {
    if (result.state !== 'completed') throw new Error(`The measurement is ${result.state}`);
    return (result.latency.mean * 1e6) / LOOKUPS_PER_SAMPLE;
  });
}

/** Returns a sum, so that V8 cannot optimise the reads away. */
function lookUp(nextPath: () => string, read: (typeof READ)[Kind]): number {
  let sum = 0;
  for (let lookup = 0; lookup < LOOKUPS_PER_SAMPLE; lookup++) {
    const match = router.find('GET', nextPath());
    if (!match) continue;
    sum += router.routeOf(match).path.length;
    if (read) sum += read(router.paramsOf(match));
  }
  return sum;
}

/**
 * Returns the paths in turn. Each call creates a new string from bytes, as an HTTP parser does; its
 * hash is not computed yet. With reused strings, routers with a map would look faster than they are.
 */
function createPathSource(paths: readonly string[]): () => string {
  const bytes = Buffer.from(paths.join(''), 'latin1');
  const starts = new Int32Array(paths.length + 1);
  for (const [index, path] of paths.entries()) {
    starts[index + 1] = (starts[index] ?? 0) + path.length;
  }
  let index = 0;
  return () => {
    const path = bytes.toString('latin1', starts[index], starts[index + 1]);
    index = index + 1 === paths.length ? 0 : index + 1;
    return path;
  };
}

/** Checks route and parameter values before the measurement. */
function check(router: RouterUnderTest<unknown>, { path, route, values }: Target): void {
  const match = router.find('GET', path);
  const found = match ? router.routeOf(match).path : undefined;
  if (found !== route?.path) throw new Error(`${path} finds ${found} instead of ${route?.path}`);
  if (!match || !route) return;
  const names = route.path.match(/(?<=:)\w+|\*/g) ?? [];
  for (const [index, value] of values.entries()) {
    const read = router.paramsOf(match)[names[index] ?? ''];
    if (read !== value) throw new Error(`${path} reads "${read}" instead of "${value}"`);
  }
}
