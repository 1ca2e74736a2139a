import fs from 'node:fs';

import { secretFile } from '../local/token.ts';
import type { Environment } from './lib/variables.ts';

/** Reads the address of the system, without a final slash. @throws {Error} if it is not an http address */
export function readBase(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url.origin + url.pathname.replace(/\/+$/, '');
  throw new Error(`BASE is "${text}": expected an address such as http://localhost:8080`);
}

/** @throws {Error} if no server responds at `origin` */
export async function requireResponse(origin: string): Promise<void> {
  try {
    const response = await fetch(origin, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
  } catch (error) {
    const { cause = error } = error as Error;
    const reason = cause instanceof Error ? cause.message : cause;
    throw new Error(
      `Cannot reach ${origin} (${reason}): start the system with "make up" or set BASE`,
      { cause: error },
    );
  }
}

/**
 * The variables for tokens: those in `env`, else the secret of the local system in `run`.
 *
 * @throws {Error} if there is neither
 */
export function readCredentials(
  origin: string,
  { env, run }: { readonly env: Environment; readonly run: string },
): Environment {
  if (env.TOKEN || env.JWT_SECRET) return {};
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname);
  const file = secretFile(run);
  if (isLocal && fs.existsSync(file)) return { JWT_SECRET: fs.readFileSync(file, 'utf8').trim() };
  const start = isLocal ? 'start the system with "make up", or ' : '';
  throw new Error(`Cannot request reports from ${origin}: ${start}set TOKEN or JWT_SECRET`);
}
