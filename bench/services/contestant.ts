import type { Place } from './databases.ts';

/** Ours: as in production; with a line of log, metrics and a request id, and nothing else; bare. */
export const OURS = ['fw', 'fw-observed', 'fw-bare'] as const;

/**
 * Each service on fw and on fastify, as it runs in production (what observes each request, a time-out,
 * and what runs for all) and bare; ours with what observes alone, too.
 */
export const CONTESTANTS = [...OURS, 'fastify', 'fastify-bare'] as const;
export type Contestant = (typeof CONTESTANTS)[number];

/** As in production: these stand behind the edge too. */
export const WHOLE: readonly Contestant[] = ['fw', 'fastify'];

export const STORES = ['sqlite', 'postgres'] as const;
export type StoreName = (typeof STORES)[number];

/** What the process of a contestant is started with, as its last argument in JSON. */
export interface Settings {
  readonly store: Place;
  /** The items that a catalog begins with. */
  readonly itemsFile: string;
  /** Where the figures of users and catalog are found. */
  readonly figuresUrl: string;
}
