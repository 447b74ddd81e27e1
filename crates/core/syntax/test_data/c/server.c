// A server that answers over a ring.
#include "ring.h"
#include "../net/socket.h"
#include <stdio.h>
#include <stdlib.h>

#define LOG(fmt, ...) fprintf(stderr, fmt, __VA_ARGS__)
#define BACKLOG 16

struct server {
    struct ring *ring;
    int sockets[BACKLOG];
    const struct server_ops *ops;
};

struct server_ops {
    int (*open)(struct server *server, const char *address);
    void (*close)(struct server *server);
};

static int tcp_open(struct server *server, const char *address);
static void tcp_close(struct server *);

int ring_debug_level = 2;
static unsigned long num_accepted, num_refused = 0;
static const char *const state_names[] = { "idle", "busy" };
static struct server *current;
static void (*hooks[4])(int);
static struct { int major, minor; } version = { 1, 2 };

/* What a TCP server does. */
static const struct server_ops tcp_ops = {
    .open = tcp_open,
    .close = &tcp_close,
};

static const ring_callback callbacks[] = { on_full, NULL };

/* Opens the listening socket. */
static int tcp_open(struct server *server, const char *address)
{
    static int count;
    socket_t *listener = socket_listen(address, BACKLOG);
    struct options options = { .reuse = 1, .on_error = report };
    if (listener == NULL)
        return -1;
    socket_configure(listener, &options);
    server->sockets[count++] = listener->fd;
    LOG("open %s\n", address);
    return 0;
}

static void tcp_close(struct server *server)
{
    for (size_t i = 0; i < BACKLOG; i++)
        close(server->sockets[i]);
}

static void on_signal(int number)
{
    (*hooks[number])(number);
    current->ops->close(current);
}

/**
 * Makes a server.
 *
 * @returns NULL on failure.
 */
__attribute__((malloc, warn_unused_result))
struct server *server_new(const struct server_ops *ops)
{
    struct server *server = calloc(1, sizeof(struct server));
    message_t *first = &(message_t){ .length = 0, .body = "" };
    void (*previous)(int) = signal(SIGINT, on_signal);

    if (!server)
        return NULL;
    *server = (struct server){ .ops = ops ? ops : &tcp_ops };
    server->ring = ring_new(RING_MAX, (pool_t *)pool_default());
    ring_push(server->ring, first);
    atexit(cleanup);
    hooks[0] = previous;
    return server;
}

int (server_run)(struct server *server)
{
    int (*open)(struct server *, const char *) = server->ops->open;
    return open(server, "localhost") || (server->ops->open)(server, "any");
}

/* Written before there were prototypes. */
int
compare(a, b)
    const message_t *a;
    struct message *b;
{
    return a->length - b->length;
}

#if defined(HAVE_EPOLL)
static int wait_ready(struct server *server) { return epoll_wait(server->sockets[0]); }
#else
static int wait_ready(struct server *server) { return poll_all(server); }
#endif

/* Locals and parameters that are called like functions elsewhere. */
static int each(struct server *server, int (*visit)(int, void *), const callback_t *callbacks, log_fn log)
{
    int (*compare)(const void *, const void *) = choose(server);
    callback_t open = callbacks[0], *close = &callbacks[1];
    static struct ring ring;
    int sizes[4] = {0};

    for (int socket = 0; socket < 4; socket++) {
        sizes[socket] = visit(socket, &ring);
        log("%d", socket);
    }
    if (open(sizes) < 0)
        return close->run(ring.head);
    sort(sizes, compare);
    return log("done"), compare(sizes, sizes + 1);
}

int main(int argc, char **argv)
{
    extern char **environ;
    struct server *server = server_new(&tcp_ops);
    goto done;
done:
    return server_run(server);
}
