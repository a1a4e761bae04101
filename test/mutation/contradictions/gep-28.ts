import type { Contradiction } from "../contradictions.ts";

export const ofGep28: readonly Contradiction[] = [];
