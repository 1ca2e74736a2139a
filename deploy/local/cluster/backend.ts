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
  const problem = (await problemWithKind()) ?? (await problemWithNodeImage(nodeImageOf(env), log));
  if (name) {
    if (problem) throw new Error(`BACKEND is kind, but ${problem}`);
    return { name, why };
  }
  return problem
    ? { name: 'processes', why: problem }
    : { name: 'kind', why: 'a Docker engine and kind are available (BACKEND=processes: without)' };
}

async function problemWithKind(): Promise<string | undefined> {
  const [docker, kind, kubectl, helm] = await Promise.all([
    problemOf('docker', ['version', '--format', '{{.Server.Version}}']),
    problemOf('kind', ['version']),
    problemOf('kubectl', ['version', '--client']),
    problemOf('helm', ['version']),
  ]);
  if (kind === 'ENOENT') return 'kind is not on the PATH (https://kind.sigs.k8s.io)';
  if (docker === 'ENOENT') return 'docker is not on the PATH';
  if (kubectl === 'ENOENT') return 'kubectl is not on the PATH';
  if (docker) return `no Docker engine responds: ${docker}`;
  if (kind) return `kind does not run: ${kind}`;
  return helm && 'helm is not on the PATH (https://helm.sh/docs/intro/install)';
}

/** Why a program does not run; `ENOENT` if it is missing. */
async function problemOf(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    await runProgram(program, args, { signal: AbortSignal.timeout(10_000) });
    return undefined;
  } catch (error) {
    const { cause, name } = error as Error;
    if (name === 'TimeoutError') return 'no response in 10 s';
    return (cause as NodeJS.ErrnoException)?.code === 'ENOENT' ? 'ENOENT' : reasonOf(error);
  }
}

/** Pulls the node image of kind, if it is missing. */
async function problemWithNodeImage(
  image: string,
  log: (line: string) => void,
): Promise<string | undefined> {
  try {
    await ensureImage(image, log);
    return undefined;
  } catch (error) {
    return `the node image of kind, ${image.split('@')[0]}, is unavailable: ${reasonOf(error)}`;
  }
}
