import fs from 'node:fs';
import { resolve } from 'node:path';

import { type Context, type Middleware, markFactories } from '@fw/core';
import { createPrefixTest, readPattern, setCacheDefault } from '@fw/core/extension';
import {
  aBoolean,
  aString,
  aWholeNumber,
  badOption,
  readOptions,
  required,
} from '@fw/core/options';
import { addVary, isCompressibleType } from '../shared/response-headers.ts';
import { contentTypeOf } from './content-type.ts';
import { createFileFinder, readSegments } from './find-file.ts';
import { respondWithFile } from './respond.ts';

export { type SendFileOptions, sendFile } from './send-file.ts';

export interface StaticFilesOptions {
  /** The folder, absolute or relative to the working directory. */
  readonly root: string;
  /** The path prefix under which the files are served. Default `/`. */
  readonly prefix?: string;
  /** How long browsers use a file without a request, in seconds. Default 0: they always revalidate. */
  readonly maxAgeSeconds?: number;
  /** Whether files never change, so that browsers do not revalidate them on reload. Default false. */
  readonly immutable?: boolean;
  /** Sends `name.br`, `name.zst` or `name.gz` instead of `name` to clients that accept it. Default false. */
  readonly precompressed?: boolean;
}

const MAX_AGE_SECONDS = 365 * 86_400;

/**
 * Serves the files of a folder for GET and HEAD: types, entity tags, 304, ranges and `index.html`. Other
 * requests continue with `next()`.
 *
 * ```ts
 * app.use(staticFiles({ root: 'public', prefix: '/assets' }));
 * ```
 *
 * @throws {TypeError} if an option is invalid, or `root` is not an existing folder
 */
export function staticFiles(options: StaticFilesOptions): Middleware {
  const settings = readOptions('staticFiles()', options, {
    root: required(aString),
    prefix: aString,
    maxAgeSeconds: aWholeNumber(0, MAX_AGE_SECONDS),
    immutable: aBoolean,
    precompressed: aBoolean,
  });
  const { maxAgeSeconds = 0, immutable = false, precompressed = false } = settings;
  const age = `max-age=${maxAgeSeconds}${immutable ? ', immutable' : ''}`;
  const { findFile, findPrecompressed } = createFileFinder(readRoot(settings.root));
  const prefix = readPattern(settings.prefix ?? '/', 'Cannot serve static files').replace(
    /\/$/,
    '',
  );
  const isUnderPrefix = createPrefixTest(prefix);

  return async (ctx, next) => {
    const canServe = (ctx.method === 'GET' || ctx.method === 'HEAD') && !ctx.responded;
    if (!canServe || !isUnderPrefix(ctx.path)) return next();
    const segments = readSegments(ctx.path.slice(prefix.length));
    if (!segments) return next();
    const type = contentTypeOf(segments.at(-1) ?? '');
    const isNegotiated = precompressed && isCompressibleType(type);
    const accepted = isNegotiated ? ctx.get('accept-encoding') : undefined;
    const variant = accepted ? await findPrecompressed(segments, accepted) : undefined;
    const file = variant ?? (await findFile(segments));
    if (!file) return next();
    if (file === 'folder') {
      ctx.redirect(`${ctx.path}/${/\?.*/s.exec(ctx.url)?.[0] ?? ''}`, 301);
      return;
    }
    await respondWithFile(ctx, file, () => {
      setCacheDefault(ctx, `${isPersonal(ctx) ? 'private' : 'public'}, ${age}`);
      ctx.set('Content-Type', type);
      if (isNegotiated) addVary(ctx, 'Accept-Encoding');
    });
  };
}

/** Whether the response may depend on the user: a shared cache must not store it. */
function isPersonal(ctx: Context): boolean {
  const { user, session } = ctx.state;
  return ctx.get('authorization') !== undefined || user !== undefined || session !== undefined;
}

/** The folder without symbolic links. */
function readRoot(root: string): string {
  const stats = fs.statSync(root, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return fs.realpathSync(root);
  const expected = 'an existing folder';
  throw badOption('staticFiles()', { name: 'root', value: resolve(root), expected });
}

markFactories({ staticFiles });
