import { expect, test } from 'vitest';

import { runProgram } from './program.ts';

test('the reason why Helm failed omits the links in the chart', async () => {
  const script =
    'echo "level=INFO msg=\\"found symbolic link\\"" >&2; echo "Error: no pods" >&2; exit 1';

  await expect(runProgram('sh', ['-c', script])).rejects.toThrow(
    /^Cannot run sh -c …: Error: no pods$/,
  );
});
