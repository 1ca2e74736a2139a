/** The column of users with the name, and its name in the next release. */
export const COLUMN = { old: 'name', new: 'display_name' } as const;

/** The parts of the statements of users in which the column `name` appears. */
export const PHRASES = [
  'INSERT INTO users (id, name, email',
  'position, id, name, email, created_at',
  'SET name = coalesce($2, name)',
  'octet_length(name)',
  'THEN name END AS name',
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
  if (phrase.startsWith('THEN')) return phrase.replace('name', 'display_name');
  return phrase.replaceAll(/\bname\b/g, 'display_name');
}
