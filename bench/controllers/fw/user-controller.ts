import { Controller, Get, inject, Param, Service } from '@fw/controllers';

import { findUser } from '../../http/workloads.ts';

@Service()
class UserService {
  readonly find = findUser;
}

@Controller('/api/v1/users')
export class UserController {
  readonly users = inject(UserService);

  @Get('/:id')
  find(@Param('id') id: string) {
    return this.users.find(id);
  }
}
