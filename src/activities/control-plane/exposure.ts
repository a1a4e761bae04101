import { ExposureClass } from "../../api/index.ts";
import type { SeedContext } from "../../components/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { configurationProblem } from "../step-error.ts";

/** The annotations that each handler of this seed gives to the load balancers of API servers, by the handler's name. */
export type ExposureHandlers = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * How the Shoot's API server is exposed, as its ExposureClass says; nothing for a Shoot without one. Throws a configuration
 * problem where the class is gone, or where the seed does not know its handler. Without `handlers`, the caller is not the
 * seed's worker, which alone knows them.
 */
export async function readExposure(
  gardenClient: KubeClient,
  { shoot, seed }: Pick<SeedContext, "shoot" | "seed">,
  handlers: ExposureHandlers | undefined,
): Promise<Pick<SeedContext, "loadBalancerAnnotations">> {
  const { exposureClassName: name } = shoot.spec;
  if (!name) return {};
  if (handlers === undefined) throw new Error(`only the worker of Seed ${seed.metadata.name} knows its ${setting}`);
  const found = await gardenClient.read(ExposureClass, { name });
  if (found === undefined)
    throw configurationProblem(`ExposureClass ${name} does not exist: spec.exposureClassName names it`);
  const { handler } = found;
  if (!Object.hasOwn(handlers, handler))
    throw configurationProblem(
      `Seed ${seed.metadata.name} does not know handler ${handler} of ExposureClass ${name}: add it to ${setting} of the seed's worker`,
    );
  const annotations = handlers[handler];
  return annotations === undefined ? {} : { loadBalancerAnnotations: annotations };
}

const setting = "PERENNIAL_EXPOSURE_HANDLERS";
