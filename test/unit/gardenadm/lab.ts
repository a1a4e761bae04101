import { Readable } from "node:stream";
import { runProgram } from "../../../src/cli/program.ts";
import { createContext } from "../../../src/gardenadm/connection.ts";
import { gardenadm } from "../../../src/gardenadm/gardenadm.ts";
import type { ThisMachine } from "../../../src/gardenadm/machine/this-machine.ts";
import { fakeTerminal } from "../cli/fake-terminal.ts";

/** What a process would find around it. */
export interface Surroundings {
  readonly variables?: Readonly<Record<string, string>>;
  /** The kubeconfig of a control-plane node; none unless it is said. */
  readonly adminKubeconfig?: string;
  /** Standard input. */
  readonly input?: string;
  /** The machine that it runs on; the one of the tests unless it is said. */
  readonly machine?: ThisMachine;
}

/** What one command line of gardenadm has come to. */
export interface Outcome {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line of gardenadm as a process would. */
export async function runGardenadm(argv: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const { variables = {}, adminKubeconfig = "/nonexistent/admin.conf", input = "", machine } = surroundings;
  const terminal = fakeTerminal();
  const { context, close } = createContext({
    ...{ terminal, variables, adminKubeconfig },
    ...(machine !== undefined && { machine: async () => await Promise.resolve(machine) }),
    signal: new AbortController().signal,
    input: Readable.from([Buffer.from(input)]),
  });
  const exit = await runProgram(argv, gardenadm, context);
  await close();
  return { exit, out: terminal.out.text(), err: terminal.err.text() };
}

/** A machine whose `/` is this folder, on which no program runs. */
export function machineIn(root: string, hostName = "a"): ThisMachine {
  const none = async (): Promise<string> => await Promise.reject(new Error("there are no programs here"));
  return { root, hostName, addresses: ["10.0.0.9"], systemctl: none, ctr: none };
}
