import {
  createAuthorizer,
  createBindingCheck,
  mayRead,
  newReferences,
  type Authorizer,
} from "../../admission/index.ts";
import type { Shoot } from "../../api/index.ts";
import { CONTROL_PLANE_ID_LABEL } from "../../api/labels.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Obstacle } from "../objects/obstacle.ts";
import type { Composed } from "./compose.ts";
import { bearsId } from "./identity.ts";
import type { ShootWriter } from "./write.ts";

/** The user of the garden whose rights say what Shoots of Clusters may refer to. No process and no person is this user. */
const CLUSTERS_USER = { username: "perennial.dev:clusters" };

/**
 * A writer that makes no Shoot refer to what Clusters may not. Admission asks what the author of a Shoot may read, and the author is
 * this process, which reads more than users of its namespaces: so the garden is asked about {@link CLUSTERS_USER}, too. Secrets and
 * ConfigMaps are to be his to `get`; a Seed is named where he may update `shoots/binding`. What was there before is not judged.
 */
export function guardReferences(writer: ShootWriter, garden: KubeClient): ShootWriter {
  const authorize = createAuthorizer(garden);
  return {
    ...writer,
    async write(composed, present, beginning) {
      const message =
        (await unreadable(authorize, composed, present)) ??
        (present === undefined ? await unbindable(authorize, composed, beginning.seedName) : undefined);
      if (message === undefined) return await writer.write(composed, present, beginning);
      const refused: Obstacle = { reason: "Refused", message };
      return { obstacle: refused, ...(present && isSame(present, composed) && { shoot: present }) };
    },
  };
}

async function unreadable(
  authorize: Authorizer,
  composed: Composed,
  present: Shoot | undefined,
): Promise<string | undefined> {
  for (const reference of newReferences(composed as unknown as Shoot, present)) {
    const { field, kind, namespace, name, allowed } = reference;
    const isJudged = allowed.some((one) => one === kind); // others are refused by admission
    if (isJudged && !(await mayRead({ authorize, user: CLUSTERS_USER }, reference)))
      return `${field}: Clusters may not read ${kind} ${namespace}/${name}: let user ${CLUSTERS_USER.username} get it`;
  }
  return undefined;
}

async function unbindable(
  authorize: Authorizer,
  { metadata }: Composed,
  seedName: string | undefined,
): Promise<string | undefined> {
  if (seedName === undefined || (await createBindingCheck(authorize)(CLUSTERS_USER, metadata))) return undefined;
  return `spec.seedName: may be set only where user ${CLUSTERS_USER.username} can update shoots/binding (group core.gardener.cloud)`;
}

/** Whether the Shoot is the one that is composed, and not another's under its name. */
const isSame = (present: Shoot, { metadata }: Composed): boolean =>
  bearsId(present, metadata.labels?.[CONTROL_PLANE_ID_LABEL]);
