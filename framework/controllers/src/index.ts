export { inject, type Provided, type ServiceOptions, type Type } from './container.ts';
export {
  Body,
  Controller,
  Delete,
  Get,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Service,
} from './decorators.ts';
export { type ControllersOptions, controllersPlugin } from './plugin.ts';
