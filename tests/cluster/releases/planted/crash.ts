/** The process ends 20 s after its start. */
setTimeout(() => process.exit(1), 20_000).unref();
