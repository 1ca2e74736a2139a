import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** A failed check. */
export interface Failure {
  /** The operation as in the document: `GET /api/v2/users/{id}`. */
  readonly operation: string;
  readonly check: string;
  readonly message: string;
  readonly status: number | undefined;
  /** The `detail` of the response, if it is a problem document. */
  readonly detail: string | undefined;
  /** A command that sends the request again. */
  readonly curl: string;
}

/** The findings of one run of schemathesis. */
export interface Findings {
  /** The number of cases per path of the document. */
  readonly cases: ReadonlyMap<string, number>;
  readonly failures: readonly Failure[];
  /** Errors that prevented schemathesis from testing an operation. */
  readonly errors: readonly string[];
}

/** Bytes in a report. */
interface Bytes {
  readonly $base64: string;
}

interface Interaction {
  readonly request: {
    readonly method: string;
    readonly uri: string;
    readonly headers: Readonly<Record<string, readonly string[]>>;
    readonly body?: Bytes | null;
  };
  readonly response?: {
    readonly status_code: number;
    readonly content?: Bytes | null;
  } | null;
}

interface Check {
  readonly name: string;
  readonly status: string;
  readonly failure_info?: {
    readonly failure: { readonly operation: string; readonly message: string };
  } | null;
}

/** The fields of an event of schemathesis that are read here. */
interface Event {
  readonly ScenarioFinished?: {
    readonly recorder: {
      readonly cases?: Readonly<Record<string, { readonly value: { readonly path: string } }>>;
      readonly checks?: Readonly<Record<string, readonly Check[]>>;
      readonly interactions?: Readonly<Record<string, Interaction>>;
    };
  };
  readonly NonFatalError?: unknown;
  readonly FatalError?: unknown;
  readonly EngineFinished?: { readonly stop_reason: string };
}

/** Reads the NDJSON report of a run, one event per line. */
export async function readReport(file: string): Promise<Findings> {
  const cases = new Map<string, number>();
  const failures: Failure[] = [];
  const errors: string[] = [];
  let stopReason = 'no end';
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const event: Event = JSON.parse(line);
    const { ScenarioFinished: scenario, EngineFinished: end } = event;
    if (event.NonFatalError ?? event.FatalError) errors.push(line.slice(0, 2_000));
    if (end) stopReason = end.stop_reason;
    if (!scenario) continue;
    const { recorder } = scenario;
    for (const { value } of Object.values(recorder.cases ?? {})) {
      cases.set(value.path, (cases.get(value.path) ?? 0) + 1);
    }
    for (const [id, checks] of Object.entries(recorder.checks ?? {})) {
      for (const check of checks) {
        if (check.status !== 'success')
          failures.push(failureOf(check, recorder.interactions?.[id]));
      }
    }
  }
  if (stopReason !== 'completed') errors.push(`The run was not completed: ${stopReason}`);
  return { cases, failures, errors };
}

function failureOf({ name, failure_info }: Check, interaction?: Interaction): Failure {
  const { operation = 'unknown', message = '' } = failure_info?.failure ?? {};
  return {
    operation,
    check: name,
    message,
    status: interaction?.response?.status_code,
    detail: detailOf(textOf(interaction?.response?.content)),
    curl: interaction ? curlOf(interaction.request) : 'no request was sent',
  };
}

function detailOf(body: string): string | undefined {
  try {
    const { detail } = JSON.parse(body);
    return typeof detail === 'string' ? detail : undefined;
  } catch {
    return undefined;
  }
}

function curlOf({ method, uri, headers, body }: Interaction['request']): string {
  const sent = Object.entries(headers).flatMap(([name, values]) =>
    values.map((value) => `-H ${quote(`${name}: ${value}`)}`),
  );
  const data = body ? [`--data-binary ${quote(textOf(body))}`] : [];
  return ['curl -i -X', method, ...sent, ...data, quote(uri)].join(' ');
}

function textOf(bytes: Bytes | null | undefined): string {
  return Buffer.from(bytes?.$base64 ?? '', 'base64').toString();
}

/** `text` as one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
