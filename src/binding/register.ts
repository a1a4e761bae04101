import type { Turn } from "./turn.ts";

/** What a register names, as of one version. */
export interface RegisterVersion<Version = unknown> {
  readonly turn: Turn | undefined;
  /** The turn of the cluster that an operator has decided for. That cluster takes the next turn, whoever had the last. */
  readonly rebindTo: Turn | undefined;
  readonly version: Version;
}

/** A place outside of a cluster's etcd that names the cluster's turn: a copy of the cluster shares it with the original. */
export interface TurnRegister<Version = unknown> {
  read(): Promise<RegisterVersion<Version>>;
  /** Names this turn, and no rebinding any more; false if the register is no longer the version that was read. */
  take(read: RegisterVersion<Version>, turn: Turn): Promise<boolean>;
  /** Records the turn of a cluster that was refused, for operators who decide for it. */
  claim(own: Turn): Promise<void>;
  /** Records that an operator has decided for the cluster of this turn; false as for `take`. */
  rebind(read: RegisterVersion<Version>, to: Turn): Promise<boolean>;
}
