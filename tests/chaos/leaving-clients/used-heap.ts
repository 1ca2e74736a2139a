import { once } from 'node:events';

/** Collects the garbage of a Node process through its debugger; returns the remaining heap in MiB. */
export async function readUsedHeap(debuggerPort: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${debuggerPort}/json/list`);
  const [target] = (await response.json()) as readonly { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open');
  const call = async (method: string) => {
    socket.send(JSON.stringify({ id: 1, method }));
    const [{ data }] = (await once(socket, 'message')) as [{ readonly data: string }];
    return JSON.parse(data).result;
  };
  // Objects with weak references are only freed by the second collection.
  await call('HeapProfiler.collectGarbage');
  await call('HeapProfiler.collectGarbage');
  const { usedSize } = await call('Runtime.getHeapUsage');
  socket.close();
  return usedSize / 1024 ** 2;
}
