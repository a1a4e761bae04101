import type { UserData } from "./user-data.ts";

/** What a machine is made from; `name` is its host name and unique in the environment. */
export interface MachineSpec {
  readonly name: string;
  /**
   * A script makes it a machine with a systemd of its own, as operating systems' extensions write user data; it is run at each
   * boot. Else it is the local operating system's, which has a small runner in systemd's place. Without user data the machine is
   * bare: it has a systemd and a containerd, and begins only once.
   */
  readonly userData?: UserData | string;
  readonly labels: Readonly<Record<string, string>>;
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
