import { foldCase } from '../request/path.ts';

import { joinPaths } from './pattern.ts';

/*
 * The prefix rule. The prefix of a prefix group counts once: where a router is mounted at a path that
 * ends in it, the prefix is not repeated. `prefixGroup('/api')` on a router that is mounted at `/api`
 * serves `/api/users`, and so it does on a router that is mounted at `/`.
 */

export interface JoinOptions {
  /** The start of the path that comes from a prefix group. Default: none. */
  readonly groupPrefix?: string | undefined;
  readonly caseSensitive: boolean;
}

/** `path` under `parent`, without its group prefix if `parent` ends in that. */
export function joinBelow(
  parent: string,
  path: string,
  { groupPrefix, caseSensitive }: JoinOptions,
): string {
  const fold = caseSensitive ? (text: string) => text : foldCase;
  const isRepeated =
    groupPrefix !== undefined &&
    path.startsWith(groupPrefix) &&
    fold(parent).endsWith(fold(groupPrefix));
  return joinPaths(parent, isRepeated ? path.slice(groupPrefix.length) || '/' : path);
}
