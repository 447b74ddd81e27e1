import { authenticate } from "./auth";
import { getUserData } from "./api/users";

export async function start(token: string) {
  authenticate(token);
  return getUserData("me");
}
