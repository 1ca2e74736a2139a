import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import express from 'express';

import { listenOnFreePort } from '../../http/contestant.ts';
import type { Contestant } from '../work.ts';

/** Its documentation sends streams with `pipe()`, and has no cancellation: `signal` of Node's request. */
export const contestant: Contestant = {
  packages: ['express'],
  without: 'websocket',
  start({ body, waiting, chunks, events }) {
    const app = express();
    app.post('/body', async (req, res) => {
      await body(req);
      res.end();
    });
    for (const [name, wait] of Object.entries(waiting)) {
      app.get(`/${name}`, async (req, res) => {
        res.json(await wait(req.signal));
      });
    }
    app.get('/stream', (_req, res, next) => {
      Readable.from(chunks()).on('error', next).pipe(res);
    });
    app.get('/events', (req, res, next) => {
      Readable.from(events(req.signal)).on('error', next).pipe(res);
    });
    return listenOnFreePort(createServer(app));
  },
};
