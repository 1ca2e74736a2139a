export { type LogEntry, quiet, recordLog } from './log.ts';
export { openConnection, type RawConnection } from './raw-connection.ts';
export { type RequestOptions, request } from './request.ts';
