/** What the deployment and the tests know about a service. */
interface ServiceDescription {
  /** The folder in `services/`, the image `fw-<name>`, the chart, and the path `/api/v1/<name>`. */
  readonly name: string;
  /**
   * Number of processes with the backend `processes`; their ports follow that of the edge in the order of
   * the list. On a cluster, the chart decides.
   */
  readonly replicas: number;
  /** The versions of the API: `/api/v1/<name>`. All but the last one are deprecated. */
  readonly versions: readonly ('v1' | 'v2')[];
  /** `database`: SQLite or PostgreSQL (`DATABASE_URL`). `counters`: memory or Redis (`REDIS_URL`). */
  readonly store: 'database' | 'counters';
  /** Whether requests need a bearer token. */
  readonly authenticated: boolean;
  /** The share of its journey in the load of k6, relative to the other services. */
  readonly loadShare: number;
  /** The services that it calls, at the addresses in `<NAME>_URL`. */
  readonly calls: readonly string[];
}

/** The only list of the services, from which everything else derives. A service follows those that it calls. */
export const SERVICES = [
  {
    name: 'users',
    replicas: 2,
    versions: ['v1', 'v2'],
    store: 'database',
    authenticated: false,
    loadShare: 20,
    calls: [],
  },
  {
    name: 'catalog',
    replicas: 2,
    versions: ['v1', 'v2'],
    store: 'database',
    authenticated: false,
    loadShare: 50,
    calls: [],
  },
  {
    name: 'reports',
    replicas: 1,
    versions: ['v1', 'v2'],
    store: 'counters',
    authenticated: true,
    loadShare: 30,
    calls: ['users', 'catalog'],
  },
] as const satisfies readonly ServiceDescription[];

export type ServiceName = (typeof SERVICES)[number]['name'];

/** The names of the services, in the order of their ports. */
export const SERVICE_NAMES: readonly ServiceName[] = SERVICES.map(({ name }) => name);

/** The names of the versions that have a successor. */
export const OLD_VERSIONS: readonly string[] = [
  ...new Set(SERVICES.flatMap(({ versions }) => versions.slice(0, -1))),
];

/** The description of the service `name`. */
export function serviceOf(name: ServiceName): ServiceDescription {
  return SERVICES.find((service) => service.name === name) as ServiceDescription;
}
