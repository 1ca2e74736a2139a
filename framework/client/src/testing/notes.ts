import { createClient } from '../client.ts';
import type { ClientOptions } from '../client-options.ts';
import { type Responder, startApi } from './start-api.ts';

interface Note {
  readonly id: string;
  readonly text: string;
}

interface NoteContent {
  readonly content: { readonly 'application/json': { readonly data: Note } };
}

/** The paths of an API as openapi-typescript writes them. */
export interface NotePaths {
  '/notes': {
    get: {
      parameters: {
        query?: { tags?: string[]; limit?: number; order?: 'newest' | 'oldest' };
        header?: never;
        path?: never;
      };
      requestBody?: never;
      responses: { 200: { content: { 'application/json': { data: Note[] } } }; 400: NoteContent };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: { 'idempotency-key'?: string }; path?: never };
      requestBody: { content: { 'application/json': { text: string } } };
      responses: { 201: NoteContent };
    };
  };
  '/notes/{id}': {
    get: {
      parameters: { query?: never; header?: never; path: { id: string } };
      requestBody?: never;
      responses: { 200: NoteContent };
    };
    head: {
      parameters: { query?: never; header?: never; path: { id: string } };
      requestBody?: never;
      responses: { 200: { content?: never } };
    };
    put: {
      parameters: { query?: never; header?: never; path: { id: string } };
      requestBody?: { content: { 'application/json': { text: string } } };
      responses: { 200: NoteContent };
    };
    patch: {
      parameters: { query?: never; header: { 'x-reason': string }; path: { id: string } };
      requestBody: { content: { 'application/merge-patch+json': { text?: string } } };
      responses: { 200: NoteContent };
    };
    delete: {
      parameters: { query?: never; header?: never; path: { id: string } };
      requestBody?: never;
      responses: { 204: { content?: never } };
    };
  };
  '/notes/events': {
    get: {
      parameters: { query?: { since?: number }; header?: never; path?: never };
      requestBody?: never;
      responses: {
        200: {
          content: {
            'text/event-stream':
              | { event: 'added'; data: Note; id?: string }
              | { event: 'closed'; data: string; id?: string };
          };
        };
      };
    };
  };
  '/files': {
    post: {
      parameters: { query?: never; header?: never; path?: never };
      requestBody: { content: { 'multipart/form-data': { file: string } } };
      responses: { 201: { content?: never } };
    };
  };
}

/** A client of the API that retries without delay and never waits longer than five seconds. */
export function newNotesClient(options: ClientOptions) {
  return createClient<NotePaths>({ name: 'notes', deadlineMs: 5_000, retryDelayMs: 0, ...options });
}

/** Starts an API as `startApi` does, and a client of it. */
export async function startNotes(...responders: readonly Responder[]) {
  const { baseUrl, received } = await startApi(...responders);
  return { client: newNotesClient({ baseUrl }), received };
}

/** The error that `call` rejects with. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('The call succeeded');
    },
    (error: unknown) => error,
  );
}
