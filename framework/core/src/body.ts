export {
  createTypeReader,
  isUtf8Charset,
  parseMediaType,
  trimBlanks,
} from './request/media-type.ts';
export { decodeUtf8, parseJson, skipByteOrderMark } from './request/parse-json.ts';
export {
  BODY_LIMIT_BYTES,
  BodyMemory,
  bodyTooLarge,
  bodyUnreadable,
  type CountBodyBytes,
  countBody,
  discardRest,
  hasBody,
  isBodyRead,
  isReadStarted,
  readBody,
  sendContinue,
} from './request/read-body.ts';
