import express from 'express';
import { collectDefaultMetrics, Histogram, register } from 'prom-client';

const duration = new Histogram({
  name: 'http_server_request_duration_seconds',
  help: 'Durations of requests',
  labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5],
});
collectDefaultMetrics();
let isEnding = false;

const app = express().use((request, response, next) => {
  const end = duration.startTimer();
  if (isEnding) response.set('connection', 'close');
  response.once('close', () => {
    end({
      http_request_method: request.method,
      http_route: request.route?.path ?? '',
      http_response_status_code: response.statusCode,
    });
  });
  next();
});
app.get('/api/shop/items', (_, response) => response.json([{ name: 'Lamp' }]));
app.post('/api/shop/orders', (_, response) => response.status(201).json({ id: 1 }));
const server = app.listen(8080);
server.keepAliveTimeout = 620_000; // longer than that of the proxy in front of it

const health = express();
health.get(['/startupz', '/livez'], (_, response) => response.send('ok'));
health.get('/readyz', (_, response) => response.sendStatus(isEnding ? 503 : 200));
health.get('/metrics', async (_, response) => response.send(await register.metrics()));
health.listen(9090);

process.once('SIGTERM', () => {
  isEnding = true; // every response closes its connection: no client is left when the server closes
  setTimeout(() => server.close(() => process.exit()), 5_000);
});
