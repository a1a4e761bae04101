import { ADMIN_KUBECONFIG } from "../api/names.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BaseContext } from "../cli/base-context.ts";
import { CliError } from "../cli/exit.ts";
import { kubeconfigOfVariable, readKubeconfig, type KubeconfigFile } from "../cli/kubeconfig-file.ts";
import { text } from "../cli/option.ts";
import type { OpenContext } from "../cli/process.ts";
import { readText } from "../read-text.ts";
import type { Cluster, GardenadmContext } from "./context.ts";
import { findThisMachine, type ThisMachine } from "./machine/this-machine.ts";
import { hideTokens } from "./without-tokens.ts";

/** In bytes: standard input is a token or a few names. */
const LONGEST_INPUT = 65_536;

/** The options of every verb that talks to the cluster. */
export const clusterOptions = {
  kubeconfig: text("file", `Kubeconfig of the cluster [$KUBECONFIG, ${ADMIN_KUBECONFIG}, ~/.kube/config]`, "k"),
} as const;

/** The options of every verb that talks to a garden. */
export const gardenOptions = {
  kubeconfig: text("file", "Kubeconfig of the garden [$KUBECONFIG, ~/.kube/config]", "k"),
} as const;

/** What a context is made from; everything that a verb can reach goes through it. */
export interface ContextDeps extends Pick<BaseContext, "terminal" | "signal"> {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly adminKubeconfig: string;
  readonly input: AsyncIterable<Uint8Array>;
  /** The machine; the one of this process unless told otherwise. */
  readonly machine?: () => Promise<ThisMachine>;
}

/** A context that connects on demand, and on whose standard error no bootstrap token stands; `close` ends every connection. */
export function createContext(deps: ContextDeps): OpenContext<GardenadmContext> {
  const { terminal, signal, input, machine = findThisMachine } = deps;
  const closers: (() => Promise<void>)[] = [];
  const err = hideTokens(terminal.err);

  const connect = async ({ file, called }: KubeconfigFile): Promise<Cluster> => {
    const kubeconfig = await readKubeconfig({ file, called });
    const { createClusterClient } = await import("./cluster/client.ts");
    const onWarning = (words: string) => void err.write(`warning: ${words}\n`);
    const client = createClusterClient({ file }, { userAgent: "gardenadm", onWarning });
    closers.push(() => client.close());
    return { client, kubeconfig, called };
  };

  const context: GardenadmContext = {
    terminal: { ...terminal, err },
    signal,
    now: () => Date.now(),
    cluster: async ({ kubeconfig }) => await connect(findKubeconfig(kubeconfig, deps)),
    garden: async ({ kubeconfig }) => await connect(findGardenKubeconfig(kubeconfig, deps)),
    machine,
    input: async () => await readText(input, { most: LONGEST_INPUT, tooLong }),
  };
  return { context, close: async () => void (await Promise.allSettled(closers.map((close) => close()))) };
}

const tooLong = (): CliError =>
  new CliError(
    "usage",
    `standard input is longer than ${LONGEST_INPUT} bytes: pass what is asked for, and nothing else`,
  );

/** The option, kubectl's variable, a control-plane node's own, the user's; throws where it looked when there is none. */
function findKubeconfig(option: string | undefined, deps: ContextDeps): KubeconfigFile {
  const usual = [deps.adminKubeconfig, ...usersKubeconfig(deps)];
  return firstKubeconfig(option, deps, usual, "run this on a control-plane node, or name one");
}

/** The same without a control-plane node's own, which leads to another cluster. */
const findGardenKubeconfig = (option: string | undefined, deps: ContextDeps): KubeconfigFile =>
  firstKubeconfig(option, deps, usersKubeconfig(deps), "name that of the garden");

const usersKubeconfig = ({ variables: { HOME } }: ContextDeps): string[] => (HOME ? [join(HOME, ".kube/config")] : []);

function firstKubeconfig(
  option: string | undefined,
  { variables }: ContextDeps,
  usual: readonly string[],
  remedy: string,
): KubeconfigFile {
  if (option) return { file: option, called: option };
  const named = kubeconfigOfVariable(variables["KUBECONFIG"]);
  if (named) return named;
  const file = usual.find((one) => existsSync(one));
  if (file) return { file, called: file };
  const absent = usual.length === 0 ? "$HOME neither" : `there is no ${usual.join(" or ")}`;
  throw new CliError("usage", `no kubeconfig: $KUBECONFIG names none, and ${absent}; ${remedy} with --kubeconfig`);
}
