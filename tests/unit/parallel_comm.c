/* What several processes do together; they are threads here (tests/processes.h). */
#include "tests/processes.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

#define MOST 5

/* ---- sums, pieces, shares ---- */

static uc_status gather_words(const uc_comm *comm, void *user)
{
    /* process r has r words, so the first one has nothing */
    char mine[64] = "", *all = NULL;
    size_t sizes[MOST];
    (void)user;
    for (int i = 0; i < comm->rank; i++)
        strcat(mine, (const char[]){(char)('a' + comm->rank), (char)('0' + i), 0});
    const uc_status status = uc_comm_gather((void **)&all, sizes, comm, mine, strlen(mine));
    if (status != UC_OK)
        return status;
    const char *expected = "b0c0c1d0d1d2e0e1e2e3";
    size_t length = 0;
    bool right = true;
    for (int r = 0; r < comm->size; r++) {
        right = right && sizes[r] == 2 * (size_t)r;
        length += sizes[r];
    }
    right = right && memcmp(all, expected, length) == 0;
    uc_free(all);
    return right ? UC_OK : uc_fail(UC_ERR_INVALID, "rank %d has other pieces", comm->rank);
}

static void pieces_are_gathered_in_the_order_of_the_ranks(void **state)
{
    (void)state;
    for (int size = 2; size <= MOST; size++)
        assert_ok(run_processes(size, gather_words, NULL));
}

static uc_status share_rows(const uc_comm *comm, void *user)
{
    const uc_context context = {.comm = comm};
    uc_share share;
    (void)user;
    const uc_status status = uc_share_of(&share, &context, 10 * (size_t)comm->rank + 1);
    size_t first = 0, total = 0;
    for (int r = 0; r < comm->size; r++) {
        first += r < comm->rank ? 10 * (size_t)r + 1 : 0;
        total += 10 * (size_t)r + 1;
    }
    if (status == UC_OK && (share.first != first || share.total != total))
        return uc_fail(UC_ERR_INVALID, "rank %d: %zu of %zu", comm->rank, share.first, share.total);
    return status;
}

static void shares_follow_one_another(void **state)
{
    (void)state;
    for (int size = 2; size <= MOST; size++)
        assert_ok(run_processes(size, share_rows, NULL));
    uc_share alone;
    assert_ok(uc_share_of(&alone, NULL, 7));
    assert_true(alone.first == 0 && alone.total == 7);
}

/* ---- agreeing ---- */

typedef struct failures {
    bool fails[MOST];
    char heard[MOST][256];
    uc_status status[MOST];
} failures;

static uc_status agree(const uc_comm *comm, void *user)
{
    failures *self = user;
    const int r = comm->rank;
    uc_status status = UC_OK;
    if (self->fails[r])
        status = uc_fail(r == 1 ? UC_ERR_FORMAT : UC_ERR_NOMEM, "trouble %d", r);
    self->status[r] = uc_comm_agree(comm, status);
    snprintf(self->heard[r], sizeof self->heard[r], "%s", uc_last_error());
    return UC_OK;
}

static void parts_are_even_and_nest(void **state)
{
    (void)state;
    for (size_t total = 0; total < 200; total++)
        for (size_t parts = 1; parts <= 20; parts++) {
            assert_int_equal(uc_even_start(total, parts, 0), 0);
            assert_int_equal(uc_even_start(total, parts, parts), total);
            for (size_t p = 0; p < parts; p++) {
                const size_t start = uc_even_start(total, parts, p);
                const size_t count = uc_even_start(total, parts, p + 1) - start;
                assert_true(count == total / parts || count == total / parts + (total % parts != 0));
                assert_int_equal(start, uc_even_start(total, 2 * parts, 2 * p));
            }
        }
    assert_true(uc_even_start(SIZE_MAX, 3, 2) == SIZE_MAX / 3 * 2); /* no product is too large */
}

static void all_fail_with_the_sentence_of_the_first_that_did(void **state)
{
    (void)state;
    failures none = {0}, some = {.fails = {false, true, true}}, all = {.fails = {true, true, true}};
    assert_ok(run_processes(3, agree, &none));
    assert_ok(run_processes(3, agree, &some));
    assert_ok(run_processes(3, agree, &all));
    for (int r = 0; r < 3; r++) {
        assert_int_equal(none.status[r], UC_OK);
        assert_int_equal(some.status[r], UC_ERR_FORMAT);
        assert_string_equal(some.heard[r], "rank 1: trouble 1");
        assert_int_equal(all.status[r], UC_ERR_NOMEM);
        assert_string_equal(all.heard[r], "trouble 0"); /* what all run into is not the fault of one */
    }
}

static uc_status add_or_fail(double *sum, size_t first, size_t last, void *user)
{
    if (user)
        return uc_fail(UC_ERR_DIVERGED, "row %zu is too large", first);
    sum[0] += (double)(last - first);
    return UC_OK;
}

static uc_status sum_with_a_failure(const uc_comm *comm, void *user)
{
    const uc_context context = {.comm = comm};
    failures *self = user;
    double sum[1] = {0.0};
    self->status[comm->rank] =
        uc_sum_over(&context, 600, add_or_fail, comm->rank == 2 ? (void *)user : NULL, sum, 1);
    snprintf(self->heard[comm->rank], sizeof self->heard[0], "%s", uc_last_error());
    return sum[0] == 0.0 ? UC_OK : uc_fail(UC_ERR_INVALID, "a sum without one of its parts");
}

static void a_sum_fails_in_all_processes_when_it_fails_in_one(void **state)
{
    (void)state;
    failures heard = {0};
    assert_ok(run_processes(4, sum_with_a_failure, &heard));
    for (int r = 0; r < 4; r++) {
        assert_int_equal(heard.status[r], UC_ERR_DIVERGED);
        assert_string_equal(heard.heard[r], "rank 2: row 0 is too large");
    }
}

/* ---- blocks ---- */

#define BLOCKS 23
#define ITEMS 7 /* of a block, but for the last */

typedef struct block_work {
    int results[MOST][BLOCKS * ITEMS];
    int runs[MOST];
} block_work;

typedef struct own_work {
    block_work *work;
    int rank;
} own_work;

static uc_status fill_block(size_t block, void *user)
{
    const own_work *self = user;
    int *results = self->work->results[self->rank];
    const size_t last = block + 1 == BLOCKS ? 3 : ITEMS;
    for (size_t i = 0; i < last; i++)
        results[block * ITEMS + i] = (int)(100 * block + i);
    self->work->runs[self->rank]++;
    return UC_OK;
}

static uc_status share_blocks(const uc_comm *comm, void *user)
{
    own_work self = {user, comm->rank};
    const uc_context context = {.comm = comm, .threads = 1};
    return uc_share_blocks(&context, BLOCKS, fill_block, &self, self.work->results[comm->rank],
                           ITEMS * sizeof(int), ((BLOCKS - 1) * ITEMS + 3) * sizeof(int));
}

static void blocks_run_once_and_all_have_the_results(void **state)
{
    (void)state;
    for (int size = 2; size <= MOST; size++) {
        block_work work = {0};
        assert_ok(run_processes(size, share_blocks, &work));
        int runs = 0;
        for (int r = 0; r < size; r++) {
            runs += work.runs[r];
            for (size_t i = 0; i < (BLOCKS - 1) * ITEMS + 3; i++)
                assert_int_equal(work.results[r][i], 100 * (i / ITEMS) + i % ITEMS);
        }
        assert_int_equal(runs, BLOCKS);
    }
}

/* ---- collecting ---- */

static uc_status take(const void *bytes, size_t length, void *user)
{
    strncat(user, bytes, length);
    return UC_OK;
}

static uc_status collect(const uc_comm *comm, void *user)
{
    const char *words[] = {"one ", "", "three ", "four"};
    return uc_comm_collect(comm, words[comm->rank], strlen(words[comm->rank]), take, user);
}

static void the_first_process_collects_what_all_have(void **state)
{
    (void)state;
    char text[64] = "";
    assert_ok(run_processes(4, collect, text));
    assert_string_equal(text, "one three four");
}

static uc_status take_no_more(const void *bytes, size_t length, void *user)
{
    (void)bytes;
    size_t *taken = user;
    *taken += length;
    return *taken > 4 ? uc_fail(UC_ERR_IO, "the disk is full") : UC_OK;
}

/* A sum afterwards: nobody is left behind in the collecting. */
static uc_status collect_too_much(const uc_comm *comm, void *user)
{
    const char *words[] = {"one ", "two ", "three ", "four"};
    const uc_status status =
        uc_comm_collect(comm, words[comm->rank], strlen(words[comm->rank]), take_no_more, user);
    assert_int_equal(status, comm->rank == 0 ? UC_ERR_IO : UC_OK);
    return uc_comm_agree(comm, status);
}

static void what_cannot_be_taken_does_not_keep_the_others_waiting(void **state)
{
    (void)state;
    size_t taken = 0;
    assert_error(run_processes(4, collect_too_much, &taken), UC_ERR_IO, "rank 0: the disk is full");
    assert_int_equal(taken, 8);
}

/* ---- a process that ends early ---- */

static uc_status leave(const uc_comm *comm, void *user)
{
    double value = 1.0;
    (void)user;
    if (comm->rank == 1)
        return uc_fail(UC_ERR_NOMEM, "no memory here");
    return uc_comm_sum(comm, &value, 1);
}

static void nobody_waits_for_a_process_that_is_gone(void **state)
{
    (void)state;
    assert_error(run_processes(3, leave, NULL), UC_ERR_NOMEM, "no memory here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_gathered_in_the_order_of_the_ranks),
        cmocka_unit_test(shares_follow_one_another),
        cmocka_unit_test(parts_are_even_and_nest),
        cmocka_unit_test(all_fail_with_the_sentence_of_the_first_that_did),
        cmocka_unit_test(a_sum_fails_in_all_processes_when_it_fails_in_one),
        cmocka_unit_test(blocks_run_once_and_all_have_the_results),
        cmocka_unit_test(the_first_process_collects_what_all_have),
        cmocka_unit_test(what_cannot_be_taken_does_not_keep_the_others_waiting),
        cmocka_unit_test(nobody_waits_for_a_process_that_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
