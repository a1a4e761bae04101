import { isDeepStrictEqual } from "node:util";
import { readEffectiveProfile } from "../../api/core/effective-profile.ts";
import { readNamespaceProject } from "../../api/core/namespace-project.ts";
import { Shoot } from "../../api/index.ts";
import { readLacking } from "../../api/registration/lacking.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Authorizer } from "../authorizer.ts";
import type { MayBind } from "../binding.ts";
import { unconfirmed } from "../deletion.ts";
import { shootFinalizerCauses } from "../finalizer.ts";
import { judge, type AdmissionRequest, type Answer, type Cause, type Webhook } from "../review.ts";
import { readBastions, readNeighbours, readSeed, readSeedOf, type ShootChange } from "./change.ts";
import { seedBindingCauses } from "./binding.ts";
import { credentialsChangeCauses } from "./credentials-change.ts";
import { dnsProviderCauses } from "./dns-providers.ts";
import { domainCauses, domainWarnings } from "./domain.ts";
import {
  deletionCauses,
  forceDeletionCauses,
  frozenCauses,
  hibernationCauses,
  nameCauses,
  projectCauses,
} from "./lifecycle.ts";
import { gateWarnings } from "./feature-gates.ts";
import { fieldWarnings } from "./field-warnings.ts";
import { changedFields } from "./forms.ts";
import { migrationAnnotationCauses, moveChangeOf, sourceOf, takeoverWarnings } from "./migration.ts";
import { encryptionCauses } from "./encryption.ts";
import { networkCauses } from "./networks.ts";
import { profileCauses } from "./profile.ts";
import { profileChangeCauses } from "./profile-change.ts";
import type { MinorRange } from "../../api/shoot/kubernetes-versions.ts";
import type { Registrations } from "./registrations.ts";
import { requestCauses } from "./requests.ts";
import { unsupportedCauses } from "./unsupported.ts";
import { ruleCauses } from "./rules.ts";
import { exposureClassCauses } from "./exposure-class.ts";
import { extensionNeeds } from "./extension-needs.ts";
import { lifetimeOnly, readQuotaCauses } from "./quota-use.ts";
import { shootReferenceCauses } from "./references.ts";
import { markCauses, selfHostedChangeCauses } from "./self-hosted.ts";
import { tolerationCauses } from "./tolerations.ts";

/** What the judgement of a Shoot depends on. */
export interface ShootWebhookDeps {
  readonly client: KubeClient;
  readonly registrations: Registrations;
  readonly authorize: Authorizer;
  readonly mayBind: MayBind;
  readonly minors?: MinorRange | undefined;
  readonly now?: () => Date;
}

/** Judges requests about Shoots by the rules of Gardener's API server that CEL cannot express. */
export function createShootValidator(deps: ShootWebhookDeps): Webhook {
  return async (request) => {
    const old = request.oldObject && readShoot(request.oldObject);
    if (request.operation === "DELETE") return judge([...unconfirmed(request), ...(old ? deletionCauses(old) : [])]);
    const shoot = readShoot(request.object);
    const specChanged = !old || !isDeepStrictEqual(shoot.spec, old.spec);
    return judgeWrite(deps, request, { shoot, old, minors: deps.minors, now: deps.now?.() ?? new Date() }, specChanged);
  };
}

async function judgeWrite(
  deps: ShootWebhookDeps,
  request: AdmissionRequest,
  change: ShootChange,
  specChanged: boolean,
): Promise<Answer> {
  const before = await earlyCauses(deps, request, change, specChanged);
  if (before.length > 0) return judge(before);
  const source = await readSeedOf(deps.client, sourceOf(change));
  if (!specChanged) return judge(await lifetimeOnly(deps.client, change), takeoverWarnings({ ...change, source }));
  return judgeSpec(deps, request, { ...change, source });
}

/** What the request says by itself, before anything that it refers to is looked at. */
async function earlyCauses(
  { client, mayBind }: ShootWebhookDeps,
  asked: AdmissionRequest,
  { shoot, old, now }: ShootChange,
  specChanged: boolean,
): Promise<Cause[]> {
  const { userInfo: user } = asked;
  const own = old
    ? [...frozenCauses(shoot, old, specChanged), ...forceDeletionCauses(shoot, old, now)]
    : await nameCauses(client, shoot);
  const request = { shoot, old, user, mayBind: () => mayBind(user, shoot.metadata) };
  return [
    ...own,
    ...shootFinalizerCauses(asked, shoot),
    ...requestCauses(shoot, old),
    ...(await migrationAnnotationCauses(request)),
  ];
}

async function judgeSpec(deps: ShootWebhookDeps, request: AdmissionRequest, change: ShootChange): Promise<Answer> {
  const { client, authorize, mayBind } = deps;
  const { shoot, old } = change;
  const [profile, seed] = await Promise.all([readEffectiveProfile(client, shoot), readSeed(client, shoot)]);
  const named: ShootChange = { ...change, profile, seed };
  const known: ShootChange = {
    ...named,
    ...(moveChangeOf(change) === "migration" ? await readForMove(client, named) : {}),
    neighbours: await readNeighbours(client, named),
  };
  const binding = await seedBindingCauses(known, () => mayBind(request.userInfo, shoot.metadata));
  // Whatever has become of the rest since it was accepted must not keep a Shoot on a Seed that burns.
  if (moveChangeOf(change) !== "none") return judge(binding, takeoverWarnings(known));
  const referrer = { client, authorize, user: request.userInfo };
  const extensions = await extensionNeeds(deps.registrations, known);
  const { name: projectName, project } = await readNamespaceProject(client, shoot.metadata.namespace);
  const causes = [
    ...binding,
    ...projectCauses(project, old),
    ...(await shootReferenceCauses(referrer, known)),
    ...(await profileChangeCauses(client, known)),
    ...(await credentialsChangeCauses(referrer, known)),
    ...(await readQuotaCauses(client, known)),
    ...(await exposureClassCauses(client, shoot.spec, old?.spec)),
    ...tolerationCauses(shoot, old, project?.spec.tolerations),
    ...dnsProviderCauses(known),
    ...extensions.causes,
    ...(await domainCauses(client, known, projectName)),
    ...profileCauses(known),
    ...ruleCauses(known),
    ...selfHostedChangeCauses(known),
    ...(await markCauses(authorize, request.userInfo, known)),
    ...unsupportedCauses(shoot, old),
    ...networkCauses(known),
    ...encryptionCauses(known),
    ...(old ? hibernationCauses(shoot, old) : []),
  ];
  const warnings = [
    ...fieldWarnings(changedFields(shoot.spec, old?.spec)),
    ...gateWarnings(shoot, old),
    ...domainWarnings(known),
  ];
  return judge(causes, [...warnings, ...extensions.warnings]);
}

/** What stands in the way of moves only. */
async function readForMove(client: KubeClient, { shoot, seed }: ShootChange): Promise<Partial<ShootChange>> {
  const bastions = await readBastions(client, shoot);
  return seed === undefined ? { bastions } : { bastions, lacking: await readLacking(client, shoot, seed) };
}

/**
 * Reads a Shoot that the API server has checked. It leaves values that were stored before they had bounds, as long as they
 * stay what they are; these must stand neither against its deletion nor against a change of the rest.
 */
function readShoot(object: unknown): Shoot {
  const { data, error } = Shoot.schema.safeParse(object);
  if (data) return data;
  if (error.issues.every(({ code }) => outOfBounds.has(code))) return object as Shoot;
  throw error;
}

const outOfBounds: ReadonlySet<string> = new Set(["too_big", "too_small", "invalid_value", "invalid_format"]);
