/** The status of the response to `error`: its own `status`, or 500. */
export function statusOfError(error: unknown): number {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : 500;
}
