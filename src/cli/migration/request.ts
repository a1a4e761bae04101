import type { Shoot } from "../../api/index.ts";
import { moveOf, neededSource } from "../../api/placement/move.ts";
import { CliError } from "../exit.ts";

/** What the command line asks for: a move, perhaps without the old Seed, or the way back. */
export type MoveRequest =
  | { readonly do: "cancel" }
  | {
      readonly do: "move";
      readonly to: string;
      readonly takeover?: { readonly reason: string; readonly sourceIsOff: boolean };
    };

/** The options of `shoot migrate` that say what is to be done. */
export interface MoveRequestOptions {
  readonly to: string | undefined;
  readonly plan: boolean;
  readonly watch: boolean;
  readonly output?: string | undefined;
  readonly cancel: boolean;
  readonly forceTakeover: boolean;
  readonly reason: string | undefined;
  readonly sourceIsOff: boolean;
}

/** Reads the options together; throws which of them contradict each other, or are missing. */
export function readMoveRequest(options: MoveRequestOptions, shoot: Shoot): MoveRequest {
  if (options.output !== undefined && !options.plan)
    throw new CliError("usage", "--output says how a plan is printed: add --plan or leave it out");
  if (options.plan && options.watch)
    throw new CliError("usage", "--plan changes nothing that --watch could follow: leave one of them out");
  const takeover = readTakeover(options);
  if (options.cancel) return cancellation(options);
  const underway = takeover !== undefined && neededSource(moveOf(shoot)) !== undefined;
  const to = options.to ?? (underway ? shoot.spec.seedName : undefined);
  if (to === undefined) throw new CliError("usage", "say where the Shoot is to go: add --to SEED");
  return { do: "move", to, ...(takeover && { takeover }) };
}

function cancellation({ to, plan, forceTakeover }: MoveRequestOptions): MoveRequest {
  if (to === undefined && !plan && !forceTakeover) return { do: "cancel" };
  throw new CliError("usage", "--cancel stands alone: leave --to, --plan and --force-takeover out");
}

function readTakeover({ forceTakeover, reason, sourceIsOff, plan }: MoveRequestOptions) {
  if (!forceTakeover) {
    if (reason === undefined && !sourceIsOff) return undefined;
    throw new CliError("usage", "--reason and --source-is-off belong to --force-takeover: add it or leave them out");
  }
  const why = reason?.trim() ?? "";
  if (why === "" && !plan)
    throw new CliError("usage", "--force-takeover has to say why: add --reason TEXT; it is recorded");
  return { reason: why, sourceIsOff };
}
