import { StepError } from "../step-error.ts";

/** Why a registration cannot be installed as it stands; `reason` is the condition's. */
export class InvalidInstallation extends StepError {
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    const pause = reason === "ObjectsInUse" ? { within: RETRY_WITHIN } : {};
    super(message, passing.has(reason) ? [] : ["ERR_CONFIGURATION_PROBLEM"], { ...options, ...pause });
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

/** In ms: an operator who has the other chart leave its objects finds this one applied soon. */
const RETRY_WITHIN = 60_000;

/** What may pass by itself: it is tried again. */
const passing: ReadonlySet<Reason> = new Set<Reason>([
  "RegistrationNotFound",
  "DeploymentNotFound",
  "SeedNotFound",
  "OCIChartCannotBePulled",
  "ObjectsInUse",
]);
