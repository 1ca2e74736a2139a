// An older Node would print ERR_UNKNOWN_FILE_EXTENSION for TypeScript.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`my-service needs Node 24 or later, got ${process.versions.node}`);
  process.exit(1);
}
