import type { Shoot } from "../../api/shoot/shoot.ts";
import type { Collection } from "./collection.ts";

/** A Shoot, and where what it needs is gathered. */
export interface Need {
  readonly shoot: Shoot;
  /** The Shoot as the garden has it; undefined for a new one. */
  readonly existing: Shoot | undefined;
  readonly managedInfrastructure: boolean;
  readonly collection: Collection;
}
