import type { BindingRegister } from "../binding/register.ts";
import type { Revision } from "../binding/revision.ts";
import { CliError } from "./exit.ts";

/** Decides for the cluster of a revision; the cluster that has the register now may be taking its next revision meanwhile. */
export async function rebindRegister(register: BindingRegister, to: Revision, what: string): Promise<void> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1)
    if (await register.rebind(await register.read(), to)) return;
  throw new CliError(
    "failed",
    `cannot rebind ${what}: its revision changes again and again; switch off the other copy`,
  );
}

const MOST_ATTEMPTS = 5;
