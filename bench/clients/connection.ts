/** The same three calls with one of the clients; each returns what the client returns. */
export interface Connection {
  /** Reads the note 7. */
  read(): Promise<unknown>;
  /** Creates a note. */
  create(): Promise<unknown>;
  /** Sends a file. */
  upload(file: File): Promise<unknown>;
}
