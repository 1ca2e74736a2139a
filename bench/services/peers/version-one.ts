import { V1_DEPRECATED_SINCE } from '@fw/service';
import type { FastifyInstance } from 'fastify';

/** Says on every answer of the routes below `from` that the same is found below `to`. */
export function announceSuccessor(app: FastifyInstance, from: string, to: string): void {
  const deprecation = `@${V1_DEPRECATED_SINCE.getTime() / 1000}`;
  app.addHook('onRequest', (request, reply, done) => {
    const [path = ''] = request.url.split('?');
    reply.header('deprecation', deprecation);
    reply.header('link', `<${to}${path.slice(from.length)}>; rel="successor-version"`);
    done();
  });
}
