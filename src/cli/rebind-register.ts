import type { TurnRegister } from "../binding/register.ts";
import type { Turn } from "../binding/turn.ts";
import { CliError } from "./exit.ts";

/** Decides for the cluster of a turn; the cluster that has the register now may be taking its next turn meanwhile. */
export async function rebindRegister(register: TurnRegister, to: Turn, what: string): Promise<void> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1)
    if (await register.rebind(await register.read(), to)) return;
  throw new CliError("failed", `cannot rebind ${what}: its turn changes again and again; switch off the other copy`);
}

const MOST_ATTEMPTS = 5;
