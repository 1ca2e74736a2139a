// The program of "helm test" and of the trial of a release: creates a task, reads and deletes it.
await repeat(async () => {
  const body = { title: 'Helm test' };
  const created = await call('POST', v1, { status: 201, body });
  requireFields(created?.data, ['id', 'title', 'done', 'createdAt'], v1);
  const path = `${v1}/${created.data.id}`;
  const read = await call('GET', path, { status: 200 });
  assert.deepEqual(read.data, created.data);
  await call('DELETE', path, { status: 204 });
  await call('GET', path, { status: 404 });
});
