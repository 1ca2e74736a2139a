import { inspect } from 'node:util';

import { isOwnFrame, ownFramesFirst } from '../logging/stack-frames.ts';

/** An error of a function of the service, such as `start`: its place in their code is printed. */
export class ServiceCodeError extends Error {
  /** @param cause what the function threw, which may be any value */
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

/**
 * Describes why a service does not run, for standard error: one line with the message, and for an error
 * of its own code the first frame in that code. In development, the error with its stack follows.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof ServiceCodeError)) return `${messageOf(error)}\n`;
  const frame = frameOf(error.cause);
  const line = `${error.message}${frame === undefined ? '' : `, ${frame}`}\n`;
  return process.env.NODE_ENV === 'development'
    ? `${line}${ownFramesFirst(inspect(error.cause))}\n`
    : line;
}

/** The message of `error` on one line. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ');
}

/** The first own frame of `error`, or of its cause. */
function frameOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const frames = error.stack?.match(/^ {4}at .*:\d+:\d+\)?$/gm) ?? [];
  return frames.find(isOwnFrame)?.trim() ?? frameOf(error.cause);
}
