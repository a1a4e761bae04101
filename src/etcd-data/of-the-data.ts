import { CommandError } from "../node-agent/commands.ts";

/**
 * Whether a tool of etcd's has failed of the data that it was given: it has run to its own end, and speaks of no disk and no memory that
 * have failed it. All else says nothing of the data.
 */
export const isOfTheData = (error: unknown): error is CommandError =>
  error instanceof CommandError && error.exitCode !== undefined && !isOfTheMachine(error.message);

const isOfTheMachine = (words: string): boolean =>
  /no space left|quota|cannot allocate memory|out of memory|too many open files|permission denied|read-only file system|input\/output error/i.test(
    words,
  );
