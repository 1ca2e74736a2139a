import type { User } from '../user.ts';
import { DAY_MS } from './statistics.ts';

/** How long an idempotency key is valid, in milliseconds. */
export const REMEMBERED_MS = DAY_MS;

/** Serializes the user of the first response, which a repeated request gets again. */
export function toReplay({ id, name, email, createdAt, updatedAt, version }: User): string {
  const times = [createdAt.getTime(), updatedAt.getTime()];
  return JSON.stringify([id, name, email, ...times, version]);
}

/** Reads the text of `toReplay`. */
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
