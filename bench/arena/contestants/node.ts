import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { parse } from 'node:querystring';
import { brotliCompressSync, constants } from 'node:zlib';

import { type Contestant, type Setting, serveListener } from '../contestant.ts';
import { countBytes, readText, sum, totals } from '../items.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** `node:http` with default options and a handwritten handler. */
export const contestant: Contestant = {
  packages: ['pg'],
  start: (setting) =>
    serveListener((req, res) => {
      Promise.try(respond, req, res, setting).catch(() => {
        if (res.headersSent) res.destroy();
        else send(res, 500, { error: 'Internal Server Error' });
      });
    }, setting),
};

function respond(req: IncomingMessage, res: ServerResponse, { store, folder }: Setting) {
  const { method, url = '', headers } = req;
  const [path = '', search = ''] = url.split('?', 2);
  const [, root, name = '', id] = path.split('/');
  const isBrotli = headers['accept-encoding']?.includes('br') ?? false;
  switch (`${method} /${root}`) {
    case 'GET /pipeline':
      return sendText(res, 'ok');
    case 'GET /baseline11':
      return sendText(res, sum(parse(search)));
    case 'POST /baseline11':
      return readText(req).then((body) => sendText(res, sum(parse(search), body)));
    case 'POST /upload':
      return countBytes(req).then((bytes) => sendText(res, bytes));
    case 'GET /json':
      return send(res, 200, totals(name, parse(search)), isBrotli);
    case 'GET /async-db':
      return store.between(parse(search)).then((found) => send(res, 200, found));
    case 'GET /static':
      return sendFile(res, join(folder, 'static', name), isBrotli);
    case 'GET /crud':
      if (id === undefined) return store.list(parse(search)).then((page) => send(res, 200, page));
      return store.find(Number(id)).then(({ item, cached }) => {
        res.setHeader('X-Cache', cached);
        send(res, item ? 200 : 404, item ?? { error: 'Not found' });
      });
    case 'POST /crud':
      return readText(req)
        .then((body) => store.create(JSON.parse(body)))
        .then((item) => send(res, 201, item));
    case 'PUT /crud':
      return readText(req)
        .then((body) => store.update(Number(id), JSON.parse(body)))
        .then((item) => send(res, item ? 200 : 404, item ?? { error: 'Not found' }));
    default:
      return send(res, 404, { error: 'Not found' });
  }
}

function sendText(res: ServerResponse, body: string): void {
  res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': body.length }).end(body);
}

function send(res: ServerResponse, status: number, value: unknown, isBrotli = false): void {
  const json = JSON.stringify(value);
  const body = isBrotli ? brotliCompressSync(json, BROTLI) : json;
  if (isBrotli) res.setHeader('Content-Encoding', 'br').setHeader('Vary', 'Accept-Encoding');
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  res.writeHead(status, headers).end(body);
}

async function sendFile(res: ServerResponse, path: string, isBrotli: boolean): Promise<void> {
  const extension = extname(path);
  const isCompressed = isBrotli && !['.webp', '.woff2'].includes(extension);
  const body = await readFile(isCompressed ? `${path}.br` : path);
  if (isCompressed) res.setHeader('Content-Encoding', 'br').setHeader('Vary', 'Accept-Encoding');
  const headers = { 'Content-Type': TYPES[extension] ?? '', 'Content-Length': body.length };
  res.writeHead(200, headers).end(body);
}
