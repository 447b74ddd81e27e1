#include <assert.h>
#include <check.h>
#include "ring.h"

struct fixture {
    struct ring *ring;
    point_t origin;
};

static struct fixture setup(void)
{
    struct fixture fixture = { ring_new(4, NULL), { 0.0, 0.0 } };
    return fixture;
}

static void test_push(void)
{
    struct fixture fixture = setup();
    message_t message = { .length = 3 };
    assert(ring_push(fixture.ring, &message) == RING_OK);
    ck_assert_int_eq(ring_is_empty(fixture.ring), 0);
}

/* A ring that is full says so. */
static void test_full(void)
{
    struct ring *ring = setup().ring;
    union value values[2] = { { .number = 1 }, { .text = "b" } };
    while (ring_push(ring, (const message_t *)values) != RING_FULL)
        continue;
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    { "push", test_push },
    { "full", test_full },
};

int main(void)
{
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        tests[i].run();
    Suite *suite = suite_create("ring");
    tcase_add_test(suite, test_push);
    return 0;
}
