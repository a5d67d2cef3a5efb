/* Every sequence of DEPTH steps on a ring of three events, two more without a number, beside a plain list.

   CBMC, which would prove it for every ring, is not in Debian 12. The arithmetic has no constant but the two sizes. */
#define BOARD_RING_EVENTS 3u
#define BOARD_UNNUMBERED_EVENTS 2u
#include "board.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEPTH
#define DEPTH 8
#endif
#define ALL 64u
#define FAR_US ((uint64_t)1 << 44) /* so that the times of a run wrap what a record holds */

/* The list: all events since the boot. */
static struct list {
    struct event events[ALL];
    uint64_t put, next, oldest, acked;
    uint32_t overwritten;
    uint16_t made;
} list;
static unsigned long states;
static char path[DEPTH + 1];

uint64_t port_now_us(void) { return board.now_us; }
bool port_take_edge(uint64_t until_us, struct edge *edge) { (void)until_us; (void)edge; return false; }
bool port_line_is_on(uint8_t line, uint8_t index) { (void)line; (void)index; return false; }
bool port_receive(uint8_t *byte, uint64_t *at_us) { (void)byte; (void)at_us; return false; }
bool port_transmit(uint8_t byte) { (void)byte; return false; }
uint32_t port_new_boot_id(void) { return 1; }
uint32_t port_missed_edges(void) { return 0; }
void port_begin_self_test(void) {}
bool port_sensor_works(uint8_t sensor, uint16_t index) { (void)sensor; (void)index; return true; }
void sensors_start(const struct layout *layout, uint16_t zero_tick, uint64_t now_us) { (void)layout; (void)zero_tick; (void)now_us; }
void sensors_edge(const struct edge *edge) { (void)edge; }
void sensors_missed(uint64_t now_us) { (void)now_us; }
uint64_t sensors_until(uint64_t now_us) { return now_us; }
void sensors_numbered(const struct event *event) { (void)event; }
void sensors_levels(struct levels *levels) { memset(levels, 0, sizeof *levels); }
void sensors_tested(uint64_t now_us) { (void)now_us; }
bool sensors_work(uint8_t sensor, uint16_t index) { (void)sensor; (void)index; return true; }

static void check(bool good, const char *what)
{
    if (!good) {
        printf("%s after %s\n", what, path);
        exit(1);
    }
}

static bool same(const struct event *one, const struct event *other)
{
    return one->at_us == other->at_us && one->kind == other->kind && one->value == other->value &&
           one->index == other->index;
}

static void list_number(void)
{
    list.next++;
    if (list.next - list.oldest > BOARD_RING_EVENTS) {
        list.overwritten += list.oldest >= list.acked;
        list.oldest++;
    }
}

static void put_event(uint64_t at_us)
{
    const struct event event = {.at_us = at_us, .kind = (uint8_t)(list.made % 2u ? 8u : 1u), .value = 1,
                                .index = (uint16_t)(0xfffu - list.made)};
    list.made++;
    if (list.put - list.next == BOARD_UNNUMBERED_EVENTS) {
        list_number();
    }
    uint64_t seq = list.put++;
    list.events[seq] = event;
    if (list.next > 0u && list.events[seq].at_us < list.events[list.next - 1u].at_us) {
        list.events[seq].at_us = list.events[list.next - 1u].at_us;
    }
    for (; seq > list.next && list.events[seq - 1u].at_us > list.events[seq].at_us; seq--) {
        const struct event other = list.events[seq];
        list.events[seq] = list.events[seq - 1u];
        list.events[seq - 1u] = other;
    }
    board_event(&event);
}

static void settle_to(uint64_t at_us)
{
    while (list.next < list.put && list.events[list.next].at_us <= at_us) {
        list_number();
    }
    settle(at_us);
}

/* What is sent are the next events of the list, and no more than there are. */
static void send_events(void)
{
    const uint64_t first = board.numbers.sent_seq;
    if (!write_events()) {
        return;
    }
    uint8_t *const bytes = board.frame.bytes;
    for (uint16_t at = 0, next = 0; at < board.frame.length - 1u; at = next) {
        next = (uint16_t)(at + bytes[at]);
        bytes[at] = 0;
    }
    const uint16_t records = (uint16_t)((board.frame.length - 2u - WHEEL_EVENTS_BYTES - CRC_BYTES) / 8u);
    check(bytes[1] == WHEEL_EVENTS && bytes[1 + WHEEL_EVENTS_AT_FIRST_SEQ] == (uint8_t)first, "another first number");
    check(records > 0 && board.numbers.sent_seq == first + records && board.numbers.sent_seq <= list.next, "so many");
    for (uint16_t at = 0; at < records; at++) {
        const uint8_t *const record = bytes + 1 + WHEEL_EVENTS_BYTES + at * WHEEL_EVENTS_RECORD_BYTES;
        const struct event *const event = &list.events[first + at];
        const uint64_t delta_us = event->at_us - list.events[first].at_us;
        check(record[4] == event->kind && record[5] == event->value && record[6] == (event->index & 0xff) &&
                  record[0] == (delta_us & 0xff) && delta_us <= WHEEL_SPAN_US_MAX,
              "another record");
    }
    board.frame.sent = board.frame.length;
}

static void step(int kind)
{
    struct host_message message = {.boot_id = 1};
    switch (kind) {
    case 0: put_event(board.now_us); break;
    case 1: put_event(board.settled_us); break;
    case 2: put_event(board.settled_us + (board.now_us - board.settled_us) / 2u); break;
    case 3: board.now_us += 2u; settle_to(board.now_us - 1u); break;
    case 4: board.now_us += FAR_US / 3u; settle_to(board.now_us); break;
    case 5: send_events(); break;
    case 6:
        message.type = WHEEL_ACK;
        message.number = board.numbers.next_seq > 1u ? board.numbers.next_seq - 1u : board.numbers.next_seq;
        handle(&message, 0);
        list.acked = list.acked > message.number ? list.acked : message.number;
        break;
    default:
        message.type = WHEEL_REPLAY;
        message.number = board.numbers.next_seq > 3u ? board.numbers.next_seq - 4u : 0u;
        handle(&message, 0);
        break;
    }
}

static void check_all(void)
{
    const struct numbers *const numbers = &board.numbers;
    check(numbers->oldest_seq == list.oldest && numbers->next_seq == list.next && numbers->acked_seq == list.acked &&
              board.put_seq == list.put && board.counters.overwritten_events == list.overwritten,
          "other numbers");
    check(numbers->sent_seq >= numbers->oldest_seq && numbers->sent_seq <= numbers->next_seq, "sent out of the ring");
    for (uint64_t seq = list.oldest; seq < list.put; seq++) {
        const struct event event = event_of(seq);
        if (board.now_us - list.events[seq].at_us < TIME_SPAN) {
            check(same(&event, &list.events[seq]), "another event");
        }
    }
}

static void walk(int depth)
{
    states++;
    check_all();
    if (depth == DEPTH) {
        return;
    }
    for (int kind = 0; kind < 8; kind++) {
        const struct list list_before = list;
        static char boards[DEPTH][sizeof board];
        memcpy(boards[depth], &board, sizeof board);
        path[depth] = (char)('0' + kind);
        path[depth + 1] = '\0';
        step(kind);
        walk(depth + 1);
        memcpy(&board, boards[depth], sizeof board);
        list = list_before;
    }
}

int main(void)
{
    static const struct identity identity;
    uint32_t counter = UINT32_MAX - 1u;
    count(&counter);
    count(&counter);
    check(counter == UINT32_MAX, "a counter that wraps");
    board_start(&identity, 0);
    board.greeted = true;
    walk(0);
    printf("%lu states\n", states);
    return 0;
}
