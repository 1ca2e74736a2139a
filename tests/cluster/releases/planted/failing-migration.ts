/** The migration fails: it is an SQL statement with an error. */
if (process.argv.includes('migrate')) throw new Error('Planted error: syntax error in migration');
