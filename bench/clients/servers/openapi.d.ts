interface NoteContent {
  content: { 'application/json': { id: string; text: string } };
}

/** The paths of the API as openapi-typescript writes them. */
export interface paths {
  '/notes/{id}': {
    get: {
      parameters: { query?: never; header?: never; path: { id: string }; cookie?: never };
      requestBody?: never;
      responses: { 200: NoteContent };
    };
  };
  '/notes': {
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { 'application/json': { text: string } } };
      responses: { 201: NoteContent };
    };
  };
  '/files': {
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { 'multipart/form-data': { file: string } } };
      responses: { 201: NoteContent };
    };
  };
}
