import { validateToken } from "./auth";

export function refreshSession(token: string): boolean {
  return validateToken(token);
}
