/** The error that ends a process whose cluster, or whose namespace of Temporal, belongs to another installation. */
export class BoundElsewhere extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BoundElsewhere";
  }
}
