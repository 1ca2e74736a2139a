import { loadOptional } from '@fw/core/extension';

export const { WebSocket, WebSocketServer } = loadOptional('ws', {
  user: 'websocket()',
  from: import.meta.url,
  bundled: (): typeof import('ws') => require('ws'),
});
export type WebSocket = import('ws').WebSocket;
