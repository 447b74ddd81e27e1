/*
 * A ring buffer of messages.
 */
#ifndef RING_H
#define RING_H

#include <stddef.h>
#include <sys/types.h>
#include "alloc/pool.h"

/** Most messages that a ring holds. */
#define RING_MAX 1024
#define RING_DEBUG
/** Rounds up to a power of two. */
#define ROUND_UP(x, n) (((x) + (n) - 1) & ~((n) - 1))

struct pool;
struct ring;

/** What became of a message. */
enum ring_status {
    RING_OK = 0, /**< Stored. */
    RING_FULL,
    RING_CLOSED = -1,
};

enum { RING_READ = 1, RING_WRITE = 2 };

typedef enum { LOW, HIGH } priority_t;
typedef unsigned long ring_id;
typedef struct pool pool_t, *pool_ptr;
typedef int (*ring_callback)(struct ring *ring, void *context);
typedef void ring_free_fn(void *data);

/** One message. */
typedef struct message {
    size_t length;         /* In bytes. */
    const char *body;
    struct message *next;
    priority_t priority : 4;
    unsigned flags : 1, urgent : 1;
    union {
        int number;
        struct timestamp *when;
    };
    struct {
        int line, column;
    } source;
} message_t, *message_list;

typedef struct {
    double x, y;
} point_t;

/**
 * The ring itself.
 */
struct ring {
    message_t slots[RING_MAX];
    ring_callback on_full;
    int (*compare)(const message_t *a, const message_t *b);
    struct pool *pool;
    enum ring_status status;
};

union value {
    long number;
    char text[8];
};

extern int ring_debug_level;
extern const char *const ring_names[];

/** Makes a ring; NULL if memory is short. */
struct ring *ring_new(size_t capacity, pool_t *pool);
void ring_free(struct ring *ring);
enum ring_status ring_push(struct ring *, const message_t *message);
[[nodiscard]] ssize_t ring_write(struct ring *ring, const void *data, size_t length);
int ring_printf(struct ring *ring, const char *format, ...) __attribute__((format(printf, 2, 3)));
void (*ring_on_signal(int signal, void (*handler)(int)))(int);

static inline int ring_is_empty(const struct ring *ring)
{
    return ring->slots[0].length == 0;
}

#endif /* RING_H */
