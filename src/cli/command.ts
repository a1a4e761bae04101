import type { BaseContext } from "./base-context.ts";
import type { Context } from "./context.ts";
import type { Exit } from "./exit.ts";
import type { Argument, Option } from "./option.ts";

/** The positional arguments of a verb, in order. */
export type Arguments = Readonly<Record<string, Argument<unknown>>>;

/** The options of a verb; the key in camelCase is the flag in kebab-case. */
export type Options = Readonly<Record<string, Option<unknown>>>;

/** The parsed values of arguments or options. */
export type ValuesOf<T extends Arguments | Options> = {
  readonly [K in keyof T]: T[K] extends Argument<infer V> | Option<infer V> ? V : never;
};

/** One verb of a program; `run` answers with the exit, done unless it says otherwise; a number is that of a program that it ran. */
export interface Command<
  A extends Arguments = Arguments,
  O extends Options = Options,
  C extends BaseContext = Context,
> {
  readonly name: string;
  readonly summary: string;
  /** More than the summary, printed by `--help` of this verb. */
  readonly description?: string;
  /** Command lines to copy, printed by `--help` of this verb. */
  readonly examples?: readonly string[];
  readonly args: A;
  readonly options: O;
  run(call: {
    readonly args: ValuesOf<A>;
    readonly options: ValuesOf<O>;
    readonly context: C;
  }): Promise<Exit | number | void>;
}

/** What declares the verbs that work with such a context; a verb does nothing until it is run. */
export function defineCommandFor<C extends BaseContext>() {
  return <const A extends Arguments, const O extends Options>(command: Command<A, O, C>): Command<A, O, C> => command;
}

/** Declares a verb of `perennial`. */
export const defineCommand = defineCommandFor<Context>();
