import { ShootBastion } from "../api/index.ts";
import type { BastionClient } from "../client/bastions.ts";
import { createController, createReflector, inBrief, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The garden that is watched, and the workflows that are told; times are ms. */
export interface BastionFlowsDeps {
  readonly gardenClient: KubeClient;
  readonly flows: BastionClient;
  readonly log: Logger;
  /** How often the workflow of each Bastion is told to look again; five minutes unless told otherwise. */
  readonly sweepPeriod?: number;
}

/**
 * Tells each Bastion's workflow that the Bastion asks for something else than before. A sweep makes up for every edge that
 * got lost, and finds what has become of a bastion in its seed: there are few, and they live for hours.
 */
export function createBastionFlows({ gardenClient, flows, log, sweepPeriod = 300_000 }: BastionFlowsDeps) {
  const reflector = createReflector(gardenClient, ShootBastion, {
    log,
    keep: (bastion) => inBrief(bastion),
    onEvent: ({ type, object, old }) => {
      if (type !== "deleted" && !(old && asks(old) === asks(object))) controller.enqueue(keyOf(object));
    },
  });
  const controller = createController({
    name: "bastion-flows",
    log,
    async reconcile({ name, namespace }) {
      const bastion = reflector.get(name, namespace);
      if (bastion !== undefined) await flows.nudge({ ...keyOf(bastion), uid: bastion.metadata.uid ?? "" });
    },
  });
  let sweep: NodeJS.Timeout | undefined;

  return {
    start() {
      reflector.start();
      controller.start();
      sweep = setInterval(() => reflector.list().forEach((one) => controller.enqueue(keyOf(one))), sweepPeriod);
    },
    async stop(): Promise<void> {
      clearInterval(sweep);
      await reflector.stop();
      await controller.stop();
    },
  };
}

const keyOf = ({ metadata: { name, namespace } }: ShootBastion) => ({ name, namespace });

/** Everything about a Bastion that its seed acts on; what we write into its status and its annotations is not. */
const asks = ({ metadata: { uid, generation, deletionTimestamp } }: ShootBastion): string =>
  [uid, generation, deletionTimestamp].join("|");
