import { H3, serve } from 'h3/node';

const app = new H3();
app.get('/', () => ({ hello: 'world' }));
serve(app, { port: Number(process.argv[2]), hostname: '127.0.0.1', silent: true });
