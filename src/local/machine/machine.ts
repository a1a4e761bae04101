import type { UserData } from "./user-data.ts";

/** What a machine is made from; `name` is its host name and unique in the environment. */
export interface MachineSpec {
  readonly name: string;
  readonly userData: UserData;
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
