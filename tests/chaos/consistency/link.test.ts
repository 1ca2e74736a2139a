import { once } from 'node:events';
import net from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { listenAnywhere } from '../../../deploy/local/testing/ports.ts';
import { startLink } from './link.ts';

/** A link to a server that returns what it receives. */
async function startEchoLink() {
  const server = net.createServer((socket) => socket.on('error', () => {}).pipe(socket));
  const link = await startLink(await listenAnywhere(server));
  onTestFinished(async () => {
    await link.close();
    server.close();
  });
  const open = async () => {
    const socket = net.connect(link.port, '127.0.0.1').setEncoding('utf8');
    socket.on('error', () => {}); // also after the test
    await once(socket, 'connect');
    return socket;
  };
  return { link, open };
}

async function echo(socket: net.Socket, text: string): Promise<unknown> {
  socket.write(text);
  return (await once(socket, 'data'))[0];
}

test('a link forwards data in both directions', async () => {
  const { open } = await startEchoLink();

  expect(await echo(await open(), 'hello')).toBe('hello');
});

test('a cut link resets its connections, and new ones until it is restored', async () => {
  const { link, open } = await startEchoLink();
  const socket = await open();
  await echo(socket, 'hello');

  link.cut();

  await expect(once(socket, 'data')).rejects.toThrow('ECONNRESET');
  await expect(open().then((late) => once(late, 'data'))).rejects.toThrow('ECONNRESET');
  link.restore();
  expect(await echo(await open(), 'again')).toBe('again');
});

test('a hanging link delivers the data of old and new connections once it is restored', async () => {
  const { link, open } = await startEchoLink();
  const socket = await open();
  await echo(socket, 'hello');

  link.hang();
  const echoes = [echo(socket, 'late'), echo(await open(), 'new')];
  const early = await Promise.race([...echoes, new Promise((resolve) => setTimeout(resolve, 50))]);
  link.restore();

  expect(early).toBeUndefined();
  expect(await Promise.all(echoes)).toEqual(['late', 'new']);
});
