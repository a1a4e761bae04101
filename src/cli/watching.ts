import { alongside, duration, flag } from "./option.ts";

/** The options of every verb that asks for an operation and can follow it, as `shoot watch` does. */
export const watchOptions = {
  watch: flag("Follow it, step by step, until it has ended"),
  timeout: alongside("watch", duration("give up following after this time")),
} as const;
