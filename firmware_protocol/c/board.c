#include "board.h"

#include "port.h"
#include "sensors.h"

/* One event of the ring in eight bytes: the lowest 45 bits of its time, which wrap after 407 days, then kind, value and
   index. */
struct record {
    uint32_t low_us;
    uint32_t rest; /* 13 bits of time, 3 of kind - 1, 4 of value, 12 of index */
};

#define PLACES (BOARD_RING_EVENTS + BOARD_UNNUMBERED_EVENTS)
#define TIME_BITS 45u
#define TIME_SPAN ((uint64_t)1 << TIME_BITS)

/* The requests that may wait for an answer. A later request replaces an earlier one of the same kind. */
struct waiting {
    bool hello;
    bool sync;
    bool self_test;
    bool self_tested; /* at self_test_due_us. The result waits until the events that the test caused have numbers */
    uint8_t version;
    uint32_t hello_token;
    uint32_t self_test_token;
    uint64_t sync_token;
    uint64_t sync_rx_us;
    uint64_t self_test_due_us;
};

static struct {
    const struct identity *identity;
    uint32_t boot_id;
    bool greeted; /* a host that knows our version has sent Hello */
    struct numbers numbers;
    struct counters counters;
    uint32_t missed_edges; /* the port's count, which may wrap */
    uint64_t put_seq;    /* of the next event that comes into the ring; those from numbers.next_seq on have no number */
    uint64_t urgent_seq; /* events before this one are sent at once: the host asked, or not all are rotor edges */
    uint64_t newest_us;  /* the date of the newest event with a number */
    uint64_t now_us;     /* every event in the ring is dated at or before this */
    uint64_t settled_us; /* every later event is dated at or after this */
    uint64_t beat_us;    /* when the next heartbeat is due */
    bool went_back;      /* sent_seq went back for a replay: a heartbeat must show it before events are sent again */
    struct waiting waiting;
    struct receiver receiver;
    struct frame frame;
    uint16_t put_at; /* the place of put_seq in the ring */
    struct record ring[PLACES];
} board;

static void count(uint32_t *counter)
{
    if (*counter < UINT32_MAX) {
        (*counter)++;
    }
}

static uint32_t sum(uint32_t counter, uint32_t more)
{
    return (counter < UINT32_MAX - more) ? counter + more : UINT32_MAX;
}

static uint64_t later(uint64_t one, uint64_t other)
{
    return (one > other) ? one : other;
}

/* The ring */

/* The place of an event, which must be in the ring. A Cortex-M0 and an AVR cannot divide, so this does not. */
static struct record *place_of(uint64_t seq)
{
    const uint16_t back = (uint16_t)(board.put_seq - seq);
    const uint16_t at = (board.put_at >= back) ? (uint16_t)(board.put_at - back)
                                               : (uint16_t)(board.put_at + PLACES - back);
    return &board.ring[at];
}

static struct record packed(const struct event *event)
{
    const uint32_t high_us = (uint32_t)((event->at_us >> 32) & 0x1fffu);
    const uint32_t what = ((uint32_t)(event->kind - 1u) << 16) | ((uint32_t)event->value << 12) | event->index;
    return (struct record){.low_us = (uint32_t)(event->at_us & UINT32_MAX), .rest = (high_us << 19) | what};
}

static struct event event_of(uint64_t seq)
{
    const struct record record = *place_of(seq);
    const uint64_t low_us = ((uint64_t)(record.rest >> 19) << 32) | record.low_us;
    uint64_t at_us = (board.now_us & ~(TIME_SPAN - 1u)) | low_us;
    if (at_us > board.now_us) {
        at_us -= TIME_SPAN;
    }
    return (struct event){.at_us = at_us,
                          .kind = (uint8_t)(((record.rest >> 16) & 7u) + 1u),
                          .value = (uint8_t)((record.rest >> 12) & 15u),
                          .index = (uint16_t)(record.rest & 0xfffu)};
}

/* Gives the next event in the ring its number. From now on it may be sent, and no event can come before it. */
static void number_next(void)
{
    struct numbers *const numbers = &board.numbers;
    const struct event event = event_of(numbers->next_seq);
    if (numbers->next_seq - numbers->oldest_seq == BOARD_RING_EVENTS) {
        if (numbers->oldest_seq >= numbers->acked_seq) {
            count(&board.counters.overwritten_events);
        }
        numbers->oldest_seq++;
    }
    numbers->next_seq++;
    numbers->sent_seq = later(numbers->sent_seq, numbers->oldest_seq);
    board.newest_us = event.at_us;
    if (event.kind != WHEEL_KIND_ROTOR) {
        board.urgent_seq = numbers->next_seq;
    }
    sensors_numbered(&event);
}

void board_event(const struct event *event)
{
    struct event put = *event;
    /* There is no room, because events come faster than the top rate. Their exact order does not matter then. */
    if (board.put_seq - board.numbers.next_seq == BOARD_UNNUMBERED_EVENTS) {
        number_next();
    }
    put.at_us = later(put.at_us, board.newest_us);
    board.put_seq++;
    board.put_at = (uint16_t)((board.put_at + 1u == PLACES) ? 0u : board.put_at + 1u);
    /* The board knows a pulse at its end and dates it at its middle. Rotor edges after its middle are put behind it. */
    uint64_t seq = board.put_seq - 1u;
    while ((seq > board.numbers.next_seq) && (event_of(seq - 1u).at_us > put.at_us)) {
        *place_of(seq) = *place_of(seq - 1u);
        seq--;
    }
    *place_of(seq) = packed(&put);
}

static void settle(uint64_t settled_us)
{
    board.settled_us = settled_us;
    while ((board.numbers.next_seq < board.put_seq) && (event_of(board.numbers.next_seq).at_us <= settled_us)) {
        number_next();
    }
}

/* Messages of the host */

static void handle(const struct host_message *message, uint64_t at_us)
{
    struct numbers *const numbers = &board.numbers;
    struct waiting *const waiting = &board.waiting;
    const bool is_ours = message->boot_id == board.boot_id;
    switch (message->type) {
    case WHEEL_HELLO:
        board.greeted = (message->version_min <= WHEEL_VERSION) && (message->version_max >= WHEEL_VERSION);
        waiting->hello = true;
        waiting->version = board.greeted ? WHEEL_VERSION : 0u;
        waiting->hello_token = message->token;
        numbers->sent_seq = later(numbers->acked_seq, numbers->oldest_seq);
        board.urgent_seq = numbers->next_seq;
        break;
    case WHEEL_ACK:
        if (is_ours && (message->number <= numbers->next_seq)) {
            numbers->acked_seq = later(numbers->acked_seq, message->number);
        }
        break;
    case WHEEL_REPLAY:
        if (is_ours && board.greeted && (message->number <= numbers->next_seq)) {
            numbers->sent_seq = later(message->number, numbers->oldest_seq);
            board.urgent_seq = numbers->next_seq;
            board.beat_us = board.now_us;
            board.went_back = true;
        }
        break;
    case WHEEL_SYNC_REQUEST:
        waiting->sync = true;
        waiting->sync_token = message->number;
        waiting->sync_rx_us = at_us;
        break;
    case WHEEL_SELF_TEST_REQUEST:
    default:
        waiting->self_test_token = message->token;
        if (!waiting->self_test) {
            waiting->self_test = true;
            waiting->self_tested = false;
            waiting->self_test_due_us = board.now_us + SELF_TEST_US;
            port_begin_self_test();
        }
        break;
    }
}

static void receive(uint8_t byte, uint64_t at_us)
{
    struct host_message message;
    const enum receipt receipt = receiver_feed(&board.receiver, byte);
    if (receipt == RECEIPT_NOTHING) {
        return;
    }
    if ((receipt == RECEIPT_MESSAGE) &&
        (codec_read(board.receiver.message, board.receiver.message_bytes, &message) == READING_GOOD)) {
        handle(&message, at_us);
    } else {
        count(&board.counters.rejected_frames);
    }
}

/* Messages to the host. Each of these functions writes the next frame, or returns false if it has nothing to send. */

static bool write_sync_reply(void)
{
    if (!board.waiting.sync) {
        return false;
    }
    board.waiting.sync = false;
    const uint64_t tx_us = port_now_us();
    codec_sync_reply(&board.frame, board.boot_id, board.waiting.sync_token, board.waiting.sync_rx_us, tx_us);
    return true;
}

static bool write_identity(void)
{
    if (!board.waiting.hello) {
        return false;
    }
    board.waiting.hello = false;
    codec_identity(&board.frame, board.identity, board.waiting.hello_token, board.waiting.version, board.boot_id,
                   &board.numbers);
    return true;
}

static void write_sensors(uint8_t kind, uint16_t sensors)
{
    for (uint16_t index = 0; index < sensors; index++) {
        codec_sensor(&board.frame, kind, sensors_work(kind, index), index);
    }
}

static bool write_self_test_result(void)
{
    const struct layout *const layout = &board.identity->layout;
    if (!board.waiting.self_tested || (board.settled_us < board.waiting.self_test_due_us)) {
        return false;
    }
    board.waiting.self_test = false;
    board.waiting.self_tested = false;
    codec_begin_self_test_result(&board.frame, board.boot_id, board.waiting.self_test_token,
                                 board.waiting.self_test_due_us);
    write_sensors(WHEEL_SENSOR_BEAM, layout->beams);
    write_sensors(WHEEL_SENSOR_READER, layout->readers);
    write_sensors(WHEEL_SENSOR_ROTOR, (layout->rotor_ticks > 0u) ? 1u : 0u);
    write_sensors(WHEEL_SENSOR_OBJECT, layout->object_sensor ? 1u : 0u);
    codec_end(&board.frame);
    return true;
}

/* How many events wait to be sent. None wait until a host has sent Hello. */
static uint64_t waiting_events(void)
{
    return board.greeted ? (board.numbers.next_seq - board.numbers.sent_seq) : 0u;
}

/* If one message can hold all events that wait, they are sent before the heartbeat. Then it says that all were sent. */
static bool write_heartbeat(void)
{
    const uint64_t waiting = waiting_events();
    const bool follows = (waiting > 0u) && (waiting <= WHEEL_EVENTS_MAX) && !board.went_back;
    if ((board.now_us < board.beat_us) || follows) {
        return false;
    }
    struct levels levels;
    board.beat_us = board.now_us + WHEEL_HEARTBEAT_US;
    board.went_back = false;
    sensors_levels(&levels);
    codec_heartbeat(&board.frame, board.boot_id, board.settled_us, &board.numbers, &board.counters, &levels);
    return true;
}

/* Sends the events that wait, up to WHEEL_EVENTS_MAX: at once if they are many or urgent, else before the next
   heartbeat. */
static bool write_events(void)
{
    struct numbers *const numbers = &board.numbers;
    const uint64_t waiting = waiting_events();
    const bool urgent = numbers->sent_seq < board.urgent_seq;
    if ((waiting == 0u) || ((waiting < WHEEL_EVENTS_MAX) && !urgent && (board.now_us < board.beat_us))) {
        return false;
    }
    struct event event = event_of(numbers->sent_seq);
    const uint64_t first_us = event.at_us;
    codec_begin_events(&board.frame, board.boot_id, numbers->sent_seq, first_us);
    uint8_t events = 0;
    do {
        codec_event(&board.frame, (uint32_t)(event.at_us - first_us), event.kind, event.value, event.index);
        events++;
        numbers->sent_seq++;
        if ((events == WHEEL_EVENTS_MAX) || (numbers->sent_seq == numbers->next_seq)) {
            break;
        }
        event = event_of(numbers->sent_seq);
    } while (event.at_us - first_us <= WHEEL_SPAN_US_MAX);
    codec_end(&board.frame);
    return true;
}

/* Sends whole frames, the most urgent first, as long as the transmitter takes bytes. */
static void send(void)
{
    struct frame *const frame = &board.frame;
    for (;;) {
        if ((frame->sent == frame->length) && !write_sync_reply() && !write_identity() && !write_self_test_result() &&
            !write_heartbeat() && !write_events()) {
            return;
        }
        while (frame->sent < frame->length) {
            if (!port_transmit(frame->bytes[frame->sent])) {
                return;
            }
            frame->sent++;
        }
    }
}

void board_start(const struct identity *identity, uint16_t zero_tick)
{
    board.identity = identity;
    board.boot_id = port_new_boot_id();
    board.greeted = false;
    board.numbers = (struct numbers){.oldest_seq = 0};
    board.counters = (struct counters){.rejected_frames = 0};
    board.missed_edges = 0;
    board.put_seq = 0;
    board.put_at = 0;
    board.urgent_seq = 0;
    board.went_back = false;
    board.newest_us = 0;
    board.now_us = port_now_us();
    board.settled_us = board.now_us;
    board.beat_us = board.now_us;
    board.waiting = (struct waiting){.hello = false};
    board.receiver.length = 0;
    board.receiver.skips = false;
    board.frame.length = 0;
    board.frame.sent = 0;
    struct edge before;
    while (port_take_edge(board.now_us, &before)) {
        /* drop the edges of before: sensors_start reads the levels now */
    }
    sensors_start(&identity->layout, zero_tick, board.now_us);
}

void board_run(void)
{
    struct edge edge;
    uint8_t byte;
    uint64_t at_us;
    /* Read the clock first, and then take the edges before that time. An edge that comes meanwhile has a later date. */
    board.now_us = port_now_us();
    const uint32_t missed_edges = port_missed_edges();
    const bool missed = missed_edges != board.missed_edges;
    while (port_take_edge(board.now_us, &edge)) {
        /* After a missed edge, A and B would show a wrong place. */
        if (!missed || (edge.line < (uint8_t)LINE_ROTOR_A)) {
            sensors_edge(&edge);
        }
    }
    if (missed) {
        board.counters.missed_edges = sum(board.counters.missed_edges, missed_edges - board.missed_edges);
        board.missed_edges = missed_edges;
        sensors_missed(board.now_us);
    }
    if (board.waiting.self_test && !board.waiting.self_tested && (board.now_us >= board.waiting.self_test_due_us)) {
        board.waiting.self_tested = true;
        board.waiting.self_test_due_us = board.now_us;
        sensors_tested(board.now_us);
    }
    settle(sensors_until(board.now_us));
    while (port_receive(&byte, &at_us)) {
        receive(byte, at_us);
    }
    send();
}
