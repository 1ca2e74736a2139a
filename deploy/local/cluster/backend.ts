import { runProgram } from './program.ts';
import { reasonOf } from './within.ts';

/** What the system runs on: this machine's processes, a cluster made for it, or one that is there. */
export type BackendName = 'processes' | 'kind' | 'kubeconfig';

const NAMES: readonly string[] = ['processes', 'kind', 'kubeconfig'] satisfies BackendName[];

/** A backend, and why it is that one, as the end of a sentence. */
export interface Choice {
  readonly name: BackendName;
  readonly why: string;
}

export interface ChoiceOptions {
  /** What the user asks for; nothing leaves the choice to this machine. */
  readonly wanted: string;
  /** What runs already. */
  readonly running: BackendName | undefined;
}

/**
 * Chooses what the system is to run on: what it runs on already, else what the user asks for, else
 * kind where this machine has what it takes.
 *
 * @throws {Error} if `wanted` is none of them, needs what is missing, or another one runs
 */
export async function chooseBackend({ wanted, running }: ChoiceOptions): Promise<Choice> {
  if (wanted !== '' && !isBackend(wanted)) {
    throw new Error(`BACKEND is "${wanted}": expected ${NAMES.join(', ')}`);
  }
  if (running) {
    if (wanted === '' || wanted === running) return { name: running, why: 'it runs there already' };
    throw new Error(`The system runs on ${running}: "make down" first, then BACKEND=${wanted}`);
  }
  if (wanted === 'processes' || wanted === 'kubeconfig') return { name: wanted, why: ASKED };
  const lack = await lackOfKind();
  if (wanted === 'kind') {
    if (lack) throw new Error(`BACKEND is kind, but ${lack}`);
    return { name: wanted, why: ASKED };
  }
  if (lack) return { name: 'processes', why: `${lack} (BACKEND=kubeconfig: a cluster of yours)` };
  return { name: 'kind', why: 'a Docker engine and kind are here (BACKEND=processes: without)' };
}

const ASKED = 'BACKEND says so';

function isBackend(name: string): name is BackendName {
  return NAMES.includes(name);
}

/** What is missing of a Docker engine and kind, if anything is. */
async function lackOfKind(): Promise<string | undefined> {
  const [docker, kind] = await Promise.all([
    isMissing('docker', ['version', '--format', '{{.Server.Version}}']),
    isMissing('kind', ['version']),
  ]);
  if (kind === 'absent') return 'kind is not on the PATH (https://kind.sigs.k8s.io)';
  if (docker === 'absent') return 'docker is not on the PATH';
  if (docker) return `no Docker engine answers: ${docker}`;
  return kind && `kind does not run: ${kind}`;
}

/** How long a program may take to tell its version; one that waits for an engine waits too long. */
const ANSWER_MS = 10_000;

async function isMissing(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    await runProgram(program, args, { signal: AbortSignal.timeout(ANSWER_MS) });
    return undefined;
  } catch (error) {
    const { cause, name } = error as Error;
    if (name === 'TimeoutError') return `no answer in ${ANSWER_MS / 1000} s`;
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return 'absent';
    return reasonOf(error);
  }
}
