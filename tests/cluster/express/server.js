import express from 'express';
import { Counter, collectDefaultMetrics, Histogram, register } from 'prom-client';

const labelNames = ['method', 'route', 'status'];
const requests = new Counter({ name: 'http_requests_total', help: 'Requests', labelNames });
const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Durations of requests',
  labelNames,
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5],
});
collectDefaultMetrics();
let isEnding = false;

const app = express().use((request, response, next) => {
  const end = duration.startTimer();
  if (isEnding) response.set('connection', 'close');
  response.once('close', () => {
    const route = request.route?.path ?? 'none';
    const labels = { method: request.method, route, status: response.statusCode };
    requests.inc(labels);
    end(labels);
  });
  next();
});
app.get('/api/shop/items', (_, response) => response.json([{ name: 'Lamp' }]));
app.post('/api/shop/orders', (_, response) => response.status(201).json({ id: 1 }));
const server = app.listen(8080);

const health = express();
health.get(['/startupz', '/livez'], (_, response) => response.send('ok'));
health.get('/readyz', (_, response) => response.sendStatus(isEnding ? 503 : 200));
health.get('/metrics', async (_, response) => response.send(await register.metrics()));
health.listen(9090);

process.once('SIGTERM', () => {
  isEnding = true; // every response closes its connection: no client is left when the server closes
  setTimeout(() => server.close(() => process.exit()), 5_000);
});
