import type { Revision } from "./revision.ts";

/** What a register names, as of one version. */
export interface RegisterVersion<Version = unknown> {
  readonly revision: Revision | undefined;
  /** The revision of the cluster that an operator has decided for. That cluster takes the next revision, although another had the last. */
  readonly rebindTo: Revision | undefined;
  readonly version: Version;
}

/** A place outside of a cluster's etcd that names the cluster's revision: a copy of the cluster shares it with the original. */
export interface BindingRegister<Version = unknown> {
  read(): Promise<RegisterVersion<Version>>;
  /** Names this revision, and no rebinding any more; false if the register is no longer the version that was read. */
  take(read: RegisterVersion<Version>, revision: Revision): Promise<boolean>;
  /** Records the revision of a cluster that was refused, for operators who decide for it. */
  claim(own: Revision): Promise<void>;
  /** Records that an operator has decided for the cluster of this revision; false as for `take`. */
  rebind(read: RegisterVersion<Version>, to: Revision): Promise<boolean>;
}
