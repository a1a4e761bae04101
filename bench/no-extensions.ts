import type { InstalledExtensions } from "../src/activities/shoot/required-extensions.ts";

/** A garden in which no extension is registered: no Shoot waits for one. */
export const noExtensions: InstalledExtensions = {
  of: () => ({ registrations: [], installations: [] }),
  registered: () => [],
};
