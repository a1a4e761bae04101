import type { Clause } from "../clause.ts";
import { againClauses } from "./again.ts";
import { crashClauses } from "./crash.ts";
import { createClauses } from "./create.ts";
import { deleteClauses } from "./delete.ts";
import { errorClauses } from "./error.ts";
import { kindClauses } from "./kinds.ts";
import { moveClauses } from "./move.ts";

/** Every clause by which an extension controller is judged, in the order in which a report shows them. */
export const clauses: readonly Clause[] = [
  ...createClauses,
  ...kindClauses,
  ...againClauses,
  ...errorClauses,
  ...moveClauses,
  ...deleteClauses,
  ...crashClauses,
];
