export { type JsonOptions, json } from './json.ts';
