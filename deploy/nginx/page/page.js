const REFRESH_MS = 4_000;
const TIMEOUT_MS = 3_000;

const services = [...document.querySelectorAll('[data-check]')];
const summary = document.querySelector('#summary');

/** Asks a service once: whether it answers, and what to say about it. */
async function ask(path) {
  const begun = performance.now();
  try {
    const response = await fetch(path, {
      method: 'HEAD',
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) return { up: false, detail: `answered ${response.status}` };
    return { up: true, detail: `in ${Math.max(1, Math.round(performance.now() - begun))} ms` };
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    return { up: false, detail: isLate ? `no answer in ${TIMEOUT_MS / 1000} s` : 'no answer' };
  }
}

/** Asks a service and shows it; gives its name when it is down. */
async function check(service) {
  const { up, detail } = await ask(service.dataset.check);
  service.dataset.state = up ? 'up' : 'down';
  service.querySelector('.word').textContent = up ? 'up' : 'down';
  service.querySelector('.detail').textContent = detail;
  return up ? undefined : service.querySelector('h2').textContent;
}

async function checkAll() {
  const down = (await Promise.all(services.map(check))).filter((name) => name !== undefined);
  const text = {
    0: 'All three are up',
    1: `${down[0]} is down`,
    2: `${down.join(' and ')} are down`,
    3: 'All three are down',
  }[down.length];
  summary.dataset.state = down.length === 0 ? 'up' : 'down';
  // A status is read out whenever it is written, so only a change is.
  if (summary.textContent !== text) summary.textContent = text;
}

/** Checks now, and again a while after each check has ended; a page that nobody looks at asks nobody. */
async function keepChecking() {
  for (;;) {
    if (!document.hidden) await checkAll();
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, REFRESH_MS);
      const look = () => {
        clearTimeout(timer);
        resolve();
      };
      document.addEventListener('visibilitychange', look, { once: true });
    });
  }
}

/** Copies the text of `code`; where the browser allows no copying, selects it. */
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
