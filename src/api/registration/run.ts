/** Names a ControllerInstallation for good: the uid tells it from a later one of the same name. */
export interface InstallationRef {
  readonly name: string;
  readonly uid: string;
}

/** The facts about an installation that decide which steps of its flow are done. Read once, when the flow begins. */
export interface InstallationRun extends InstallationRef {
  /** A first installation, an upgrade, or a removal; in the words of a Shoot's operations. */
  readonly operation: "Create" | "Reconcile" | "Delete";
  /** A removal because an operator is to install the controller from now on. */
  readonly replaced?: true;
  readonly registration: string;
  readonly seedName: string;
  /** What is to be installed: another value is another chart, other values, another Seed. */
  readonly hash: string;
  /** The Seed is in the garden; of one that is not, no worker will answer. */
  readonly seedExists: boolean;
  /** The controller is given access to the garden. */
  readonly gardenAccess: boolean;
  /** How long, in ms, a seed's worker may leave a step unanswered before the flow says so. */
  readonly seedDeadline: number;
  /** How long, in ms, a retryable error is retried inside its step before the step parks. */
  readonly retryDuration: number;
}
