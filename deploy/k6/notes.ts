/** Something that k6 or a script has said, and how often. */
export interface Note {
  readonly text: string;
  readonly times: number;
}

/** Reads k6's log (`--log-format json`): what differs only in what is quoted, ids and ports is one note. */
export function readNotes(log: string): Note[] {
  const notes = new Map<string, { text: string; times: number }>();
  for (const text of log.split('\n').map(readLine)) {
    if (text === undefined) continue;
    const key = text.replace(/"[^"]*"|[0-9a-f-]{32,36}|:\d+/g, '#');
    const note = notes.get(key) ?? { text, times: 0 };
    note.times += 1;
    notes.set(key, note);
  }
  return [...notes.values()].toSorted((a, b) => b.times - a.times);
}

/** What a line of the log says; nothing if the summary says it better. */
function readLine(line: string): string | undefined {
  if (line.trim() === '') return undefined;
  try {
    const { msg = '', error = '' } = JSON.parse(line);
    if (/^thresholds on metrics? '/.test(msg)) return undefined;
    return [msg, error].filter((part) => part !== '').join(': ');
  } catch {
    return line;
  }
}
