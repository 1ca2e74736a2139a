export { isStandardSchema, type OutputOf, type StandardSchema } from '@fw/core/schema';
export {
  type RequestSchemas,
  type ValidateMiddleware,
  type ValidateOptions,
  validate,
} from './validate.ts';
