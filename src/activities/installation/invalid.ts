import { StepError } from "../failure.ts";

/** Why a registration cannot be installed as it stands; `reason` is the condition's. */
export class InvalidInstallation extends StepError {
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(message, passing.has(reason) ? [] : ["ERR_CONFIGURATION_PROBLEM"], options);
    this.reason = reason;
  }
}

/** The reasons of condition `Valid`: upstream's, and three of what its resource manager would not do, or not see. */
export type Reason =
  | "RegistrationNotFound"
  | "DeploymentNotFound"
  | "SeedNotFound"
  | "ChartInformationInvalid"
  | "OCIChartCannotBePulled"
  | "ChartCannotBeRendered"
  | "ChartHasHooks"
  | "ManifestsTooLarge"
  | "ObjectsInUse";

/** What may pass by itself: it is tried again. */
const passing: ReadonlySet<Reason> = new Set<Reason>([
  "RegistrationNotFound",
  "DeploymentNotFound",
  "SeedNotFound",
  "OCIChartCannotBePulled",
  "ObjectsInUse",
]);
