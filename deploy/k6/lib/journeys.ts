// k6 runs the export that has the name of a scenario.

export { catalog } from './journeys/catalog.ts';
export { reports } from './journeys/reports.ts';
export { users } from './journeys/users.ts';
