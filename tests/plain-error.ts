/** An error that Vitest prints as its message, without stack, source and causes. */
export function plainError(message: string): Error {
  return Object.assign(new Error(message), { stack: message });
}
