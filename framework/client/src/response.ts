import type { RawResponse } from './attempt.ts';
import type { ClientSettings } from './client-options.ts';
import { ProblemError, type ProblemErrorOptions, readProblem } from './problem-error.ts';
import type { PreparedRequest } from './request.ts';
import { readRetryAfter } from './retry.ts';

/** A request, and the settings of its client. */
export interface Sender {
  readonly request: PreparedRequest;
  readonly settings: ClientSettings;
}

/** `application/json`, or a type that ends in `+json` (RFC 6839 §3.1). */
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** The JSON body of a successful response; undefined if it has none. */
export function readData(response: RawResponse, sender: Sender): unknown {
  const type = response.headers.get('Content-Type');
  const isEmpty = response.text === '' && (type === null || sender.request.method === 'HEAD');
  if (isEmpty) return undefined;
  try {
    return parseJson(response);
  } catch (cause) {
    throw newError(response, sender, {
      reason: 'unreadable',
      text: 'its response is not JSON',
      cause,
    });
  }
}

/** The error of a response whose status is no success. */
export function problemOf(response: RawResponse, sender: Sender): ProblemError {
  const problem = readProblem(parseOrIgnore(response));
  const reason = problem.detail === undefined ? '' : `: ${problem.detail}`;
  const text = `it responds with ${response.status}${reason}`;
  return newError(response, sender, { reason: 'status', text, problem });
}

function newError(
  response: RawResponse,
  { settings, request }: Sender,
  options: Pick<ProblemErrorOptions, 'reason' | 'text' | 'problem' | 'cause'>,
): ProblemError {
  return new ProblemError({
    ...options,
    api: settings.name,
    requestId: request.requestId,
    status: response.status,
    retryAfterSeconds: readRetryAfter(response, settings.clock.now()),
  });
}

/** @throws {SyntaxError} if the content type or the text is not JSON */
function parseJson({ headers, text }: RawResponse): unknown {
  const type = headers.get('Content-Type') ?? '';
  if (!JSON_TYPE.test(type)) throw new SyntaxError(`Cannot read "${type}" as JSON`);
  return JSON.parse(text);
}

function parseOrIgnore(response: RawResponse): unknown {
  try {
    return parseJson(response);
  } catch {
    return undefined;
  }
}
