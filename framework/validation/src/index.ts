export { isStandardSchema, type OutputOf, type StandardSchema } from './standard-schema.ts';
export {
  type RequestSchemas,
  type ValidateMiddleware,
  type ValidateOptions,
  validate,
} from './validate.ts';
