import type { RequestListener } from 'node:http';

import type { Application } from '@fw/core';
import { getRequestListener } from '@hono/node-server';
import type { Express } from 'express';
import type { Hono } from 'hono';

/** A program of another framework that `request` of `@fw/core/testing` accepts as an application. */
export function peer(program: Express | Hono): Application {
  const handle = 'fetch' in program ? getRequestListener(program.fetch) : program;
  return { handle: handle as RequestListener, ready: async () => {} } as Application;
}
