import Fastify from 'fastify';

const app = Fastify({ logger: false });
app.get('/', (_request, reply) => {
  reply.send({ hello: 'world' });
});
void app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' });
