const cache = new Map<string, User>();

export interface User {
  id: string;
  name: string;
}

/** Reads a user by id. */
export async function getUserById(id: string): Promise<User> {
  const response = await fetch(`/users/${id}`);
  return response.json();
}

/** The data of a user, from the cache if it is there. */
export async function getUserData(id: string): Promise<User> {
  return getUserDataFromCache(id) ?? fetchUserData(id);
}

export function getUserDataFromCache(id: string): User | undefined {
  return cache.get(id);
}

export async function getUserDataById(id: string): Promise<User> {
  return getUserById(id);
}

export async function fetchUserData(id: string): Promise<User> {
  const user = await getUserById(id);
  cache.set(id, user);
  return user;
}

/** The service that the pages use. */
export class UserService {
  load(id: string): Promise<User> {
    return getUserData(id);
  }
}
