import type { Place } from './databases.ts';

/**
 * Each service four times: on fw and on fastify, as it runs in production (a line of log, metrics, a
 * request id and a time-out for each request, and what runs for all) and bare.
 */
export const CONTESTANTS = ['fw', 'fastify', 'fw-bare', 'fastify-bare'] as const;
export type Contestant = (typeof CONTESTANTS)[number];

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
