import { type Api, type Group, groupOperations, readDocument } from './api.ts';
import { codeBlock } from './code.ts';
import { append, h, methodBadge } from './dom.ts';
import { errorsView } from './errors.ts';
import { credentialField, field } from './field.ts';
import { markdown } from './markdown.ts';
import { operationView } from './operation.ts';
import type { Session } from './request.ts';
import { followReading, sidebar, topBar } from './sidebar.ts';
import { applyTheme } from './theme.ts';

applyTheme();
void start(document.documentElement.dataset.document ?? 'openapi.json');

async function start(url: string): Promise<void> {
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url} returned ${response.status} ${response.statusText}`);
    show(readDocument(await response.text()), response.url);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    append(document.body, [
      h('p', { class: 'failure', role: 'alert' }, `Cannot show the document: ${reason}`),
    ]);
  }
}

function show(api: Api, documentUrl: string): void {
  const servers = api.servers.flatMap(
    ({ url }) => URL.parse(url, documentUrl)?.href.replace(/\/$/, '') ?? [],
  );
  const session: Session = {
    server: servers[0] ?? location.origin,
    credentials: new Map(),
    listeners: new Set(),
  };
  const groups = groupOperations(api);
  const nav = sidebar(api, groups);
  const main = h(
    'main',
    { id: 'main', tabindex: '-1' },
    introView(api, { documentUrl, servers, session }),
    ...groups.map((group, index) => groupView(api, { group, index, session })),
    errorsView(),
  );
  append(document.body, [
    h('a', { class: 'skip', href: '#main' }, 'Skip to the operations'),
    topBar(api),
    h('div', { class: 'layout' }, nav, main),
    h('p', { id: 'announcement', class: 'unseen', 'aria-live': 'polite' }),
  ]);
  document.title = api.info.title;
  followReading(main, nav);
  addEventListener('hashchange', goToHash);
  goToHash();
}

/**
 * Scrolls to the target of the address. Elements get their real height only when they become visible,
 * so the position is corrected for a few frames.
 */
function goToHash(): void {
  const target = document.getElementById(decode(location.hash.slice(1)));
  let frames = 6;
  const correct = () => {
    target?.scrollIntoView();
    if (--frames > 0) requestAnimationFrame(correct);
  };
  correct();
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function introView(
  api: Api,
  { documentUrl, servers, session }: { documentUrl: string; servers: string[]; session: Session },
): HTMLElement {
  const { title, version, description } = api.info;
  const schemes = Object.keys(api.components.securitySchemes ?? {});
  return h(
    'section',
    { class: 'intro operation' },
    h(
      'div',
      { class: 'meaning' },
      h('h1', {}, title, h('span', { class: 'badge' }, version)),
      description === undefined ? undefined : markdown(description),
      h('p', { class: 'links' }, h('a', { href: documentUrl }, 'OpenAPI document')),
    ),
    h(
      'div',
      { class: 'usage' },
      serverView(servers, session),
      schemes.length > 0 && card('Authentication', credentialsForm(schemes, session)),
    ),
  );
}

/** Inputs for credentials. Browsers expect passwords in a form, although this one is never submitted. */
function credentialsForm(schemes: readonly string[], session: Session): HTMLElement {
  const form = h(
    'form',
    { class: 'card-form' },
    ...schemes.map((name) => credentialField(session, name)),
  );
  form.addEventListener('submit', (event) => event.preventDefault());
  return form;
}

/** The server of the samples and forms; if there are several, the reader selects one. */
function serverView(servers: readonly string[], session: Session): HTMLElement {
  if (servers.length < 2) {
    const block = codeBlock('Server', 'address of the server');
    block.show(session.server);
    return block.element;
  }
  const select = h('select', {}, ...servers.map((server) => h('option', {}, server)));
  select.addEventListener('input', () => {
    session.server = select.value;
    for (const listener of session.listeners) listener();
  });
  return card('Server', field('Address', select));
}

function card(heading: string, ...children: readonly HTMLElement[]): HTMLElement {
  return h(
    'div',
    { class: 'code' },
    h('div', { class: 'code-head' }, heading),
    h('div', { class: 'card' }, ...children),
  );
}

function groupView(
  api: Api,
  { group, index, session }: { group: Group; index: number; session: Session },
): HTMLElement {
  const links = group.operations.map(({ id, method, path }) =>
    h('li', {}, h('a', { href: `#${id}` }, methodBadge(method), h('code', {}, path))),
  );
  return h(
    'section',
    { class: 'group', 'aria-labelledby': `group-${index}` },
    h(
      'div',
      { class: 'group-head' },
      h('h2', { id: `group-${index}` }, group.name),
      card('Operations', h('ul', { class: 'paths' }, ...links)),
    ),
    ...group.operations.map((operation) => operationView(api, operation, session)),
  );
}
