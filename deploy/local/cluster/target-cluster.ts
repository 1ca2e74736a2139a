import type { Folders } from '../state.ts';
import type { ClusterRecord } from './record.ts';
import type { Within } from './within.ts';

export interface GroundOptions {
  readonly folders: Folders;
  /** The port of this machine that leads to the edge. */
  readonly port: number;
  /** Says which cluster and which images: see deploy/README.md. */
  readonly env: NodeJS.ProcessEnv;
  readonly within: Within;
  /** What an earlier start has written down. */
  readonly before: ClusterRecord | undefined;
  /** Writes down what is about to be made: from then on there is something to take back. */
  readonly begin: (record: ClusterRecord) => void;
  readonly say: (line: string) => void;
}

/** A cluster that can be installed on. */
export interface Ground {
  readonly record: ClusterRecord;
  /** The port of every node that the edge is to be reached at; otherwise by a forward. */
  readonly nodePort?: number;
  /** What tells an image from an earlier one of its name, by its service. */
  readonly imageIds?: Readonly<Record<string, string>>;
}

/** The name of the release: every name of ours in the cluster begins with it. */
export const RELEASE = 'platform';

/** The address that the edge is reached at on any cluster. */
export function addressOf(port: number): string {
  return `http://localhost:${port}`;
}
