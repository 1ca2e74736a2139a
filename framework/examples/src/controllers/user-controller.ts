import { Body, Controller, Delete, Get, inject, Param, Post, Put, Service } from '@fw/controllers';
import type { Context } from 'fw';

import { UserStore } from '../user-store.ts';

@Service()
class UserService extends UserStore {}

/** Serves `/users`: the value that a method returns is the response body. */
@Controller('/users')
export class UserController {
  readonly users = inject(UserService);

  @Get()
  list() {
    const data = this.users.list();
    return { data, total: data.length };
  }

  @Get('/:id')
  find(@Param('id') id: string) {
    return { data: this.users.find(id) };
  }

  @Post()
  create(@Body() input: unknown, ctx: Context) {
    ctx.status = 201;
    return { data: this.users.create(input) };
  }

  @Put('/:id')
  update(@Param('id') id: string, @Body() input: unknown) {
    return { data: this.users.update(id, input) };
  }

  @Delete('/:id')
  delete(@Param('id') id: string) {
    this.users.delete(id);
    return { success: true };
  }
}
