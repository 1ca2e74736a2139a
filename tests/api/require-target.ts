import { plainError } from '../plain-error.ts';
import { readTarget, type Target } from './target.ts';

/**
 * Global setup of Vitest: rejects an unknown or unreachable target once, instead of in every test.
 *
 * @throws {Error} in one line that describes what to set or to start
 */
export default async function requireTarget(): Promise<void> {
  const { api } = read();
  try {
    await (await api.get('/')).body?.cancel();
  } catch (error) {
    const { cause } = error as Error;
    throw plainError(
      `Cannot reach ${api.origin}: ${cause instanceof Error ? cause.message : error}`,
    );
  }
}

function read(): Target {
  try {
    return readTarget();
  } catch (error) {
    throw plainError((error as Error).message);
  }
}
