import { describe, expect, it, vi } from 'vitest';

import { Client, HttpError, withClient } from './client';

function makeClient(): Client {
  return new Client({ baseUrl: 'http://localhost' });
}

describe('Client', () => {
  const client = makeClient();

  it('finds users', async () => {
    const spy = vi.spyOn(client, 'user').mockResolvedValue({ id: '1' });
    expect(await client.user('1')).toEqual({ id: '1' });
    expect(spy).toHaveBeenCalledTimes(1);
  });

  it('fails', () => {
    expect(() => fail()).toThrow(HttpError);
  });
});

it.each([1, 2])('runs %d', async (id) => {
  await withClient({ baseUrl: `${id}` }, (inner) => inner.user(String(id)));
});
