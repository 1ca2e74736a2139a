/*
 * A server that sends each message back: `node --expose-gc server.ts <name>`. For each message from its
 * parent it sends the memory that it uses.
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

import fastifyWebsocket from '@fastify/websocket';
import { websocket } from '@fw/middleware/websocket';
import Fastify from 'fastify';
import { createApp, errorHandler, listen } from 'fw';
import { WebSocketServer } from 'ws';
import { z } from 'zod';

import { serveParent, usedMemory } from '../measured.ts';

const SERVERS: Readonly<Record<string, () => Promise<number>>> = {
  async ws() {
    const server = http.createServer();
    new WebSocketServer({ server }).on('connection', (socket) => {
      socket.on('message', (data) => socket.send(String(data)));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  },
  async fastify() {
    const app = Fastify();
    await app.register(fastifyWebsocket);
    app.get('/rooms/:id', { websocket: true }, (socket) => {
      socket.on('message', (data) => socket.send(String(data)));
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return (app.server.address() as AddressInfo).port;
  },
  async fw() {
    const app = createApp({ logger: { info() {}, warn() {}, error() {} } }).use(errorHandler());
    const message = z.object({ text: z.string() });
    const echo = websocket({
      schema: message,
      maxClients: 100_000,
      message: (client, value) => client.send(value),
    });
    app.get('/rooms/:id', echo);
    return (await listen(app, 0)).port;
  },
};

const start = SERVERS[process.argv[2] ?? ''];
if (!start) throw new Error('Usage: server.ts ws|fastify|fw');

serveParent(await start(), usedMemory);
