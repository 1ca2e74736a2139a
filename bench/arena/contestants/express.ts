import compression from 'compression';
import express, { Router } from 'express';

import { type Contestant, serveListener } from '../contestant.ts';
import { countBytes, type Store, sum, totals } from '../items.ts';

export const contestant: Contestant = {
  packages: ['express', 'compression'],
  start(setting) {
    const { store, folder } = setting;
    const app = express();
    app.use('/static', express.static(`${folder}/static`));
    app.use(express.json(), express.text());
    app.get('/pipeline', (_req, res) => res.type('text').send('ok'));
    app.get('/baseline11', (req, res) => res.type('text').send(sum(req.query)));
    app.post('/baseline11', (req, res) => res.type('text').send(sum(req.query, req.body)));
    app.post('/upload', async (req, res) => res.type('text').send(await countBytes(req)));
    app.get('/json/:count', compression(), (req, res) =>
      res.json(totals(req.params.count, req.query)),
    );
    app.get('/async-db', async (req, res) => res.json(await store.between(req.query)));
    app.use('/crud/items', crud(store));
    return serveListener(app, setting);
  },
};

function crud(store: Store): Router {
  return Router()
    .get('/', async (req, res) => res.json(await store.list(req.query)))
    .get('/:id', async (req, res) => {
      const { item, cached } = await store.find(Number(req.params.id));
      if (!item) return res.sendStatus(404);
      return res.set('X-Cache', cached).json(item);
    })
    .post('/', async (req, res) => res.status(201).json(await store.create(req.body)))
    .put('/:id', async (req, res) => {
      const item = await store.update(Number(req.params.id), req.body);
      return item ? res.json(item) : res.sendStatus(404);
    });
}
