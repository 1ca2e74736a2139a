import Router from '@koa/router';
import Koa from 'koa';

const router = new Router();
router.get('/', (ctx) => {
  ctx.body = { hello: 'world' };
});
const app = new Koa();
app.use(router.routes());
app.listen(Number(process.argv[2]), '127.0.0.1');
