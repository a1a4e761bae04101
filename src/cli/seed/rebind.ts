import { Seed } from "../../api/index.ts";
import { createSeedRegister, type SeedRegister } from "../../binding/seed-register.ts";
import { formatRevision, parseRevision, type Revision } from "../../binding/revision.ts";
import { defineCommand } from "../command.ts";
import { confirm } from "../confirm.ts";
import { clusterOptions } from "../connection.ts";
import { CliError } from "../exit.ts";
import { flag, required, text } from "../option.ts";
import { rebindRegister } from "../rebind-register.ts";

/** `perennial seed rebind` */
export const rebind = defineCommand({
  name: "rebind",
  summary: "Decide which copy of a seed's cluster is the Seed, after one was restored from a backup",
  description:
    "The worker of a copy that is behind refuses to start and prints its revision. The copy of that revision becomes the Seed within half a " +
    "minute, and every other copy is refused from then on. Switch off the other copies first: what runs in them and knows nothing of " +
    "leadership, such as a machine-controller-manager, acts on the same machines until their worker has found out.",
  examples: ["perennial seed rebind seed-1 --to 17-0123456789abcdef"],
  args: { seed: required("Name of the Seed") },
  options: {
    to: text("revision", "Revision of the cluster that is to be the Seed, as the log of its worker names it"),
    yes: flag("Do not ask for confirmation", "y"),
    kubeconfig: clusterOptions.kubeconfig,
  },
  async run({ args, options, context }) {
    const { client } = await context.garden(options);
    const name = args.seed;
    const uid = (await client.read(Seed, { name }))?.metadata.uid;
    if (uid === undefined) throw new CliError("notFound", `there is no Seed ${name}; see 'kubectl get seeds'`);
    const register = createSeedRegister(client, { name, uid });
    const to = options.to === undefined ? undefined : parse(options.to);
    if (to === undefined) throw new CliError("usage", `name the cluster with --to: ${await hintOf(register)}`);
    if (!options.yes)
      await confirm(context.terminal, {
        doing: `rebinding Seed ${name}`,
        question: `Make the cluster at revision ${formatRevision(to)} Seed ${name}? Every other copy of it has to be off.`,
        words: [name],
        otherwise: `Seed ${name} stays bound as it is`,
      });
    await rebindRegister(register, to, `Seed ${name}`);
    context.terminal.out.write(
      `Seed ${name} will be the cluster at revision ${formatRevision(to)}, as soon as its worker runs; then reconcile its Shoots\n`,
    );
  },
});

/** Every copy with the seed's credentials may claim to be the Seed, so that a claim is a hint and no default. */
async function hintOf(register: SeedRegister): Promise<string> {
  const claim = await register.readClaim();
  return claim === undefined
    ? "no cluster was refused yet; the log of a worker that is refused names its revision"
    : `the cluster that was refused last is at revision ${formatRevision(claim)}; compare the log of the worker that you mean`;
}

function parse(given: string): Revision | undefined {
  try {
    return parseRevision(given);
  } catch (error) {
    throw new CliError("usage", `cannot use --to: ${(error as Error).message}`);
  }
}
