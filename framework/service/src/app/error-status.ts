/** The status that `error` is answered with: its own, by name, or 500. */
export function statusOfError(error: unknown): number {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : 500;
}
