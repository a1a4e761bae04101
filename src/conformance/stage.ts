import { isClusterScoped, type ExtensionObject } from "../api/extensions/kinds.ts";
import { Cluster, type KubeObject } from "../api/index.ts";
import { inWords, Namespace, refOf, refTo, Secret, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { createCaller, FIELD_MANAGER, gone, type Caller, type Check } from "./caller.ts";
import { isGone, type Chapter, type ChapterName } from "./chapter.ts";
import { keptOf, type Kept } from "./kept.ts";
import { credentialsName, newPlace, secretsOf, subjectObject, type Place } from "./objects.ts";
import { clearCommands } from "./clearing.ts";
import { record } from "./recording.ts";
import { clusterObject, credentials, shootObjects, type ShootState } from "./shoot-in-seed.ts";
import type { Subject } from "./subject.ts";

/** How long the trial waits, in ms. */
export interface Pace {
  /** For what has to happen. */
  readonly timeout: number;
  /** For what must not happen. */
  readonly settle: number;
  /** One Shoot after the other: what is outside the seed can be one Shoot's only. */
  readonly oneByOne?: boolean;
}

/** What every scenario of a trial works with. */
export interface TrialDeps {
  readonly client: KubeClient;
  readonly subject: Subject;
  readonly pace: Pace;
  readonly log: Logger;
  /** Ends the trial: nothing more is asked, and what was made is deleted. */
  readonly signal: AbortSignal;
}

/** A Shoot that does not exist, as far as its seed shows it to one extension, and one object of it. */
export interface Stage {
  readonly subject: Subject;
  readonly caller: Caller;
  /** The object as a caller would write it. */
  readonly object: KubeObject;
  /** Waits, and keeps what came of the request as this chapter; told from an earlier request on, if that is given. */
  wait(chapter: ChapterName, asked: ExtensionObject, check: Check, since?: ExtensionObject): Promise<Chapter>;
  /** Lets time pass, and keeps what came of the request as this chapter. */
  settle(chapter: ChapterName, asked: ExtensionObject): Promise<Chapter>;
  /** Waits for what the rest of the scenario is built on; throws a Standstill when it does not come. */
  require(what: string, asked: ExtensionObject, check: Check, chapter?: ChapterName): Promise<Chapter>;
  /** Lets the controller finish what it still does: what it heard of twice, it may do twice. */
  rest(): Promise<void>;
  /** What flows would keep of the object, to be written into its status before it is restored. */
  keptOf(object: ExtensionObject): Promise<Kept>;
  /** Says why there is no such chapter. */
  omit(chapter: ChapterName, because: string): void;
  /** Tells extensions how the Shoot is. */
  tellShoot(state: ShootState): Promise<void>;
  removeCredentials(): Promise<void>;
  restoreCredentials(): Promise<void>;
  /** Deletes the object and all that the stage was made of; notes what did not go. */
  clear(remains: Remains): Promise<void>;
}

/** What does not go after a trial. */
export interface Remains {
  readonly left: string[];
  /** Commands that clear it away. */
  readonly clearing: string[];
}

/** Why the rest of a scenario could not be played. */
export class Standstill extends Error {
  override readonly name = "Standstill";

  /** What stood against it, where the controller has to do with it. */
  readonly obstacle: string | undefined;
  /** The same without what is one Shoot's only: what is alike has one cause. */
  readonly likeness: string | undefined;

  constructor(message: string, obstacle?: string, likeness?: string) {
    super(message);
    this.obstacle = obstacle;
    this.likeness = likeness;
  }
}

/** What is known of the chapters: what was seen, or why there is nothing to be seen. */
export type Story = Map<ChapterName, Chapter | string>;

/** Sets a stage of its own for a scenario. What is seen there is put into the story. */
export async function setStage({ client, subject, pace, log, signal }: TrialDeps, story: Story): Promise<Stage> {
  const place = newPlace();
  const options = { fieldManager: FIELD_MANAGER };
  for (const one of shootObjects(subject, place)) await client.apply(one, options);
  const object = subjectObject(subject, place);
  const recording = await record(client, subject.kind, refOf(object), { log, signal });
  const caller = createCaller(client, recording);

  const keep = (name: ChapterName | undefined, chapter: Chapter): Chapter => {
    if (signal.aborted) throw new Standstill("the trial was interrupted");
    if (name !== undefined) story.set(name, chapter);
    return chapter;
  };
  const restoreCredentials = async () => {
    for (const one of credentials(subject, place)) await client.apply(one, options);
  };
  return {
    subject,
    caller,
    object,
    wait: async (name, asked, check, since) => keep(name, await caller.wait(asked, check, pace.timeout, since)),
    settle: async (name, asked) => keep(name, await caller.watch(asked, pace.settle)),
    async require(what, asked, check, name) {
      const chapter = keep(name, await caller.wait(asked, check, pace.timeout));
      if (chapter.end.reached) return chapter;
      const { obstacle } = chapter.end;
      throw new Standstill(`${what} did not come about: ${obstacle}`, obstacle, withoutNames(obstacle, place));
    },
    rest: () => recording.quiet(pace.settle, pace.timeout),
    keptOf: (object) => keptOf(client, object),
    omit: (name, because) => void story.set(name, because),
    async tellShoot(state) {
      await client.apply(clusterObject(subject, place, state), options);
    },
    removeCredentials: () =>
      client.remove(
        refTo(Secret, { name: credentialsName(subject.kind, place), namespace: secretsOf(subject.kind, place) }),
      ),
    restoreCredentials,
    async clear({ left, clearing }) {
      const removed = await removeObject({ client, caller, object, timeout: pace.timeout, restoreCredentials });
      await recording.stop();
      if (removed) await removePlace(client, subject, place);
      else {
        left.push(`${inWords(refOf(object))}: its deletion has not ended`);
        clearing.push(...clearCommands(subject, object, place));
      }
    },
  };
}

/** Names and numbers are each Shoot's own; what is the same without them has the same cause. */
const withoutNames = (text: string, { shoot, uid }: Place): string =>
  text.replaceAll(shoot, "").replaceAll(uid, "").replaceAll(/\d+/g, "0");

interface Removal {
  readonly client: KubeClient;
  readonly caller: Caller;
  readonly object: KubeObject;
  readonly timeout: number;
  restoreCredentials(): Promise<void>;
}

/**
 * Deletes it as its controller expects it, with credentials again: what does not go is left, because it may stand for
 * something that exists.
 */
async function removeObject({ client, caller, object, timeout, restoreCredentials }: Removal): Promise<boolean> {
  if ((await client.read(refOf(object))) === undefined) return true;
  await restoreCredentials();
  const asked = await caller.remove(object);
  return isGone(await caller.wait(asked, gone, timeout));
}

async function removePlace(client: KubeClient, { kind }: Subject, place: Place): Promise<void> {
  const credentialsRef = refTo(Secret, { name: credentialsName(kind, place), namespace: secretsOf(kind, place) });
  if (isClusterScoped(kind)) await client.remove(credentialsRef);
  await client.remove(refTo(Cluster, { name: place.namespace }));
  await client.remove(refTo(Namespace, { name: place.namespace }));
}
