export { type JsonOptions, json } from './json.ts';
export { type TextMiddleware, type TextOptions, text } from './text.ts';
