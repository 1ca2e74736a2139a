import type { User } from '../user.ts';
import { DAY_MS } from './statistics.ts';

/** How long a key is remembered. */
export const REMEMBERED_MS = DAY_MS;

/** The user as text, to answer the same request with later. */
export function toReplay({ id, name, email, createdAt, updatedAt, version }: User): string {
  const times = [createdAt.getTime(), updatedAt.getTime()];
  return JSON.stringify([id, name, email, ...times, version]);
}

export function fromReplay(text: string): User {
  const [id, name, email, createdAt, updatedAt, version] = JSON.parse(text);
  return {
    id,
    name,
    email,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    version,
  };
}
