import { staticFiles } from '@fw/middleware/static-files';
import { openapi } from '@fw/openapi';
import { renderApiReference } from '@scalar/client-side-rendering';
import { createApp, createRouter, endpoint, errorHandler, listen } from 'fw';
import swaggerFolder from 'swagger-ui-dist/absolute-path.js';

const users = createRouter().get('/:id', endpoint({ summary: 'Read a user' }), (ctx) => ({
  id: ctx.params.id,
}));

const app = createApp().use(errorHandler());
app.use(openapi({ router: users, info: { title: 'Users', version: '1.0.0' } }));
app.route('/users', users);

app.get('/scalar', (ctx) => {
  ctx.html(renderApiReference({ config: { url: '/openapi.json' } }));
});

app.get('/swagger/swagger-initializer.js', (ctx) => {
  ctx.set('Content-Type', 'text/javascript');
  ctx.send("SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui' });");
});
app.use(staticFiles({ root: swaggerFolder(), prefix: '/swagger' }));

await listen(app, Number(process.env.PORT ?? 3000));
