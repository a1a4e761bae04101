import {
  FORCE_DELETION_ANNOTATION,
  FORCE_TAKEOVER_ANNOTATION,
  IGNORE_ANNOTATION,
  OPERATION_ANNOTATION,
  Shoot,
} from "../api/index.ts";
import { etcdDamagedSince } from "../api/shoot/etcd-damage.ts";
import type { ShootRef } from "../api/shoot/run.ts";
import type { Condition, KubeObject, NamespacedMeta } from "../api/schema/meta.ts";
import type { ShootClient } from "../client/shoots.ts";
import {
  briefConditions,
  createController,
  createReflector,
  defineKind,
  typeMeta,
  type KubeClient,
} from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The garden that is watched, and the workflows that are told; times are ms. */
export interface ShootControllerDeps {
  readonly gardenClient: KubeClient;
  readonly shoots: Pick<ShootClient, "nudge" | "withoutWorkflow">;
  readonly log: Logger;
  /** How often the workflows of Shoots that ask for something are told; ten minutes unless told otherwise. */
  readonly sweepPeriod?: number;
  /** How often Shoots without a workflow are looked for; half a minute unless told otherwise. */
  readonly missingPeriod?: number;
  /** How often the workflow of one Shoot is told of damaged data, at most; a minute unless told otherwise. */
  readonly damagePeriod?: number;
}

/**
 * Tells each Shoot's workflow that something changed. Edges come from the watch; a sweep over the Shoots that still ask
 * for something makes up for every edge that got lost, and costs those that idle nothing. Changes of the status are our own writes and are left out, but for damaged data:
 * a seed reports these, and the workflow is told so once in a while, however often the seed does. A Shoot whose workflow was lost, by
 * an operator's hand or with Temporal's database, gets a new one within a minute: one list of what runs finds it.
 */
export function createShootController(deps: ShootControllerDeps) {
  const { gardenClient, shoots, log, sweepPeriod = 600_000, missingPeriod = 30_000, damagePeriod = 60_000 } = deps;
  /** When workflows were told of damage, by their Shoots' uids, in ms. */
  const damageTold = new Map<string | undefined, number>();
  const wasToldOfDamage = (uid: string | undefined): boolean => Date.now() - (damageTold.get(uid) ?? 0) < damagePeriod;
  const reflector = createReflector(gardenClient, ShootRequest, {
    log,
    keep: ({ apiVersion, kind, metadata, status: { observedGeneration, conditions = [] } = {} }) => ({
      ...{ apiVersion, kind, metadata: decisive(metadata) },
      status: {
        observedGeneration,
        conditions: briefConditions(conditions, [HEALTH]).filter((one) => isDamaged({ conditions: [one] })),
      },
    }),
    onEvent: ({ type, object, old }) => {
      const { uid } = object.metadata;
      if (type === "deleted") return void damageTold.delete(uid);
      const isReported = isDamaged(object.status) && !isDamaged(old?.status) && !wasToldOfDamage(uid);
      if (isReported) damageTold.set(uid, Date.now());
      if (isReported || old === undefined || asks(old) !== asks(object)) controller.enqueue(keyOf(object));
    },
  });
  const controller = createController({
    name: "shoot",
    log,
    concurrency: 8,
    async reconcile({ name, namespace }) {
      const shoot = reflector.get(name, namespace);
      if (shoot === undefined) return undefined;
      await shoots.nudge(refOf(shoot));
      // What is reported until then would not be told of.
      const isToReturn = isDamaged(shoot.status) || wasToldOfDamage(shoot.metadata.uid);
      return isToReturn ? { requeueAfter: damagePeriod } : undefined;
    },
  });
  const findMissing = async () => {
    for (const { namespace, name } of await shoots.withoutWorkflow(reflector.list().map(refOf))) {
      log.info({ shoot: `${namespace}/${name}` }, "Shoot has no workflow");
      controller.enqueue({ namespace, name });
    }
  };
  const lookForMissing = () =>
    void findMissing().catch((error: unknown) => log.warn({ err: error }, "cannot look for Shoots without a workflow"));
  let sweep: NodeJS.Timeout | undefined;
  let look: NodeJS.Timeout | undefined;

  return {
    start() {
      controller.start();
      reflector.start();
      sweep = setInterval(() => {
        for (const shoot of reflector.list()) if (isOpen(shoot)) controller.enqueue(keyOf(shoot));
      }, sweepPeriod);
      look = setInterval(lookForMissing, missingPeriod);
    },
    synced: () => reflector.synced(),
    async stop() {
      clearInterval(sweep);
      clearInterval(look);
      await reflector.stop();
      await controller.stop();
    },
  };
}

/** A Shoot, of which its metadata say almost all that counts here: a garden has thousands. */
interface ShootRequest extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly status?: {
    readonly observedGeneration?: number | undefined;
    /** Of one that is remembered: only the one that reports damaged data of an etcd. */
    readonly conditions?: readonly Condition[] | undefined;
  };
}
const ShootRequest = defineKind<ShootRequest>({ ...typeMeta(Shoot), scope: "Namespaced" });

/** The condition that reports damaged data. */
const HEALTH = "ControlPlaneHealthy";

function decisive({ name, namespace, uid, resourceVersion, ...metadata }: NamespacedMeta): NamespacedMeta {
  const { generation, deletionTimestamp, annotations = {} } = metadata;
  const asking = askingKeys.filter((key) => key in annotations);
  const kept = Object.fromEntries(asking.map((key) => [key, annotations[key] ?? ""]));
  return { name, namespace, uid, resourceVersion, generation, deletionTimestamp, annotations: kept };
}

/** What operators ask for: an operation, a takeover, a deletion by force, that the Shoot be left alone. */
const askingKeys = [OPERATION_ANNOTATION, FORCE_TAKEOVER_ANNOTATION, FORCE_DELETION_ANNOTATION, IGNORE_ANNOTATION];

/** Everything about a Shoot by which the garden and its users ask for something: its spec, its deletion, and what its annotations ask for. */
const asks = ({ metadata: { uid, generation, deletionTimestamp, annotations } }: ShootRequest): string =>
  [uid, generation, deletionTimestamp, ...askingKeys.map((key) => annotations?.[key])].join("|");

/** Whether the Shoot asks for something that no operation has taken up. */
const isOpen = ({ metadata: { generation, deletionTimestamp, annotations = {} }, status }: ShootRequest): boolean =>
  generation !== status?.observedGeneration ||
  deletionTimestamp !== undefined ||
  isDamaged(status) ||
  askingKeys.some((key) => key in annotations);

const isDamaged = (status: ShootRequest["status"]): boolean => etcdDamagedSince(status) !== undefined;

const keyOf = ({ metadata }: ShootRequest) => ({ name: metadata.name, namespace: metadata.namespace });

const refOf = ({ metadata }: ShootRequest): ShootRef => ({
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid ?? "",
});
