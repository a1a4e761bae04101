import { isDeepStrictEqual } from "node:util";
import { OPERATION_ANNOTATION } from "../../api/annotations.ts";
import type { ExtensionObject } from "../../api/extensions/kinds.ts";
import { extensionFinalizer } from "../../api/names.ts";
import { answersIn, isGone, lastOf, type Chapter } from "../chapter.ts";
import { failed, judgeBy, passed, type Judgement } from "../clause.ts";
import { describeObject, inShort } from "../describe.ts";
import type { Version } from "../recording.ts";

/** Whether what the caller waited for came in time. */
export function judgeReached(chapter: Chapter): Judgement {
  const seconds = `${(chapter.took / 1000).toFixed(1)} s`;
  return chapter.end.reached
    ? passed(`after ${seconds}: ${isGone(chapter) ? "the object is gone" : describeObject(lastOf(chapter))}`)
    : failed(`after ${seconds}: ${chapter.end.obstacle}; ${describeObject(lastOf(chapter))}`);
}

/** Whether nothing of the object has changed since the request, as far as a controller would change it. */
export const leftAlone = (chapter: Chapter): Judgement => judgeUntouched(chapter, controlled);

/** The same; but that the request was heard may show: it may be taken away. */
export const notActedOn = (chapter: Chapter): Judgement =>
  judgeUntouched(chapter, (object) => {
    const { annotations, ...rest } = controlled(object);
    return { ...rest, annotations: { ...annotations, [OPERATION_ANNOTATION]: undefined } };
  });

/** Nothing came of the new generation; a controller may still end, or repeat, what it was asked for in an earlier one. */
export function leftForLater(chapter: Chapter): Judgement {
  const { generation = 0 } = chapter.asked.metadata;
  const isEarlier = ({ status }: ExtensionObject): boolean =>
    status?.observedGeneration !== undefined && status.observedGeneration < generation;
  return judgeUntouched(chapter, (object) => (isEarlier(object) ? controlled(chapter.asked) : controlled(object)));
}

function judgeUntouched(chapter: Chapter, aspect: (object: ExtensionObject) => unknown): Judgement {
  const before = aspect(chapter.asked);
  const touched = answersIn(chapter).filter(({ object, gone }) => gone || !isDeepStrictEqual(aspect(object), before));
  const seconds = `${(chapter.took / 1000).toFixed(1)} s`;
  return touched.length > 0 ? failed(inShort(touched)) : passed(`nothing came of it for ${seconds}`);
}

/** Whether the request was taken away. */
export function answered(chapter: Chapter): Judgement {
  const requested = operationOf(lastOf(chapter));
  return judgeBy(requested === undefined, "the annotation is gone", `the annotation is still there: ${requested}`);
}

/** Whether the controller has reported an operation of this type and state since the request. */
export function operation(chapter: Chapter, type: string, state: string): Judgement {
  const reported = answersIn(chapter).filter(({ object }) => object.status?.lastOperation?.state === state);
  const right = reported.filter(({ object }) => object.status?.lastOperation?.type === type);
  if (right.length > 0) return passed(inShort(right.slice(0, 1)));
  return failed(reported.length > 0 ? inShort(reported) : `${state} was never reported: ${inShort(chapter.versions)}`);
}

/** The versions in which the controller says that it works. */
export const processingIn = (chapter: Chapter): readonly Version[] =>
  answersIn(chapter).filter(({ object }) => object.status?.lastOperation?.state === "Processing");

/** Whether a controller holds the object: every such finalizer has the same prefix. */
export const hasFinalizer = ({ metadata }: ExtensionObject): boolean =>
  metadata.finalizers?.some((finalizer) => finalizer.startsWith(extensionFinalizer(""))) === true;

/** What the caller asks for in the object's annotation. */
export const operationOf = ({ metadata }: ExtensionObject): string | undefined =>
  metadata.annotations?.[OPERATION_ANNOTATION];

const controlled = ({ metadata, status }: ExtensionObject) => ({
  annotations: metadata.annotations,
  finalizers: metadata.finalizers ?? [],
  status,
});
