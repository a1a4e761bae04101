import type { NodeRole } from "../../api/names.ts";
import type { NetworkInterfaceInfo } from "node:os";
import type { Run } from "../../node-agent/commands.ts";
import type { Demands } from "./demands.ts";

/** As `networkInterfaces` of `node:os` has them. */
export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** A machine before anything is changed on it. */
export interface Candidate {
  readonly root: string;
  readonly hostName: string;
  readonly systemctl: Run;
  readonly ctr: Run;
  /** Whether gardenadm has been at work here: then ports are taken and folders filled by what it made. */
  readonly isBegun: boolean;
  /** What the cluster asks of its machines; undefined while that is not known, as before a join has found the cluster. */
  readonly demands?: Demands | undefined;
  readonly userId?: number;
  /** In bytes. */
  readonly memory?: number;
  /** In bytes, free in `/var/lib`. */
  readonly diskSpace?: number;
  readonly interfaces?: Interfaces;
  readonly now?: Date;
}

/** Whether etcd and an API server will run on the machine. */
export const carriesControlPlane = (role: NodeRole): boolean => role !== "worker";

/** What was found, a sentence each, with what helps: what keeps a command from its work, and what will be felt later. */
export interface Findings {
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}
