import { readFile } from "node:fs/promises";
import { CliError, type Exit } from "../../cli/exit.ts";
import { flag, repeated, required, text } from "../../cli/option.ts";
import { commandLine, NEXT_AS_ADMINISTRATOR, option } from "../command-line.ts";
import { defineCommand, type GardenadmContext } from "../context.ts";
import { placesIn } from "../machine/places.ts";
import { unlessOtherwiseBegun } from "../machine/gate.ts";
import { forgetAttempt } from "../machine/traces.ts";
import { createTables, inWords, runActions } from "../steps/tables.ts";
import { authorityHashes } from "../cluster/authorities.ts";
import { parseServerUrl } from "../server-url.ts";
import { readToken } from "../token/token.ts";
import { createControlPlaneActions } from "./control-plane-actions.ts";
import { joinControlPlane } from "./join-control-plane.ts";
import { joinWorker } from "./join-worker.ts";
import type { Invitation } from "./newcomer.ts";
import type { Proof } from "./trust.ts";
import { createWorkerActions } from "./worker-actions.ts";

/** `gardenadm join` */
export const join = defineCommand({
  name: "join",
  summary: "Make this machine a node of a cluster that is there",
  description:
    "The line to paste comes from 'gardenadm token create --print-join-command' on a node of the control plane. The machine sees by the token, and by the hash of the " +
    "cluster's authority, that it talks to the cluster that is meant. Interrupted or killed, the same command goes on where it was.",
  examples: [
    "echo TOKEN | gardenadm join https://10.0.0.1 --bootstrap-token - --ca-cert-hash sha256:HASH",
    "gardenadm join https://10.0.0.1 --bootstrap-token-file token --ca-certificate ca.crt --worker-pool-name worker --zone a",
  ],
  args: { server: required("URL of the API server") },
  options: {
    bootstrapToken: text("token", "A token that lets machines join, or - to read it from standard input"),
    bootstrapTokenFile: text("file", "Read the token from this file"),
    caCertHash: repeated(
      "hash",
      "Hash of the public key of an authority that may have signed the API server's certificate",
    ),
    caCertificate: text("file", "The authority itself, a file in PEM, or base64 of it"),
    controlPlane: flag("Become a node of the control plane"),
    workerPoolName: text("pool", "The pool of workers to join [the first one]", "w"),
    zone: text("zone", "The zone that this machine is in, where the pool has several", "z"),
    nodeIp: text(
      "address",
      "The address of this machine at which the cluster is to reach it [the one from which it reaches that API server]",
    ),
  },
  async run({ args, options, context }) {
    const {
      bootstrapToken,
      bootstrapTokenFile,
      caCertHash,
      caCertificate,
      controlPlane,
      workerPoolName,
      zone,
      nodeIp,
    } = options;
    const token = await readToken({ token: bootstrapToken, bootstrapTokenFile }, context);
    if (token === undefined)
      throw new CliError(
        "usage",
        "no bootstrap token: pass it by --bootstrap-token - on standard input, or by --bootstrap-token-file",
      );
    const ca = caCertificate === undefined ? undefined : await readAuthority(caCertificate);
    if (ca === undefined && caCertHash.length === 0)
      throw new CliError(
        "usage",
        "nothing says which cluster is meant: pass --ca-cert-hash or --ca-certificate, as the printed line does",
      );
    const role = controlPlane ? "control-plane" : "worker";
    const address = parseServerUrl(args.server, "the API server");
    const invitation = { address, token, role, pool: workerPoolName, zone, nodeIp } as const;
    return await start(context, invitation, { token, hashes: caCertHash, ca });
  },
});

/**
 * The command line that goes on with such a join. The authority is named by its hash, which proves as much; the token is left to who
 * gives the line: the one that was given may have run out.
 */
export function commandOf(
  { address, role, pool, zone, nodeIp }: Omit<Invitation, "token">,
  { hashes, ca }: Omit<Proof, "token">,
) {
  const named = ca === undefined ? hashes : authorityHashes(ca, "--ca-certificate");
  const words = commandLine(
    ...["gardenadm", "join", address, "--bootstrap-token", "-"],
    ...named.flatMap((hash) => ["--ca-cert-hash", hash]),
    ...(role === "control-plane" ? ["--control-plane"] : []),
    ...option("--worker-pool-name", pool),
    ...option("--zone", zone),
    ...option("--node-ip", nodeIp),
  );
  return `echo TOKEN | ${words}`;
}

async function start(context: GardenadmContext, invitation: Invitation, proof: Proof): Promise<Exit> {
  const machine = await context.machine({ nodeIp: invitation.nodeIp, towards: new URL(invitation.address).hostname });
  const places = placesIn(machine.root);
  const command = commandOf(invitation, proof);
  const tables = createTables(context, { journal: places.journal, about: machine.hostName, command });
  const deps = { machine, invitation, proof };
  try {
    await unlessOtherwiseBegun(machine.root, async () => {
      try {
        await (invitation.role === "worker"
          ? runActions(tables, joinWorker, undefined, createWorkerActions(deps))
          : runActions(tables, joinControlPlane, undefined, createControlPlaneActions(deps)));
      } finally {
        await forgetAttempt(machine.root);
      }
    });
  } catch (error) {
    throw inWords(error, context.signal);
  }
  const elsewhere = "Next, on a node of the control plane: kubectl get nodes";
  const next = invitation.role === "control-plane" ? NEXT_AS_ADMINISTRATOR : elsewhere;
  context.terminal.err.write(`\nThis machine is node ${machine.hostName} of the cluster.\n${next}\n`);
  return "done";
}

async function readAuthority(given: string): Promise<string> {
  const text = await readFile(given, "utf8").catch(() => Buffer.from(given, "base64").toString());
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new CliError("usage", "--ca-certificate names no file with a certificate in PEM, and is no base64 of one");
}
