import axios, { AxiosInstance } from 'axios';
import { z } from 'zod';

const schema = z.object({ id: z.string() });

export type User = z.infer<typeof schema>;

export interface ClientOptions {
  baseUrl: string;
  retry?: RetryPolicy;
  onError?(error: HttpError): void;
}

export class HttpError extends Error {
  constructor(public readonly status: number, message?: string) {
    super(message);
    this.name = 'HttpError';
  }

  static is(error: unknown): error is HttpError {
    return error instanceof HttpError;
  }
}

export class Client {
  private http: AxiosInstance;
  #token?: Token;
  readonly options: ClientOptions;

  constructor(options: ClientOptions) {
    this.options = options;
    this.http = axios.create({ baseURL: options.baseUrl });
  }

  async user(id: string): Promise<User> {
    const { data } = await this.http.get<User>(`/users/${id}`);
    return schema.parse(data);
  }

  users = {
    list: () => this.http.get('/users'),
  };

  private async retry<T>(call: () => Promise<T>, policy = this.options.retry ?? defaultPolicy): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (HttpError.is(error)) this.options.onError?.(error);
      throw new HttpError(500);
    }
  }
}

const defaultPolicy: RetryPolicy = { attempts: 3 };

export async function withClient<R>(options: ClientOptions, run: (client: Client) => Promise<R>): Promise<R> {
  const client = new Client(options);
  return run(client);
}
