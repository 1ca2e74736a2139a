import { json } from '@fw/body-parser';
import { openapi } from '@fw/openapi';
import { validate } from '@fw/validation';
import {
  createApp,
  createRouter,
  endpoint,
  errorHandler,
  listen,
  NotFoundError,
  notFoundHandler,
} from 'fw';
import { z } from 'zod';

const Book = z.object({ id: z.int(), title: z.string(), year: z.int() }).meta({ id: 'Book' });
const NewBook = Book.omit({ id: true });
const BookList = z.object({ data: z.array(Book), total: z.int() });
const BookId = z.object({ id: z.coerce.number().int() });
const ListQuery = z.object({ from: z.coerce.number().int().default(0).describe('First year') });

const books: z.infer<typeof Book>[] = [{ id: 1, title: 'Notes by the Translator', year: 1843 }];

const router = createRouter();
router.get(
  '/',
  endpoint({ summary: 'List books', tags: ['books'], responses: { 200: BookList } }),
  validate({ query: ListQuery }),
  (ctx) => {
    const data = books.filter(({ year }) => year >= ctx.query.from);
    return ctx.json({ data, total: data.length });
  },
);
router.get(
  '/:id',
  endpoint({ summary: 'Read a book', tags: ['books'], responses: { 200: Book } }),
  validate({ params: BookId }),
  (ctx) => {
    const book = books.find(({ id }) => id === ctx.params.id);
    if (!book) throw new NotFoundError(`Book "${ctx.params.id}" not found`);
    return ctx.json(book);
  },
);
router.post(
  '/',
  endpoint({ summary: 'Add a book', tags: ['books'], responses: { 201: Book } }),
  validate(NewBook),
  (ctx) => {
    const book = { id: books.length + 1, ...ctx.body };
    books.push(book);
    ctx.status = 201;
    return ctx.json(book);
  },
);
router.get('/old', endpoint({ deprecated: true }), (ctx) => ctx.json(books.slice(0, 1)));
router.get('/untyped/:shelf', (ctx) => ctx.json({ shelf: ctx.params.shelf }));
router.get('/internal', endpoint({ visibility: 'internal' }), (ctx) => ctx.json({ size: 1 }));
router.get('/admin/stats', (ctx) => ctx.json({ books: books.length }));

const api = createRouter();
api.mount('/api/books', router);

const app = createApp();
app.use(errorHandler());
app.use(json());
app.use(
  openapi({
    router: api,
    info: { title: 'Books', version: '2.1.0' },
    exclude: ['/api/books/admin'],
  }),
);
app.route('/', api);
app.use(api.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
