import { hostname } from "node:os";
import { createCtr, createSystemctl, type Run } from "../../node-agent/commands.ts";
import { chooseAddress, readAddress, type AddressRequest } from "./own-address.ts";

/** The machine that gardenadm runs on. */
export interface ThisMachine {
  /** The folder that is its `/`. */
  readonly root: string;
  readonly hostName: string;
  /** IP addresses; by the first of them, other machines reach it. */
  readonly addresses: readonly [string, ...string[]];
  readonly systemctl: Run;
  /** In the containerd namespace of kubelets. */
  readonly ctr: Run;
}

/** What a command asks of the machine that it runs on. */
export interface WantedMachine extends Omit<AddressRequest, "root"> {
  /** It is to be no node any more: the address that it was reached at need not be there. */
  readonly leaves?: boolean;
}

/** Looks at this machine, which is to be reached as `chooseAddress` says; throws as that does. */
export async function findThisMachine({ leaves = false, ...wanted }: WantedMachine = {}): Promise<ThisMachine> {
  const root = "/";
  const noted = leaves ? await readAddress(root) : undefined;
  return {
    root,
    hostName: hostname(),
    addresses: [noted ?? (await chooseAddress({ ...wanted, root }))],
    systemctl: createSystemctl(),
    ctr: createCtr({ namespace: "k8s.io" }),
  };
}
