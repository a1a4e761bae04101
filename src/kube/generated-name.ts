import { randomInt } from "node:crypto";

/** Completes a `generateName` as an API server does: by five characters that spell no words. */
export function completeName(generateName: string): string {
  const end = Array.from({ length: END_LENGTH }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join("");
  return `${generateName.slice(0, LONGEST - END_LENGTH)}${end}`;
}

const END_LENGTH = 5;

/** In characters: names that are DNS labels have no more. */
const LONGEST = 63;

const CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";
