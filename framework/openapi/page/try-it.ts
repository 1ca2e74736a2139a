import { type Api, type Operation, type Parameter, resolve, type Schema } from './api.ts';
import { codeBlock } from './code.ts';
import { announce, append, button, h, statusBadge } from './dom.ts';
import { typesOf } from './example.ts';
import { credentialField, field } from './field.ts';
import { type Draft, keyOf, placeholderOf, prepare, type Session, schemesOf } from './request.ts';

export interface TryItOptions {
  readonly draft: Draft;
  readonly session: Session;
  /** Called when a value changes. */
  readonly onChange: () => void;
}

/** The form that sends a request for an operation and shows the response. */
export function tryIt(api: Api, operation: Operation, options: TryItOptions): HTMLElement {
  const { draft, session, onChange } = options;
  const result = h('div', { class: 'response' });
  const send = h('button', { type: 'submit', class: 'send' }, 'Send request');
  const form = h(
    'form',
    { class: 'try', 'aria-label': `Try ${operation.title}` },
    ...schemesOf(api, operation).map(([name]) => credentialField(session, name)),
    ...(operation.parameters ?? []).map((parameter) =>
      field(
        parameter.name,
        parameterInput(api, parameter, { draft, onChange }),
        note(parameter.in, parameter.required),
      ),
    ),
    operation.requestBody &&
      field('Body', bodyInput(draft, onChange), note('JSON', operation.requestBody.required)),
    send,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    send.disabled = true;
    await sendRequest(api, operation, { ...options, result });
    send.disabled = false;
  });
  return h('div', {}, form, result);
}

function note(place: string, required: boolean): string {
  return required ? `${place}, required` : place;
}

function parameterInput(
  api: Api,
  parameter: Parameter,
  { draft, onChange }: { draft: Draft; onChange: () => void },
): HTMLElement {
  const schema = resolve<Schema>(api, parameter.schema);
  const values = typesOf(schema)[0] === 'boolean' ? [true, false] : schema.enum;
  const attributes = { required: parameter.required };
  const input = values
    ? h('select', attributes, ...['', ...values].map((value) => h('option', {}, String(value))))
    : h('input', {
        ...attributes,
        placeholder: placeholderOf(api, parameter),
        spellcheck: 'false',
        autocomplete: 'off',
      });
  input.value = draft.values.get(keyOf(parameter)) ?? '';
  input.addEventListener('input', () => {
    draft.values.set(keyOf(parameter), input.value);
    onChange();
  });
  return input;
}

function bodyInput(draft: Draft, onChange: () => void): HTMLElement {
  const rows = Math.min(16, draft.body.split('\n').length + 1);
  const input = h('textarea', { rows: String(rows), spellcheck: 'false' }, draft.body);
  input.addEventListener('input', () => {
    draft.body = input.value;
    onChange();
  });
  return input;
}

async function sendRequest(
  api: Api,
  operation: Operation,
  { draft, session, result }: TryItOptions & { readonly result: HTMLElement },
): Promise<void> {
  const { url, method, headers, body } = prepare(api, operation, { draft, session });
  const start = performance.now();
  const abort = new AbortController();
  try {
    const init = { method, headers, signal: abort.signal, ...(body !== undefined && { body }) };
    const response = await fetch(url, init);
    if (/^text\/event-stream\b/.test(response.headers.get('content-type') ?? '')) {
      await showStream(response, { abort, result });
      return;
    }
    const text = await response.text();
    const ms = Math.round(performance.now() - start);
    announce(`Response ${response.status} ${response.statusText} in ${ms} milliseconds`);
    result.replaceChildren(responseView(response, text, ms));
  } catch (error) {
    announce('No response');
    const text = `No response: ${error instanceof Error ? error.message : error}`;
    result.replaceChildren(h('p', { class: 'failure', role: 'alert' }, text));
  }
}

const MAX_SHOWN = 20_000;

/** Shows the latest events of a stream as they arrive, until the server or the reader ends it. */
async function showStream(
  { status, statusText, body }: Response,
  { abort, result }: { readonly abort: AbortController; readonly result: HTMLElement },
): Promise<void> {
  const state = h('span', {}, ' live');
  const block = codeBlock(h('span', {}, statusBadge(`${status} ${statusText}`), state), 'response');
  const stop = button('Stop', { class: 'send' }, () => abort.abort());
  result.replaceChildren(block.element, stop);
  announce('The stream has started');
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      text = (text + part.value).slice(-MAX_SHOWN);
      block.show(text.replace(/^:.*\n+/gm, '')); // without comments
    }
    state.textContent = ' ended';
  } catch {
    state.textContent = abort.signal.aborted ? ' stopped' : ' cut off';
  }
  stop.remove();
  announce(`The stream has${state.textContent}`);
}

function responseView(response: Response, text: string, ms: number): HTMLElement {
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  const block = codeBlock(
    h('span', {}, statusBadge(`${response.status} ${response.statusText}`), ` ${ms} ms`),
    'response',
  );
  block.show(text === '' ? 'No body' : isJson ? pretty(text) : text, isJson);
  // The code of a problem, which the page explains.
  const code = isJson ? /"code":\s*"([A-Z_]+)"/.exec(text)?.[1] : undefined;
  const list = h('dl', {});
  for (const [name, value] of response.headers)
    append(list, [h('dt', {}, name), h('dd', {}, value)]);
  return h(
    'div',
    {},
    block.element,
    code !== undefined &&
      h('p', { class: 'hint' }, h('a', { href: '#errors' }, `What ${code} means`)),
    h('details', { class: 'inner' }, h('summary', {}, 'Response headers'), list),
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
