import type { Api, Group, Operation } from './api.ts';
import { announce, button, h, methodBadge } from './dom.ts';
import { themeButton } from './theme.ts';

/** The list of all operations with a search field; below 900 px it opens over the page. */
export function sidebar(api: Api, groups: readonly Group[]): HTMLElement {
  const entries: { readonly item: HTMLElement; readonly text: string }[] = [];
  const lists = groups.map(({ name, operations }) => {
    const items = operations.map((operation) => {
      const item = h('li', {}, operationLink(operation));
      entries.push({ item, text: searchText(name, operation) });
      return item;
    });
    return h(
      'div',
      { class: 'nav-group' },
      h('p', { class: 'nav-title' }, name),
      h('ul', {}, ...items),
    );
  });
  const errors = h('ul', { class: 'nav-more' }, h('li', {}, h('a', { href: '#errors' }, 'Errors')));
  const nothing = h('p', { class: 'nothing', hidden: true }, 'Nothing found');
  const search = h('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search',
    'aria-label': 'Search operations',
    'aria-keyshortcuts': '/',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const nav = h(
    'nav',
    { class: 'side', id: 'operations', 'aria-label': 'Operations' },
    h(
      'div',
      { class: 'side-head' },
      h('a', { class: 'brand', href: '#main' }, api.info.title, h('small', {}, api.info.version)),
      themeButton(),
      h('div', { class: 'search' }, search, h('kbd', { 'aria-hidden': 'true' }, '/')),
    ),
    h('div', { class: 'side-list' }, ...lists, nothing, errors),
  );

  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { item, text } of entries) {
      item.hidden = !words.every((word) => text.includes(word));
      if (!item.hidden) found++;
    }
    for (const list of lists) list.hidden = !list.querySelector('li:not([hidden])');
    nothing.hidden = found > 0;
    errors.hidden = words.length > 0;
    announce(`${found} ${found === 1 ? 'operation' : 'operations'} found`);
  });
  nav.addEventListener('keydown', (event) => moveByKey(event, nav, search));
  nav.addEventListener('click', (event) => {
    if ((event.target as Element).closest('a')) document.body.classList.remove('menu-open');
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
    const isShortcut = event.key === '/' || (event.key === 'k' && (event.ctrlKey || event.metaKey));
    if (!isShortcut || (isTyping && event.key === '/')) return;
    event.preventDefault();
    openMenu(true);
    search.focus();
    search.select();
  });
  return nav;
}

/** The bar at the top of the page on narrow screens. */
export function topBar(api: Api): HTMLElement {
  const menu = button(
    'Menu',
    { class: 'menu', 'aria-controls': 'operations', 'aria-expanded': 'false' },
    () => openMenu(!document.body.classList.contains('menu-open')),
  );
  return h(
    'header',
    { class: 'bar' },
    menu,
    h('span', { class: 'brand' }, api.info.title),
    themeButton(),
  );
}

function openMenu(isOpen: boolean): void {
  document.body.classList.toggle('menu-open', isOpen);
  document.querySelector('.menu')?.setAttribute('aria-expanded', String(isOpen));
}

function operationLink({ id, method, deprecated, isTitled, title }: Operation): HTMLElement {
  // A path without the common prefix of all paths.
  const shown = isTitled ? title : title.replace(/^(?:\/api)?(?:\/v\d+)?(?=\/)/, '');
  return h(
    'a',
    { href: `#${id}`, class: deprecated ? 'deprecated' : undefined },
    h('span', { class: isTitled ? 'nav-text' : 'nav-path' }, shown),
    methodBadge(method),
  );
}

function searchText(group: string, operation: Operation): string {
  const { method, path, title, description = '', operationId, tags = [] } = operation;
  return [group, method, path, title, description, operationId, ...tags].join(' ').toLowerCase();
}

/** Arrow keys move through the search results; Enter opens the first, Escape clears the search. */
function moveByKey(event: KeyboardEvent, nav: HTMLElement, search: HTMLInputElement): void {
  if (event.key === 'Escape') {
    search.value = '';
    search.dispatchEvent(new Event('input'));
    search.focus();
    openMenu(false);
    return;
  }
  const links = [...nav.querySelectorAll<HTMLElement>('.side-list a')].filter((link) =>
    link.checkVisibility(),
  );
  const at = links.indexOf(document.activeElement as HTMLElement);
  if (event.key === 'Enter' && document.activeElement === search) links[0]?.click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const next = links[at + step];
  if (next) next.focus();
  else if (step < 0) search.focus();
}

/** Marks the visible operation. */
export function followReading(main: HTMLElement, nav: HTMLElement): void {
  const links = new Map(
    [...nav.querySelectorAll<HTMLAnchorElement>('.side-list a')].map((link) => [
      link.hash.slice(1),
      link,
    ]),
  );
  let current: HTMLElement | undefined;
  const observer = new IntersectionObserver(
    (changes) => {
      const entered = changes.find(({ isIntersecting }) => isIntersecting);
      const link = entered && links.get(entered.target.id);
      if (!link || link === current) return;
      current?.removeAttribute('aria-current');
      current = link;
      link.setAttribute('aria-current', 'location');
      const list = nav.querySelector('.side-list');
      const { top, bottom } = link.getBoundingClientRect();
      if (list && (top < 80 || bottom > innerHeight)) list.scrollTop += top - innerHeight / 2;
    },
    { rootMargin: '-15% 0px -75%' },
  );
  for (const target of main.querySelectorAll('[id]'))
    if (links.has(target.id)) observer.observe(target);
}
