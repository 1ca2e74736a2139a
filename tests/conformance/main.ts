import { checkConformance, tableOf } from './conformance.ts';

/** With this bound the run has about 29,000 cases; their number differs from run to run. */
const MAX_EXAMPLES = 450;
const LEAST_CASES = 20_000;

/** Problems printed in full; more of them rarely have another cause. */
const SHOWN = 100;

try {
  const outcome = await checkConformance({ maxExamples: MAX_EXAMPLES });
  const { cases, problems, unused } = outcome;
  const complaints = [
    ...problems,
    ...unused.map(
      ({ operation, check, detail }) =>
        `Remove the exception of ${operation}, ${check}, "${detail}": it no longer occurs`,
    ),
    ...(cases < LEAST_CASES ? [`Expected at least ${LEAST_CASES} cases, got ${cases}`] : []),
  ];
  for (const complaint of complaints.slice(0, SHOWN)) console.log(`${complaint}\n`);
  if (complaints.length > SHOWN) console.log(`… and ${complaints.length - SHOWN} more\n`);
  console.log(tableOf(outcome));
  if (complaints.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
