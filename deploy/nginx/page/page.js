const REFRESH_MS = 4_000;
const TIMEOUT_MS = 3_000;
const NOT_SAMPLED = { traceparent: `00-${'c'.repeat(32)}-${'c'.repeat(16)}-00` };

const summary = document.querySelector('#summary');

const documentOf = (name) => `/docs/${name}/openapi.json`;

/** Adds a service, which its first check describes. */
function addService(name) {
  const section = document.querySelector('.services');
  const article = section.querySelector('template').content.cloneNode(true).firstElementChild;
  article.dataset.check = documentOf(name);
  article.querySelector('h2').textContent = name;
  article.querySelector('nav').setAttribute('aria-label', name);
  article.querySelector('.docs').href = `/docs/${name}`;
  section.append(article);
  return article;
}

const { services: names } = await (await fetch('/page/system.json')).json();
const services = names.map(addService);

/** Requests `path` once; returns whether the service is up, and a detail. */
async function request(path) {
  const start = performance.now();
  try {
    const response = await fetch(path, {
      method: 'HEAD',
      headers: NOT_SAMPLED,
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) return { up: false, detail: `status ${response.status}` };
    return { up: true, detail: `in ${Math.max(1, Math.round(performance.now() - start))} ms` };
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    return { up: false, detail: isLate ? `no response in ${TIMEOUT_MS / 1000} s` : 'no response' };
  }
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\([^)\s]+\)|[^`*[]+|./g;

/** The nodes of a paragraph of CommonMark: code and emphasis; a link is only its text. */
function format(paragraph) {
  return [...paragraph.matchAll(INLINE)].map(([whole, code, strong, em, label]) => {
    const [tag, textContent] = Object.entries({ code, strong, em }).find(([, text]) => text) ?? [];
    return tag ? Object.assign(document.createElement(tag), { textContent }) : (label ?? whole);
  });
}

/** Shows what the OpenAPI document of the service contains: its purpose, and the versions that are served. */
async function describe(service) {
  const name = service.querySelector('h2').textContent;
  const nav = service.querySelector('nav');
  try {
    const response = await fetch(documentOf(name), { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { info, paths } = await response.json();
    const lists = Object.keys(paths).filter((path) => /^\/api\/v\d+\/[^/]+$/.test(path));
    const links = lists.sort().map((path) => {
      const textContent = path.split('/')[2];
      const link = document.createElement('a');
      return Object.assign(link, {
        textContent,
        href: `${path}?limit=3`,
        ariaLabel: `${name} ${textContent}`,
      });
    });
    service.querySelector('.about').replaceChildren(...format(info.description.split('\n\n')[0]));
    nav.replaceChildren(nav.querySelector('.docs'), ...links);
    // A list also tests the store; with a token, the document has to do.
    const last = lists.at(-1);
    const isOpen = last && !paths[last].get?.security?.length;
    service.dataset.check = isOpen ? `${last}?limit=1` : documentOf(name);
  } catch {
    // The check shows the reason, and the next one that succeeds describes the service.
  }
}

/** Checks a service and shows its state; returns its name if it is down. */
async function check(service) {
  // A service may start with other versions than it had.
  if (service.dataset.state !== 'up') await describe(service);
  const { up, detail } = await request(service.dataset.check);
  service.dataset.state = up ? 'up' : 'down';
  service.querySelector('.word').textContent = up ? 'up' : 'down';
  service.querySelector('.detail').textContent = detail;
  return up ? undefined : service.querySelector('h2').textContent;
}

async function checkAll() {
  const down = (await Promise.all(services.map(check))).filter((name) => name !== undefined);
  const text = summarise(down);
  summary.dataset.state = down.length === 0 ? 'up' : 'down';
  // Screen readers announce every write, so only changes are written.
  if (summary.textContent !== text) summary.textContent = text;
}

function summarise(down) {
  if (down.length === 0) return 'All services are up';
  if (down.length === services.length) return 'All services are down';
  return `${down.join(' and ')} ${down.length === 1 ? 'is' : 'are'} down`;
}

/** Checks now, and again some time after each check; a hidden page sends no requests. */
async function keepChecking() {
  for (;;) {
    if (!document.hidden) await checkAll();
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, REFRESH_MS);
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      document.addEventListener('visibilitychange', wake, { once: true });
    });
  }
}

/** Copies the text of `code`, or selects it if the browser allows no copying. */
async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return 'Copied';
  } catch {
    getSelection().selectAllChildren(code);
    return 'Selected';
  }
}

function addCopyButton(line) {
  const button = document.createElement('button');
  const title = line.querySelector('h3');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy: ${title.textContent}`);
  button.addEventListener('click', async () => {
    button.textContent = await copy(line.querySelector('pre code'));
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1_500);
  });
  title.after(button);
}

for (const origin of document.querySelectorAll('pre b')) origin.textContent = location.origin;
for (const line of document.querySelectorAll('.line')) addCopyButton(line);
summary.textContent = 'Checking whether they are up';
keepChecking();
