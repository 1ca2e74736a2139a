import { readConfig } from '@fw/service';
import { startPostgres } from '@fw/service/testing/postgres';
import { VARIABLES } from '@fw/users/src/config.ts';
import { openStore } from '@fw/users/src/store/open.ts';
import type { User } from '@fw/users/src/user.ts';
import pg from 'pg';
import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median, rotate } from '../deploy/local/testing/statistics.ts';
import { readCount, readOptions, runAsProgram } from './options.ts';
import { LOAD_CORE, MEASURED_CORE, pinThisProcess } from './process.ts';
import { describeEnvironment, environmentLines, publish } from './report.ts';

const HELP = `Compares inserts and reads of the users store on PostgreSQL with unnamed statements of pg.

  --rounds 7   measured rounds
  --out DIR    folder of the JSON file with every sample (default .local/bench)
`;

const IN_FLIGHT = 16;
const ROUND_MS = 700;
const POOL_SIZE = 10;

/** Every commit is written to disk before it is acknowledged, as in production. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };

interface StoreUnderTest {
  readonly name: string;
  insert(user: User): Promise<unknown>;
  get(id: string): Promise<unknown>;
  close(): Promise<void>;
}

interface Sample {
  readonly store: string;
  readonly work: 'insert' | 'get';
  readonly round: number;
  readonly perSecond: number;
}

/** Measures the store of the users service and prints a report. */
export async function runStores(args: readonly string[]): Promise<void> {
  const values = readOptions(args, HELP, { rounds: { type: 'string', default: '7' } });
  if (!values) return;
  const rounds = readCount('rounds', values.rounds);
  pinThisProcess(LOAD_CORE);
  const server = await startPostgres({ settings: DURABLE });
  pinThisProcess(MEASURED_CORE);
  const stores: StoreUnderTest[] = [];
  try {
    stores.push(await openOurs(await server.createDatabase()));
    stores.push(await openUnnamed(await server.createDatabase()));
    const samples: Sample[] = [];
    // Round 0 is the warm-up.
    for (let round = 0; round <= rounds; round++) {
      process.stderr.write(`stores, round ${round} of ${rounds}\n`);
      for (const store of rotate(stores, round)) {
        samples.push(...(await measure(store, round)));
      }
    }
    const measured = samples.filter(({ round }) => round > 0);
    const environment = describeEnvironment(['pg']);
    publish(
      {
        name: 'stores',
        markdown: [
          environmentLines(environment),
          `Operations per second, ${IN_FLIGHT} in flight, ${POOL_SIZE} connections, every commit synced; medians of ${rounds} rounds. The ratio is to pg in the same round: more is better.`,
          toTable(measured),
        ].join('\n\n'),
        data: { environment, rounds, samples: measured },
      },
      { isComplete: true, out: values.out },
    );
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  }
}

async function openOurs(url: string): Promise<StoreUnderTest> {
  const store = await openStore(readConfig(VARIABLES, { DATABASE_URL: url }));
  await store.migrate();
  return {
    name: 'users store',
    insert: (user) => store.insert(user),
    get: (id) => store.find(id),
    close: () => store.close(),
  };
}

const INSERT = `INSERT INTO users (id, name, email, claims_email, created_at, updated_at)
  VALUES ($1, $2, $3, false, $4, $5)`;
const SELECT = `SELECT position, id, name, email, created_at, updated_at, version
  FROM users WHERE id = $1`;

/** Plain pg with the same tables and unnamed statements. */
async function openUnnamed(url: string): Promise<StoreUnderTest> {
  await (await openOurs(url)).close();
  const pool = new pg.Pool({ connectionString: url, max: POOL_SIZE });
  return {
    name: 'unnamed pg',
    insert: ({ id, name, email, createdAt, updatedAt }) =>
      pool.query(INSERT, [id, name, email, createdAt, updatedAt]),
    get: async (id) => (await pool.query(SELECT, [id])).rows[0],
    close: () => pool.end(),
  };
}

async function measure(store: StoreUnderTest, round: number): Promise<readonly Sample[]> {
  const ids: string[] = [];
  const inserts = await perSecond(async () => {
    const user = newUser();
    await store.insert(user);
    ids.push(user.id);
  });
  const gets = await perSecond(async () => {
    const id = ids[Math.floor(Math.random() * ids.length)] ?? '';
    if (!(await store.get(id))) throw new Error(`${store.name} cannot find the user ${id}`);
  });
  return [
    { store: store.name, work: 'insert', round, perSecond: inserts },
    { store: store.name, work: 'get', round, perSecond: gets },
  ];
}

async function perSecond(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  let count = 0;
  const worker = async () => {
    while (performance.now() < startedMs + ROUND_MS) {
      await work();
      count++;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return (count * 1_000) / (performance.now() - startedMs);
}

let created = 0;

function newUser(): User {
  const createdAt = new Date();
  const email = `user.${created++}@example.org`;
  const id = crypto.randomUUID();
  return { id, name: 'Ada Lovelace', email, createdAt, updatedAt: createdAt, version: 1 };
}

function toTable(samples: readonly Sample[]): string {
  const rows = [...Map.groupBy(samples, ({ work }) => work)].map(([work, own]) => {
    const of = (name: string) => own.filter(({ store }) => store === name);
    const ratios = of('users store').map((sample) => {
      const peer = of('unnamed pg').find(({ round }) => round === sample.round);
      return sample.perSecond / (peer?.perSecond ?? Number.NaN);
    });
    const medianOf = (name: string) => median(of(name).map((each) => each.perSecond)).toFixed();
    return [work, median(ratios).toFixed(2), medianOf('users store'), medianOf('unnamed pg')];
  });
  return markdownTable(['', 'ratio', 'users store /s', 'unnamed pg /s'], rows);
}

if (import.meta.main) await runAsProgram(runStores);
