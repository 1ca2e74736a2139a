import { createApp, listen } from 'fw';

const app = createApp();
app.use((ctx) => ctx.json({ hello: 'world' }));

listen(app, Number(process.env.PORT));
