import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BaseContext } from "../cli/base-context.ts";
import { CliError } from "../cli/exit.ts";
import { kubeconfigOfVariable, readKubeconfig, type KubeconfigFile } from "../cli/kubeconfig-file.ts";
import { text } from "../cli/option.ts";
import type { OpenContext } from "../cli/process.ts";
import { readText } from "../read-text.ts";
import type { GardenadmContext } from "./context.ts";
import { hideTokens } from "./without-tokens.ts";

/** The kubeconfig that a control-plane node has. */
export const ADMIN_KUBECONFIG = "/etc/kubernetes/admin.conf";

/** In bytes: standard input is a token or a few names. */
const LONGEST_INPUT = 65_536;

/** The options of every verb that talks to the cluster. */
export const clusterOptions = {
  kubeconfig: text("file", `Kubeconfig of the cluster [$KUBECONFIG, ${ADMIN_KUBECONFIG}, ~/.kube/config]`, "k"),
} as const;

/** What a context is made from; everything that a verb can reach goes through it. */
export interface ContextDeps extends Pick<BaseContext, "terminal" | "signal"> {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly adminKubeconfig: string;
  readonly input: AsyncIterable<Uint8Array>;
}

/** A context that connects on demand, and on whose standard error no bootstrap token stands; `close` ends every connection. */
export function createContext(deps: ContextDeps): OpenContext<GardenadmContext> {
  const { terminal, signal, input } = deps;
  const closers: (() => Promise<void>)[] = [];
  const err = hideTokens(terminal.err);

  const context: GardenadmContext = {
    terminal: { ...terminal, err },
    signal,
    now: () => Date.now(),
    async cluster(options) {
      const { file, called } = findKubeconfig(options.kubeconfig, deps);
      const kubeconfig = await readKubeconfig({ file, called });
      const { createKubeClient } = await import("../kube/index.ts");
      const onWarning = (words: string) => void err.write(`warning: ${words}\n`);
      const client = createKubeClient({ file }, { userAgent: "gardenadm", onWarning });
      closers.push(() => client.close());
      return { client, kubeconfig, called };
    },
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
function findKubeconfig(option: string | undefined, { variables, adminKubeconfig }: ContextDeps): KubeconfigFile {
  const { KUBECONFIG, HOME } = variables;
  if (option) return { file: option, called: option };
  const named = kubeconfigOfVariable(KUBECONFIG);
  if (named) return named;
  const usual = [adminKubeconfig, ...(HOME ? [join(HOME, ".kube/config")] : [])];
  const file = usual.find((one) => existsSync(one));
  if (file) return { file, called: file };
  throw new CliError(
    "usage",
    `no kubeconfig: $KUBECONFIG names none, and there is no ${usual.join(" or ")}; run this on a control-plane node, or name one with --kubeconfig`,
  );
}
