/** An error that Vitest prints in one line: without stack, source and causes. */
export function plainError(message: string): Error {
  return Object.assign(new Error(message), { stack: message });
}
