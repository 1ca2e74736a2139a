import type { TestCase, TestModule, TestProject, TestSuite } from 'vitest/node';

import type { MissingProgram } from './programs.ts';
import './skip-missing.ts';

/** Global setup of Vitest: the last lines name the missing programs, what to do, and the number of skipped tests. */
export default function setup(project: TestProject): () => void {
  return () => {
    for (const line of skippedLines(project)) console.warn(line);
  };
}

function skippedLines(project: TestProject): string[] {
  const skipped = project.vitest.state
    .getTestModules()
    .filter((module) => module.project === project)
    .flatMap((module) => [...module.children.allTests('skipped')].flatMap(missingOf));
  return [...Map.groupBy(skipped, ({ remedy }) => remedy)].map(([remedy, tests]) => {
    const programs = [...new Set(tests.map(({ program }) => program))].sort().join(', ');
    const count = `${tests.length} ${tests.length === 1 ? 'test' : 'tests'}`;
    return `Skipped ${count} without ${programs}: ${remedy}`;
  });
}

/** The program that a skipped test or a group around it did not find. */
function missingOf(test: TestCase): MissingProgram[] {
  let task: TestCase | TestSuite | TestModule = test;
  while (!task.meta().missing && task.type !== 'module') task = task.parent;
  return [task.meta().missing ?? []].flat();
}
