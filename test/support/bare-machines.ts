import { expect } from "vitest";
import { createBareMachines, type BareMachines, type CreateOptions } from "../../src/local/bare/machines.ts";
import { findSet } from "../../src/local/bare/set.ts";
import { createLogger } from "../../src/log.ts";
import { findRemains } from "./machine-remains.ts";

/** A set of bare machines for one test file, and what takes it away. */
export interface BareGround {
  readonly machines: BareMachines;
  /** Runs a command that has to succeed, and answers what it wrote. */
  inMachine(name: string, ...command: readonly string[]): Promise<string>;
  /** Leaves nothing of the set on the host, and sees that this is so. */
  stop(): Promise<void>;
}

/** Makes machines of these names in a set of its own, without an environment; removes first what a killed run left of it. */
export async function startBareGround(
  set: string,
  names: readonly string[],
  options: CreateOptions = {},
): Promise<BareGround> {
  if (process.getuid?.() !== 0) throw new Error("machines need root: run this test as root");
  const machines = createBareMachines(set, createLogger({ name: set, level: "warn" }));
  await machines.removeAll();
  for (const name of names) await machines.create(name, options);
  return {
    machines,
    async inMachine(name, ...command) {
      const { code, stdout, stderr } = await machines.exec(name, command);
      expect(code, `${command.join(" ")} in ${name}: ${stderr}`).toBe(0);
      return stdout;
    },
    async stop() {
      const environment = await findSet(set);
      await machines.removeAll();
      if (environment !== undefined) expect(await findRemains(environment)).toEqual([]);
    },
  };
}
