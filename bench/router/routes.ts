/** The kinds of routes that are looked up, and a path without a route. */
export const KINDS = [
  'static',
  'parameter',
  '3 parameters in 6 segments',
  'wildcard',
  'miss',
] as const;
export type Kind = (typeof KINDS)[number];

export interface Route {
  readonly kind: Kind;
  /** `:name` is a parameter; a `*` at the end matches the rest of the path. */
  readonly path: string;
}

/** A path to look up and the expected result. */
export interface Target {
  readonly path: string;
  readonly route: Route | undefined;
  /** The values of the parameters, in the order of the path. */
  readonly values: readonly string[];
}

const SHAPES: readonly ((resource: string) => Route)[] = [
  (resource) => ({ kind: 'static', path: `/api/v1/${resource}` }),
  (resource) => ({ kind: 'parameter', path: `/api/v1/${resource}/:id` }),
  (resource) => ({
    kind: '3 parameters in 6 segments',
    path: `/${resource}/:id/orders/:orderId/items/:itemId`,
  }),
  (resource) => ({ kind: 'wildcard', path: `/api/v1/files/${resource}/*` }),
];

/** Creates `size` routes, equally many of each kind. */
export function createRoutes(size: number): readonly Route[] {
  return Array.from({ length: size }, (_, index) => {
    const shape = SHAPES[index % SHAPES.length] ?? SHAPES[0];
    if (!shape) throw new RangeError('Cannot create routes without shapes');
    return shape(resourceName(Math.floor(index / SHAPES.length)));
  });
}

/** At least 1,000 paths that match all routes of one kind, in pseudo-random order. */
export function createTargets(kind: Kind, routes: readonly Route[]): readonly Target[] {
  const random = createRandom(kind.length);
  const sources = kind === 'miss' ? routes : routes.filter((route) => route.kind === kind);
  const rounds = Math.ceil(1_000 / sources.length);
  const targets = Array.from({ length: rounds }, () =>
    sources.map((route) => (kind === 'miss' ? missNear(route, random) : reach(route, random))),
  ).flat();
  return shuffle(targets, random);
}

function reach(route: Route, random: () => number): Target {
  const values: string[] = [];
  const path = route.path.replace(/:\w+|\*/g, (name) => {
    const value = name === '*' ? `images/${number(random)}/logo.png` : number(random);
    values.push(value);
    return value;
  });
  return { path, route, values };
}

/** A path with an unknown resource, with too many segments, or unlike all routes. */
function missNear(route: Route, random: () => number): Target {
  const resource = /[a-z]+\d+/.exec(route.path)?.[0] ?? '';
  const paths = [
    `/api/v1/${resource}x/${number(random)}`,
    `/api/v1/${resource}/${number(random)}/nothing`,
    `/wp-content/${number(random)}/index.php`,
  ];
  return { path: paths[Math.floor(random() * paths.length)] ?? '', route: undefined, values: [] };
}

function number(random: () => number): string {
  return String(1_000 + Math.floor(random() * 99_000));
}

function shuffle<T>(values: readonly T[], random: () => number): readonly T[] {
  return values
    .map((value) => ({ value, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

/** A pseudo-random generator with the same numbers in each run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const NOUNS = (
  'accounts articles carts comments customers devices events invoices messages orders ' +
  'payments products projects reports reviews sessions shipments tickets users warehouses'
).split(' ');

/** The name of a resource, for its routes: `accounts1`, `articles1`, …, `accounts2`, … */
export function resourceName(index: number): string {
  return `${NOUNS[index % NOUNS.length]}${Math.floor(index / NOUNS.length) + 1}`;
}
