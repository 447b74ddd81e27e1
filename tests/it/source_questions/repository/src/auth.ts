/** Checks the token of a request. */
export function validateToken(token: string): boolean {
  return token.length > 20;
}

/** Reports a failed login to the user. */
export function handleAuthError(error: Error): string {
  return `login failed: ${error.message}`;
}

export function authenticate(token: string): void {
  if (!validateToken(token)) {
    throw new Error(handleAuthError(new Error("invalid token")));
  }
}
