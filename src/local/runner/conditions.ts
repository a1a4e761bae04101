import { accessSync, constants, existsSync } from "node:fs";
import type { Settings } from "../machine/unit.ts";

/** Whether all conditions of the unit that the runner knows hold; where one does not, its start is a success that starts nothing. */
export function mayStart(settings: Settings): boolean {
  return Object.entries(CONDITIONS).every(([key, holds]) =>
    settings.words(key).every((word) => (word.startsWith("!") ? !holds(word.slice(1)) : holds(word))),
  );
}

const CONDITIONS: Readonly<Record<string, (path: string) => boolean>> = {
  ConditionPathExists: existsSync,
  ConditionPathIsReadWrite(path) {
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  },
};
