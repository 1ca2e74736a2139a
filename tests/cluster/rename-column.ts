import assert from 'node:assert/strict';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { isReady } from '../../deploy/local/cluster/pod.ts';
import { sql } from './ledger.ts';
import { podsOf } from './pods.ts';
import type { World } from './world.ts';

/** The page whose SQL is run. */
const PAGE = new URL('../../docs/operations/migrations.md', import.meta.url);

/** How long old and new pods serve together: longer than the edge uses one connection. */
const TOGETHER_SECONDS = 20;

/** The column of users with the name, and its name in the next release. */
export const COLUMN = { old: 'name', new: 'display_name' } as const;

export interface Renaming {
  readonly from: string;
  readonly to: string;
  /** Replaces the pods of users: new code uses the column `to`. */
  upgrade(): Promise<void>;
}

/** Reads the SQL of docs/operations/migrations.md, which renames `name` to `display_name`, for other columns. */
function readRenamingSql({ from, to }: Renaming) {
  const blocks = fs.readFileSync(PAGE, 'utf8').matchAll(/^```sql\n(.*?)^```$/gms);
  const [add = '', fill = '', ...rest] = [...blocks].map(([, text = '']) =>
    text.replace(/\b(display_)?name\b/g, (column) => (column === 'name' ? from : to)),
  );
  const [remove = '', compare = '', ...forbidNull] = rest.toReversed();
  assert.equal(forbidNull.length, 3, 'the steps of docs/operations/migrations.md');
  return { add, fill, forbidNull: forbidNull.toReversed(), compare, remove };
}

/** Renames a column of the table of users during requests, as docs/operations/migrations.md describes. */
export async function renameColumn(world: World, renaming: Renaming): Promise<void> {
  const { log } = world;
  const { from, to, upgrade } = renaming;
  const { add, fill, forbidNull, compare, remove } = readRenamingSql(renaming);
  log(`adding the column ${to}, which a trigger keeps equal to ${from}`);
  await alter(world, add);
  log(`filling ${to} with the content of ${from}`);
  await sql(world, fill);
  for (const text of forbidNull) await alter(world, text);
  await serveTogether(world, upgrade);
  assert.deepEqual(await sql(world, compare), ['0'], `rows in which ${from} and ${to} differ`);
  log(`dropping the column ${from}`);
  await alter(world, remove);
}

/** Changes the table; the SQL gives up if it waits for a lock, because requests wait behind it. */
async function alter(world: World, text: string): Promise<void> {
  const { cluster } = world;
  await waitFor({ cluster, what: `the SQL ${text}`, seconds: 60 }, async () => {
    await sql(world, text);
    return true;
  });
}

/** Pauses the upgrade while the first new pod and an old one are ready, and then continues it. */
async function serveTogether(world: World, upgrade: () => Promise<void>): Promise<void> {
  const { cluster, namespace, log } = world;
  const namesOf = async (isIncluded = isReady) =>
    (await podsOf(world, 'users')).filter(isIncluded).map(({ metadata }) => metadata.name);
  const old = new Set(await namesOf(() => true));
  const isNew = (name: string) => !old.has(name);
  const rollout = (action: 'pause' | 'resume') =>
    cluster.kubectl(['rollout', action, 'deployment/fw-users', '--namespace', namespace]);

  log('replacing the first pod of users by one with new code');
  const upgrading = upgrade();
  // A failed step below is reported first.
  upgrading.catch(() => {});
  await waitFor({ cluster, what: 'a new pod of users', seconds: 90, everyMs: 200 }, async () => {
    return (await namesOf(() => true)).some(isNew) || undefined;
  });
  await rollout('pause');
  await waitFor({ cluster, what: 'old and new pods of users', seconds: 90 }, async () => {
    const ready = await namesOf();
    return (ready.some(isNew) && !ready.every(isNew)) || undefined;
  });
  log(`old and new code serve together for ${TOGETHER_SECONDS} s`);
  await sleep(TOGETHER_SECONDS * 1_000, undefined, { signal: cluster.signal });
  await rollout('resume');
  await upgrading;
  // An upgrade does not wait for the end of old pods, which still serve requests.
  await waitFor({ cluster, what: 'the end of the old pods of users', seconds: 90 }, async () => {
    return (await namesOf(() => true)).every(isNew) || undefined;
  });
}

/** The parts of the statements of users in which the column `name` appears. */
const PHRASES = [
  'INSERT INTO users (id, name, email',
  'position, id, name, email, created_at',
  'SET name = coalesce($2, name)',
] as const;

/**
 * With this value of `NODE_OPTIONS`, the image of users runs the code of its next release: while Node loads
 * the code, it changes `name` to the new column in each SQL statement. Responses still contain `name`.
 */
export function nodeOptionsOfNextRelease(): string {
  const changes = PHRASES.map((phrase) => [phrase, renamed(phrase)]);
  const program = `import { registerHooks } from 'node:module';
    const changes = ${JSON.stringify(changes)};
    registerHooks({
      load(url, context, nextLoad) {
        const loaded = nextLoad(url, context);
        if (!url.startsWith('file:///app/dist/') || !loaded.source) return loaded;
        const text = Buffer.from(loaded.source).toString();
        return { ...loaded, source: changes.reduce((all, [old, now]) => all.replaceAll(old, now), text) };
      },
    });`;
  return `--import=data:text/javascript;base64,${Buffer.from(program).toString('base64')}`;
}

/** A phrase with the new column; a selected column keeps its old name in the result. */
function renamed(phrase: string): string {
  if (phrase.startsWith('position')) return phrase.replace('name', 'display_name AS name');
  return phrase.replaceAll(/\bname\b/g, 'display_name');
}
