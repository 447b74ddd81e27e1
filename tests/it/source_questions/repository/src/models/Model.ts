/** The base of all models. */
export class Model {
  id = "";
}
