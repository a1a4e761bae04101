import { lookup, Resolver } from "node:dns/promises";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineCommand } from "../command.ts";
import { clusterOptions, stateDir } from "../connection.ts";
import type { Variables } from "../context.ts";
import { findShoot, namespaceOption, shootArgument } from "../find-shoot.ts";
import { alongside, duration, flag, text } from "../option.ts";
import { noteOn, noteOnAddress, reachable, readPublishedKubeconfig, type Resolve } from "../report/kubeconfig.ts";
import { revokeKubeconfigs } from "../report/revocation.ts";

/** `perennial shoot kubeconfig` */
export const kubeconfig = defineCommand({
  name: "kubeconfig",
  summary: "Write a Shoot's admin kubeconfig",
  description:
    "Its token is good for a day, and the one published is renewed at half that time: ask again instead of keeping it. " +
    "Its server is the Shoot's DNS name where this machine resolves it, else the address behind that name.",
  examples: [
    "perennial shoot kubeconfig local --file local.yaml && kubectl --kubeconfig local.yaml get nodes",
    "perennial shoot kubeconfig local --revoke --file local.yaml",
  ],
  args: { shoot: shootArgument },
  options: {
    namespace: namespaceOption,
    file: text("file", "Write into this file, readable by you only, instead of standard output", "f"),
    revoke: flag("First make all kubeconfigs given out so far worth nothing, and wait for another"),
    timeout: alongside("revoke", duration("give up waiting after this time [10m]")),
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace });
    const { timeout } = options;
    if (options.revoke) await revokeKubeconfigs(garden.client, shoot, { signal: context.signal, timeout });
    const published = await readPublishedKubeconfig(garden.client, shoot);
    const server = await localDnsServer(context.variables);
    const { kubeconfig: usable, address } = await reachable(published.kubeconfig, {
      here: async (host) => (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address),
      elsewhere: server === undefined ? [] : [askServer(server)],
      advertised: (shoot.status?.advertisedAddresses ?? []).map(({ url }) => url),
    });
    const notes = [noteOn(shoot, published), address && noteOnAddress(shoot, address)].filter(Boolean);
    context.terminal.err.write(notes.map((note) => `${note}\n`).join(""));
    if (options.file === undefined) return context.terminal.out.write(usable);
    await writeFile(options.file, usable, { mode: 0o600 });
    await chmod(options.file, 0o600); // writeFile leaves the mode of a file that was there
    context.terminal.err.write(
      `kubeconfig of Shoot ${shoot.metadata.namespace}/${shoot.metadata.name} written to ${options.file}\n`,
    );
    return undefined;
  },
});

/** The DNS server of the local environment, where there is one; the host itself does not ask it. */
async function localDnsServer(variables: Variables): Promise<string | undefined> {
  if (variables.PERENNIAL_DNS_SERVER) return variables.PERENNIAL_DNS_SERVER;
  const file = join(await stateDir(variables), "dns", "server");
  return (await readFile(file, "utf8").catch(() => "")).trim() || undefined;
}

function askServer(server: string): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([server]);
  return (host) => resolver.resolve4(host).catch(() => []);
}
