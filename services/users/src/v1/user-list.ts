import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { createPartSerializer } from '@fw/core/extension';
import type { Context } from 'fw';
import * as z from 'zod';

import { UserV1 } from '../schemas.ts';
import type { UserList, UserPage } from '../store.ts';
import type { User } from '../user.ts';
import type { Users } from '../users.ts';

/** The list that version 1 sends: `{ data: [...], ...rest }`. */
export interface ListResponse {
  /** The first batch. */
  readonly list: UserList;
  /** Maximum number of users to send. */
  readonly limit: number;
  readonly toJson: (user: User) => object;
  /** Returns the members after `data`, given the number of sent users. */
  readonly rest: (sent: number) => object;
}

/**
 * Sends a list of any length in batches, as fast as the client reads. If the store fails after the first
 * batch, the connection is closed, so that no client mistakes a part for the complete list.
 */
export function sendList(ctx: Context, users: Users, response: ListResponse): undefined {
  const { list, limit, toJson, rest } = response;
  if (list.next === undefined) {
    return ctx.json({ data: list.users.map(toJson), ...rest(list.users.length) });
  }
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  const toText: ToText = (batch) => serializeBatch(ctx, batch.map(toJson)).slice(1, -1);
  return ctx.send(Readable.from(writeList(users, { limit, toText, rest }, takeText(list, toText))));
}

/** The JSON of a batch, with the fields of the contract, without the brackets of the list. */
type ToText = (users: readonly User[]) => string;

const serializeBatch = createPartSerializer(z.array(UserV1));

/** A batch as text, so that its users can be freed while the client reads. */
interface Piece {
  readonly text: string;
  readonly count: number;
  readonly next: number | undefined;
}

function takeText({ users, next }: UserPage, toText: ToText): Piece {
  return { text: toText(users), count: users.length, next };
}

/** Yields the text of `JSON.stringify` of the complete list in pieces. */
async function* writeList(
  users: Users,
  { limit, toText, rest }: { limit: number; toText: ToText; rest: ListResponse['rest'] },
  first: Piece,
): AsyncGenerator<string> {
  let piece = first;
  let sent = 0;
  yield '{"data":[';
  for (;;) {
    const { text, count, next } = piece;
    if (count > 0) yield sent === 0 ? text : `,${text}`;
    sent += count;
    if (next === undefined || sent >= limit) break;
    // Other requests run between two batches, even if the client reads as fast as they are written.
    await nextTurn();
    piece = takeText(await users.batch({ after: next, limit: limit - sent }), toText);
  }
  yield `],${JSON.stringify(rest(sent)).slice(1)}`;
}
