import { UserService } from "../api/users";
import { Model } from "./Model";

/** A model that is saved when a button is clicked. */
export class MyClass extends Model {
  private readonly users = new UserService();

  save(): void {
    this.users.load("me");
  }
}
