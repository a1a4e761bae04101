/** The share of the disk, in percent, at which kubelets begin and end to remove images, where a Shoot does not say. */
export const IMAGE_GC = { high: 50, low: 40 } as const;
