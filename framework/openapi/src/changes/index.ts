export { type BreakingChanges, findBreakingChanges } from './breaking-changes.ts';
