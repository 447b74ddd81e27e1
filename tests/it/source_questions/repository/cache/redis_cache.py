import redis

connection = redis.Redis()


def store_in_redis(key, value):
    redis.Redis().set(key, value)


def load_from_redis(key):
    return redis.Redis().get(key)
