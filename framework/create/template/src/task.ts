/** Maximum length of a title, in characters. */
export const MAX_TITLE_LENGTH = 200;

export interface Task {
  readonly id: string;
  readonly title: string;
  readonly done: boolean;
  readonly createdAt: Date;
}

/** The sources of ids and of the current time. */
export interface Origins {
  readonly newId: () => string;
  readonly now: () => Date;
}

/** Returns a new task, not yet stored. */
export function createTask(title: string, { newId, now }: Origins): Task {
  return { id: newId(), title, done: false, createdAt: now() };
}
