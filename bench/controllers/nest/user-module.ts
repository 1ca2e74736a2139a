import { Controller, Get, Inject, Injectable, Module, Param } from '@nestjs/common';
import { RouteSchema } from '@nestjs/platform-fastify';

import { findUser } from '../../http/workloads.ts';

@Injectable()
class UserService {
  readonly find = findUser;
}

const text = { type: 'string' };

@Controller('/api/v1/users')
class UserController {
  readonly users: UserService;

  constructor(@Inject(UserService) users: UserService) {
    this.users = users;
  }

  @Get(':id')
  @RouteSchema({ response: { 200: { type: 'object', properties: { id: text, name: text } } } })
  find(@Param('id') id: string) {
    return this.users.find(id);
  }
}

@Module({ controllers: [UserController], providers: [UserService] })
export class UserModule {}
