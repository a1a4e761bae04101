import type { UserData } from "./user-data.ts";

/** What starts the units of a bare machine: a real systemd as PID 1, or a runner that answers its `systemctl`. */
export type Init = "systemd" | "runner";

/** What a machine is made from; `name` is its host name and unique in the environment. */
export interface MachineSpec {
  readonly name: string;
  /**
   * A script makes it a machine with a systemd of its own, as operating systems' extensions write user data; it is run at each
   * boot. Else it is the local operating system's, which has a small runner in systemd's place. Without user data the machine is
   * bare: it has an init system and a containerd, and begins only once.
   */
  readonly userData?: UserData | string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of a bare machine: a systemd unless told otherwise. */
  readonly init?: Init;
}

/** A machine as it is now. */
export interface MachineStatus {
  readonly name: string;
  readonly providerID: string;
  readonly address: string;
  readonly running: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: string;
}
