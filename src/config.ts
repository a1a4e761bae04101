import type * as z from "zod";
import { variables, type Environment, type Process, type Table, type Variable } from "./variables.ts";

/**
 * The settings of one process, under the names that the table of variables gives them. Reading a variable of another
 * process is a compile error. Times are milliseconds unless the name says otherwise.
 */
export type Config<P extends Process> = {
  readonly [Name in ReadBy<P> as Table[Name]["setting"]]: P extends RequiredBy<Name>
    ? NonNullable<ValueOf<Name>>
    : ValueOf<Name>;
};

/**
 * Parses the variables that this process reads, once, at its start. Throws one sentence that names every variable that
 * is wrong, and how, and every variable that is missing.
 */
export function parseConfig<P extends Process>(environment: Environment, process: P): Config<P> {
  const faults: string[] = [];
  const settings = variablesOf(process).map(([name, { setting, schema, requiredBy = [] }]) => {
    const { data, error } = schema.safeParse(environment[name]);
    if (error) faults.push(`${name}: ${error.issues.map(({ message }) => message).join(", ")}`);
    else if (data === undefined && requiredBy.includes(process)) faults.push(`${name}: is not set`);
    return [setting, data] as const;
  });
  if (faults.length > 0) throw new Error(`cannot read the configuration: ${faults.join("; ")}`);
  return Object.fromEntries(settings) as Config<P>;
}

/** The settings of a process that has no variable set; a setting without a default is undefined. */
export function defaultConfig<P extends Process>(process: P): DefaultConfig<P> {
  const settings = variablesOf(process).map(([, { setting, schema }]) => [setting, schema.parse(undefined)] as const);
  return Object.fromEntries(settings) as DefaultConfig<P>;
}

/** {@link defaultConfig}'s result: nothing in it is required. */
export type DefaultConfig<P extends Process> = {
  readonly [Name in ReadBy<P> as Table[Name]["setting"]]: ValueOf<Name>;
};

type ValueOf<Name extends keyof Table> = z.output<Table[Name]["schema"]>;
type ReadBy<P> = { [Name in keyof Table]: P extends Table[Name]["readBy"][number] ? Name : never }[keyof Table];
type RequiredBy<Name extends keyof Table> = Table[Name] extends { requiredBy: readonly (infer P)[] } ? P : never;

function variablesOf(process: Process): [string, Variable][] {
  return Object.entries<Variable>(variables).filter(([, { readBy }]) => readBy.includes(process));
}
