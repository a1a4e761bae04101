import { join } from "node:path";
import { writeIfChanged } from "../cluster/private-file.ts";
import type { Environment } from "../environment/environment.ts";

/** What is executed. */
interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The same program, with a resolv.conf of its own: it finds names by the environment's DNS server, as users of its Shoots do. The
 * host's stays as it is.
 */
export async function withEnvironmentNames(
  { stateDir, gateway }: Pick<Environment, "stateDir" | "gateway">,
  { command, args }: Program,
): Promise<Program> {
  const resolver = await writeIfChanged(join(stateDir, "dns", "resolv.conf"), `nameserver ${gateway}\n`);
  const bind = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  return {
    command: "unshare",
    args: ["--mount", "--propagation=private", "sh", "-c", bind, resolver, command, ...args],
  };
}
