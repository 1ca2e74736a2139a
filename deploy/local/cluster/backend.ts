import { ensureImage, nodeImageOf } from './kind.ts';
import { reasonOf, runProgram } from './program.ts';

const NAMES = ['processes', 'kind'] as const;

/** Where the system runs: as processes of this machine, or on a kind cluster. */
export type BackendName = (typeof NAMES)[number];

/** A backend, and the reason for it as the end of a sentence. */
export interface Choice {
  readonly name: BackendName;
  readonly why: string;
}

export interface ChoiceOptions {
  /** The value of `BACKEND`; empty: choose. */
  readonly wanted: string;
  /** The backend of the running system. */
  readonly running: BackendName | undefined;
  /** `KIND_IMAGE` replaces the node image of kind. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
}

/**
 * Chooses the backend: the running one, else `wanted`, else kind if this machine can run it.
 *
 * @throws {Error} if `wanted` is unknown, cannot be used, or another backend runs
 */
export async function chooseBackend({ wanted, running, env, log }: ChoiceOptions): Promise<Choice> {
  const name = NAMES.find((one) => one === wanted);
  if (wanted !== '' && !name) {
    throw new Error(`BACKEND is "${wanted}": expected ${NAMES.join(', ')}`);
  }
  if (running) {
    if (!name || name === running) return { name: running, why: 'it runs there already' };
    throw new Error(`The system runs on ${running}: "make down" first, then BACKEND=${name}`);
  }
  const why = `BACKEND is ${wanted}`;
  if (name === 'processes') return { name, why };
  const problem = await problemWithKind(nodeImageOf(env), log);
  if (name) {
    if (problem) throw new Error(`BACKEND is kind, but ${problem}`);
    return { name, why };
  }
  return problem
    ? { name: 'processes', why: problem }
    : { name: 'kind', why: 'a Docker engine and kind are available (BACKEND=processes: without)' };
}

/** Commands that fail if a program is missing, or if no Docker engine responds. */
const CHECKS = [
  ['kind', 'version'],
  ['docker', 'version'],
  ['kubectl', 'version', '--client'],
  ['helm', 'version'],
] as const;

/** Why kind cannot run here; pulls its node image, if it is missing. */
async function problemWithKind(
  image: string,
  log: (line: string) => void,
): Promise<string | undefined> {
  try {
    for (const [program, ...args] of CHECKS) await runProgram(program, args, { seconds: 10 });
  } catch (error) {
    return reasonOf(error);
  }
  return ensureImage(image, log).then(
    () => undefined,
    (error) => `the node image of kind, ${image.split('@')[0]}, is unavailable: ${reasonOf(error)}`,
  );
}
