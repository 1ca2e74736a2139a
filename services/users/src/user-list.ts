import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Context } from 'fw';

import type { UserList, UserPage, UserStore } from './store.ts';
import type { User } from './user.ts';

/** What version 1 sends of a list: `{ data: [...], ...rest }`. */
export interface ListResponse {
  /** The first batch. */
  readonly list: UserList;
  /** Most users to send. */
  readonly limit: number;
  readonly toJson: (user: User) => object;
  /** The members after `data`, of a list of `sent` users. */
  readonly rest: (sent: number) => object;
}

/**
 * Sends a list of any length, batch by batch, as fast as the client reads. A store that fails after the
 * first batch ends the connection, so that no part of a list is taken for all of it.
 */
export function sendList(ctx: Context, store: UserStore, response: ListResponse): void {
  const { list, limit, toJson, rest } = response;
  if (list.next === undefined) {
    ctx.json({ data: list.users.map(toJson), ...rest(list.users.length) });
    return;
  }
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.send(Readable.from(writeList(store, { limit, toJson, rest }, takeText(list, toJson))));
}

/** A batch as text, so that its users need no memory while the client reads. */
interface Piece {
  readonly text: string;
  readonly count: number;
  readonly next: number | undefined;
}

function takeText({ users, next }: UserPage, toJson: ListResponse['toJson']): Piece {
  return { text: JSON.stringify(users.map(toJson)).slice(1, -1), count: users.length, next };
}

/** The text that `JSON.stringify` returns for the whole list, in pieces. */
async function* writeList(
  store: UserStore,
  { limit, toJson, rest }: Omit<ListResponse, 'list'>,
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
    // A client may read as fast as a batch is written; other requests have their turn in between.
    await nextTurn();
    piece = takeText(await store.page({ after: next, limit: limit - sent }), toJson);
  }
  yield `],${JSON.stringify(rest(sent)).slice(1)}`;
}
