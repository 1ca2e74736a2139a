import { type Api, type ApiResponse, type Operation, resolve } from './api.ts';
import { choice, codeBlock } from './code.ts';
import { append, button, type Child, h, lazyDetails, methodBadge, statusBadge } from './dom.ts';
import { exampleOf } from './example.ts';
import { inline, markdown } from './markdown.ts';
import { type Draft, prepare, type Session, schemesOf, toCurl, toFetch } from './request.ts';
import { row, schemaView } from './schema.ts';
import { tryIt } from './try-it.ts';

/** One operation: its description on the left, its usage on the right. */
export function operationView(api: Api, operation: Operation, session: Session): HTMLElement {
  return h(
    'article',
    {
      class: 'operation',
      id: operation.id,
      'aria-labelledby': `title-${operation.id}`,
      tabindex: '-1',
    },
    h(
      'div',
      { class: 'meaning' },
      h(
        'h3',
        { id: `title-${operation.id}` },
        operation.title,
        operation.deprecated && h('span', { class: 'badge' }, 'deprecated'),
        h(
          'a',
          { class: 'anchor', href: `#${operation.id}`, 'aria-label': `Link to ${operation.title}` },
          '#',
        ),
      ),
      pathLine(operation),
      operation.description !== undefined && markdown(operation.description),
      securityNote(api, operation),
      parametersView(api, operation),
      bodyView(api, operation),
      responsesView(api, operation),
    ),
    h('div', { class: 'usage' }, ...usageView(api, operation, session)),
  );
}

function pathLine({ method, path }: Operation): HTMLElement {
  const parts = path
    .split(/(\{[^}]+\})/)
    .map((part) => (part.startsWith('{') ? h('em', {}, part) : part));
  return h('p', { class: 'path' }, methodBadge(method), ' ', h('code', {}, ...parts));
}

function securityNote(api: Api, operation: Operation): Child {
  const schemes = schemesOf(api, operation);
  if (schemes.length === 0) return undefined;
  const names = schemes.map(([name, { type, scheme }]) => `${name} (${scheme ?? type})`).join(', ');
  return h('p', { class: 'note' }, `Needs credentials: ${names}`);
}

const PLACES = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' };

function parametersView(api: Api, { parameters = [] }: Operation): Child {
  const sections = Object.entries(PLACES).flatMap(([place, heading]) => {
    const rows = parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema, description, required }) => {
        const described = description === undefined ? schema : { ...schema, description };
        return row(api, { name, schema: described, required });
      });
    return rows.length > 0 ? [h('h4', {}, heading), h('ul', { class: 'fields' }, ...rows)] : [];
  });
  return sections.length > 0 && h('div', {}, ...sections);
}

function bodyView(api: Api, { requestBody }: Operation): Child {
  if (!requestBody) return undefined;
  const views = Object.entries(requestBody.content).flatMap(([type, { schema }]) => [
    h('h4', {}, 'Body ', h('small', {}, type)),
    schemaView(api, schema),
  ]);
  return h('div', {}, ...views);
}

function responsesView(api: Api, operation: Operation): HTMLElement {
  return h(
    'div',
    { class: 'responses' },
    h('h4', {}, 'Responses'),
    ...responsesOf(api, operation).map(([status, response]) => responseView(api, status, response)),
  );
}

/** The responses in the order of their statuses. */
function responsesOf(api: Api, { responses }: Operation): [string, ApiResponse][] {
  const entries = Object.entries(responses).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([status, response]) => [status, resolve(api, response)]);
}

function responseView(api: Api, status: string, response: ApiResponse): HTMLElement {
  const heading = h('span', {}, statusBadge(status), ' ', ...inline(response.description));
  const headers = Object.entries(response.headers ?? {});
  const contents = Object.entries(response.content ?? {});
  if (headers.length === 0 && contents.length === 0) return h('p', { class: 'bare' }, heading);
  const rows = headers.map(([name, header]) => {
    const { description } = resolve<{ readonly description?: string }>(api, header);
    const about = h('span', { class: 'about' }, description);
    return h('li', {}, h('code', { class: 'name' }, name), ' ', about);
  });
  return lazyDetails(heading, 'status-line', () =>
    h(
      'div',
      {},
      headers.length > 0 && h('p', { class: 'small' }, 'Headers'),
      headers.length > 0 && h('ul', { class: 'fields' }, ...rows),
      ...contents.flatMap(([type, { schema = {} }]) => [
        h('p', { class: 'small' }, type),
        schemaView(api, schema),
      ]),
    ),
  );
}

function usageView(api: Api, operation: Operation, session: Session): Child[] {
  const media = Object.values(operation.requestBody?.content ?? {})[0];
  const draft: Draft = {
    values: new Map(),
    body: media ? JSON.stringify(exampleOf(api, media.schema), null, 2) : '',
  };
  let language = 'cURL';
  const languages = choice(`Language for ${operation.title}`, ['cURL', 'fetch'], (name) => {
    language = name;
    show();
  });
  const sample = codeBlock(languages, `request for ${operation.title}`);
  const panel = h('div', { class: 'panel', hidden: true });
  const toggle = button('Try it', { class: 'try-button', 'aria-expanded': 'false' }, () => {
    if (panel.childElementCount === 0)
      append(panel, [tryIt(api, operation, { draft, session, onChange: show })]);
    panel.hidden = !panel.hidden;
    toggle.setAttribute('aria-expanded', String(!panel.hidden));
    if (!panel.hidden) panel.querySelector<HTMLElement>('input,select,textarea,button')?.focus();
  });
  show();
  session.listeners.add(show);
  return [sample.element, toggle, panel, ...examplesView(api, operation)];

  function show(): void {
    const request = prepare(api, operation, { draft, session });
    sample.show(language === 'cURL' ? toCurl(request) : toFetch(request));
  }
}

/** An example of the first response with a body. */
function examplesView(api: Api, operation: Operation): Child[] {
  for (const [status, { content }] of responsesOf(api, operation)) {
    const schema = content?.['application/json']?.schema ?? {};
    if (!/^[23]/.test(status) || Object.keys(schema).length === 0) continue;
    const block = codeBlock(
      h('span', {}, statusBadge(status), ' Example response'),
      `example response of ${operation.title}`,
    );
    block.show(JSON.stringify(exampleOf(api, schema), null, 2), true);
    return [block.element];
  }
  return [];
}
