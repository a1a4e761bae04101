import { KubeError, type KubeClient, type ListFailure } from "../../kube/index.ts";
import { createGardenSilence } from "./garden-silence.ts";
import type { Obstacle } from "../objects/obstacle.ts";
import { gardenLists, type GardenList, type World } from "./world.ts";

/** How the garden stands to this process: work that needs less of it goes on. */
export interface GardenView {
  /** What stands against work with these lists, and since when: the garden does not answer, or refuses one of them. */
  obstacleTo(lists: readonly GardenList[]): Obstacle | undefined;
  /** Whether each of these lists is there. Before, what the garden has could be taken for something that it has not. */
  knows(lists: readonly GardenList[]): boolean;
  start(): void;
  stop(): void;
}

/** What is looked at, and whom a change is told. */
export interface GardenViewDeps {
  readonly garden: KubeClient;
  readonly world: { readonly [K in GardenList]: Pick<World[K], "synced" | "failure" | "isCurrent"> };
  /** Whether the garden is another cluster than the management cluster: one cluster that is away cannot be told of it. */
  readonly isApart: boolean;
  onChange(): void;
  /** In ms: how often it is looked at. */
  readonly period?: number;
}

/** Looks at the garden every few seconds, beginning with its first lists. */
export function createGardenView({ garden, world, isApart, onChange, period = 5_000 }: GardenViewDeps): GardenView {
  const known = new Set<GardenList>();
  let refused: ReadonlyMap<GardenList, ListFailure> = new Map();
  let told = "";
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  const silence = createGardenSilence({
    garden,
    isHeard: () => !isApart || world.shoots.isCurrent(),
    isCutOff: () => failures().some(([, { error }]) => !isAnswer(error)),
  });

  const failures = () =>
    gardenLists.flatMap((list) => {
      const failure = world[list].failure();
      return failure === undefined ? [] : [[list, failure] as const];
    });

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    await silence.look();
    looking = false;
    refused = new Map(failures().filter(([, { error }]) => isAnswer(error)));
    tell();
  }

  function tell(): void {
    const words = [...refused].map(([list, { since, error }]) => [list, since, String(error)]);
    const news = JSON.stringify([silence.since(), words, known.size]);
    if (news !== told) onChange();
    told = news;
  }

  return {
    obstacleTo(lists) {
      const since = silence.since();
      if (since !== undefined)
        return { reason: GARDEN_UNREACHABLE, message: `the garden has not answered since ${since}` };
      const [failure] = lists.flatMap((list) => refused.get(list) ?? []);
      if (failure === undefined) return undefined;
      const why = failure.error instanceof Error ? failure.error.message : String(failure.error);
      return { reason: GARDEN_UNREADABLE, message: `the garden has refused a list since ${failure.since}: ${why}` };
    },
    knows: (lists) => lists.every((list) => known.has(list)),
    start() {
      timer ??= setInterval(() => void look(), period);
      void look();
      const all = gardenLists.map((list) => world[list].synced().then(() => known.add(list)));
      // Where one of them does not come, the next look tells of the others.
      Promise.all(all).then(tell, () => undefined);
    },
    stop: () => clearInterval(timer),
  };
}

/** The reason of a condition while the garden does not answer. */
export const GARDEN_UNREACHABLE = "GardenUnreachable";

/** The reason of a condition while the garden refuses a list. */
const GARDEN_UNREADABLE = "GardenUnreadable";

/** Whether the garden cannot be asked: nothing is known then of what it has. Pure. */
export const isOfGarden = ({ reason }: Obstacle): boolean =>
  reason === GARDEN_UNREACHABLE || reason === GARDEN_UNREADABLE;

/** What the garden itself has said; else there was no answer at all. */
const isAnswer = (error: unknown): boolean => error instanceof KubeError && error.status !== 0;
