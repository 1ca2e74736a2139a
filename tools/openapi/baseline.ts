import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** The OpenAPI documents of a release. */
export interface Baseline {
  /** A tag, a commit or a folder. */
  readonly name: string;
  /** By path, `services/users/openapi/v1.json`: the file, or `commit:path` in git. */
  readonly documents: ReadonlyMap<string, string>;
}

const PATTERN = 'services/*/openapi/v*.json';

/**
 * Finds the documents of `against`, a git reference or a folder with a checkout; without it, those of
 * the newest release, which is the highest tag such as `v1.2.0`. Returns undefined if there is no release.
 *
 * @throws {Error} if `against` is neither
 */
export function readBaseline(root: string, against: string): Baseline | undefined {
  if (against && fs.existsSync(path.join(against, 'services'))) {
    const files = findDocuments(against);
    return {
      name: against,
      documents: new Map(files.map((file) => [file, path.resolve(against, file)])),
    };
  }
  const name = against || newestRelease(root);
  if (!name) return undefined;
  const commit = git(
    root,
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${name}^{commit}`,
  );
  if (!commit) {
    throw new Error(
      `Cannot compare with "${name}": expected a tag, a commit or a folder with services/`,
    );
  }
  const files = (git(root, 'ls-tree', '-r', '--name-only', commit, '--', 'services') ?? '').split(
    '\n',
  );
  const documents = files
    .filter((file) => path.matchesGlob(file, PATTERN))
    .map((file) => [file, `${commit}:./${file}`] as const);
  return { name, documents: new Map(documents) };
}

/** The documents of the checkout in `root`, as paths below it. */
export function findDocuments(root: string): string[] {
  return fs.globSync(PATTERN, { cwd: root }).sort();
}

function newestRelease(root: string): string | undefined {
  const tags =
    git(root, 'tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname') ?? '';
  return tags.split('\n').find((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
}

/** The output of git; undefined if git fails or is missing. */
function git(root: string, ...args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 ** 2,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}
