import { PROJECT_NAME_LABEL } from "../labels.ts";
import { projectOf } from "../names.ts";
import type { Kind } from "../schema/kind.ts";
import type { KubeObject } from "../schema/meta.ts";
import type { Reader } from "./effective-profile.ts";
import { Project } from "./project.ts";

/** Which project a namespace of the garden is of. */
export interface NamespaceProject {
  /** The project's name, of which names of Shoots are made; where there is no Project, one that is made of the namespace's. */
  readonly name: string;
  readonly project?: Project;
}

/**
 * The project of a namespace: the one that its label names, else the one that it is called after, but only a Project that names the
 * namespace in turn. Users may write what is theirs, and so a label alone proves nothing. Where no Project does, the namespace is
 * of none, and takes no other's name.
 */
export async function readNamespaceProject(reader: Reader, namespace: string): Promise<NamespaceProject> {
  const label = (await reader.read(Namespace, { name: namespace }))?.metadata.labels?.[PROJECT_NAME_LABEL];
  const unlabelled = projectOf(namespace);
  const read = async (name: string) => await reader.read(Project, { name });
  const labelled = label ? await read(label) : undefined;
  if (labelled?.spec.namespace === namespace) return { name: labelled.metadata.name, project: labelled };
  const namesake = label === unlabelled ? labelled : await read(unlabelled);
  if (namesake?.spec.namespace === namespace) return { name: unlabelled, project: namesake };
  return { name: namesake === undefined ? unlabelled : namespace };
}

const Namespace: Kind<KubeObject, "Cluster"> = { apiVersion: "v1", kind: "Namespace", scope: "Cluster" };
