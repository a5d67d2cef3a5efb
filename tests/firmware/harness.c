/* The firmware's core in a program without a clock: a script on standard input is its time, its lines and its host.

   harness frames: standard input is a line; tells of each frame what the codec found in it.
   harness: a script, one command in a line, numbers in decimal and bytes in hexadecimal:

       start BOOT_ID ZERO_TICK SERIAL FIRMWARE HASH RING_EVENTS TOP_RATE BEAMS READERS TICKS OBJECT DOOR
       at TIME_US               the time; the board does not run
       line LINE INDEX ON       before the start: how a line stands; after it: an edge, dated now
       lose LINE INDEX ON       the line changes, and its edge is missed
       event KIND VALUE INDEX   an event, dated now, without a line
       missed COUNT             so many edges were missed so far
       works SENSOR INDEX OK    what the next self-test finds
       in BYTES                 from the host, now
       run                      the board runs; prints the bytes that it sends, or a dash
       room BYTES               so many bytes at most in each run from now on

   and of the codec alone, each of which prints a frame: identity, heartbeat, sync, events, sensors. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "port.h"

#define EDGES 65536u
#define EVENTS 4096u
#define BYTES 65536u

static uint64_t now_us;
static struct edge edges[EDGES];
static size_t edges_in, edges_out;
static struct event events[EVENTS];
static size_t events_in, events_out;
static uint8_t bytes[BYTES];
static size_t bytes_in, bytes_out;
static bool lines[8][16];
static bool dead[4][16];
static uint32_t missed, boot_id;
static size_t room = SIZE_MAX, left;
static bool printed;

uint64_t port_now_us(void) { return now_us; }
bool port_take_edge(uint64_t until_us, struct edge *edge)
{
    if (edges_out == edges_in || edges[edges_out % EDGES].at_us > until_us) {
        return false;
    }
    *edge = edges[edges_out++ % EDGES];
    return true;
}
bool port_line_is_on(uint8_t line, uint8_t index) { return lines[line][index]; }
bool port_receive(uint8_t *byte, uint64_t *at_us)
{
    if (bytes_out == bytes_in) {
        return false;
    }
    *byte = bytes[bytes_out++ % BYTES];
    *at_us = now_us;
    return true;
}
bool port_transmit(uint8_t byte)
{
    if (left == 0) {
        return false;
    }
    left--;
    printed = true;
    printf("%02x", byte);
    return true;
}
uint32_t port_new_boot_id(void) { return boot_id; }
uint32_t port_missed_edges(void) { return missed; }
void port_begin_self_test(void) {}
bool port_sensor_works(uint8_t sensor, uint16_t index) { return !dead[sensor][index]; }
void port_idle(void) {}

/* For plain_sensors.c. */
void put_events(void);
void put_events(void)
{
    while (events_out < events_in) {
        board_event(&events[events_out++ % EVENTS]);
    }
}

static uint64_t number(void)
{
    uint64_t value = 0;
    if (scanf("%" SCNu64, &value) != 1) {
        abort();
    }
    return value;
}

static size_t hex(uint8_t *into, size_t most)
{
    static char text[4 * BYTES];
    if (scanf("%262143s", text) != 1) {
        abort();
    }
    const size_t length = strcmp(text, "-") == 0 ? 0 : strlen(text) / 2;
    for (size_t at = 0; at < length && at < most; at++) {
        unsigned value = 0;
        sscanf(text + 2 * at, "%2x", &value);
        into[at] = (uint8_t)value;
    }
    return length;
}

static struct identity read_identity(void)
{
    struct identity identity = {.ring_events = 0};
    hex((uint8_t *)identity.serial, WHEEL_TEXT_BYTES);
    hex((uint8_t *)identity.firmware, WHEEL_TEXT_BYTES);
    hex(identity.config_hash, HASH_BYTES);
    identity.ring_events = (uint16_t)number();
    identity.top_rate = (uint16_t)number();
    identity.layout.beams = (uint8_t)number();
    identity.layout.readers = (uint8_t)number();
    identity.layout.rotor_ticks = (uint16_t)number();
    identity.layout.object_sensor = number() != 0;
    identity.layout.door_switch = number() != 0;
    return identity;
}

static void print(const struct frame *frame)
{
    for (uint16_t at = 0; at < frame->length; at++) {
        printf("%02x", frame->bytes[at]);
    }
    printf("\n");
}

static bool encode(const char *command)
{
    static struct frame frame;
    if (strcmp(command, "identity") == 0) {
        const uint32_t token = (uint32_t)number();
        const uint8_t version = (uint8_t)number();
        const uint32_t boot = (uint32_t)number();
        struct numbers numbers = {.oldest_seq = number()};
        numbers.acked_seq = number();
        numbers.next_seq = number();
        const struct identity identity = read_identity();
        codec_identity(&frame, &identity, token, version, boot, &numbers);
    } else if (strcmp(command, "heartbeat") == 0) {
        const uint32_t boot = (uint32_t)number();
        const uint64_t board_us = number();
        struct numbers numbers = {.oldest_seq = number()};
        numbers.acked_seq = number();
        numbers.sent_seq = number();
        numbers.next_seq = number();
        struct counters counters = {.rejected_frames = (uint32_t)number()};
        counters.overwritten_events = (uint32_t)number();
        counters.missed_edges = (uint32_t)number();
        struct levels levels = {.beams_blocked = (uint16_t)number()};
        levels.readers_blocked = (uint16_t)number();
        levels.buttons_held = (uint16_t)number();
        levels.object = (uint8_t)number();
        levels.door = (uint8_t)number();
        codec_heartbeat(&frame, boot, board_us, &numbers, &counters, &levels);
    } else if (strcmp(command, "sync") == 0) {
        const uint32_t boot = (uint32_t)number();
        const uint64_t token = number();
        const uint64_t rx_us = number();
        codec_sync_reply(&frame, boot, token, rx_us, number());
    } else if (strcmp(command, "events") == 0) {
        const uint32_t boot = (uint32_t)number();
        const uint64_t first_seq = number();
        codec_begin_events(&frame, boot, first_seq, number());
        for (uint64_t records = number(); records > 0; records--) {
            const uint32_t delta_us = (uint32_t)number();
            const uint8_t kind = (uint8_t)number();
            const uint8_t value = (uint8_t)number();
            codec_event(&frame, delta_us, kind, value, (uint16_t)number());
        }
        codec_end(&frame);
    } else if (strcmp(command, "sensors") == 0) {
        const uint32_t boot = (uint32_t)number();
        const uint32_t token = (uint32_t)number();
        codec_begin_self_test_result(&frame, boot, token, number());
        for (uint64_t records = number(); records > 0; records--) {
            const uint8_t kind = (uint8_t)number();
            const bool works = number() != 0;
            codec_sensor(&frame, kind, works, (uint16_t)number());
        }
        codec_end(&frame);
    } else {
        return false;
    }
    print(&frame);
    return true;
}

static void script(void)
{
    static struct identity identity;
    setvbuf(stdout, NULL, _IOLBF, BYTES);
    bool started = false;
    char command[16];
    while (scanf("%15s", command) == 1) {
        if (strcmp(command, "start") == 0) {
            boot_id = (uint32_t)number();
            const uint16_t zero_tick = (uint16_t)number();
            identity = read_identity();
            edges_out = edges_in; /* what came before a reset is lost */
            events_out = events_in;
            bytes_out = bytes_in;
            board_start(&identity, zero_tick);
            started = true;
        } else if (strcmp(command, "at") == 0) {
            now_us = number();
        } else if (strcmp(command, "lose") == 0) {
            const uint64_t line = number();
            const uint64_t index = number();
            lines[line][index] = number() != 0;
            missed++;
        } else if (strcmp(command, "line") == 0) {
            struct edge edge = {.at_us = now_us, .line = (uint8_t)number()};
            edge.index = (uint8_t)number();
            edge.on = number() != 0;
            lines[edge.line][edge.index] = edge.on;
            if (started) {
                edges[edges_in++ % EDGES] = edge;
            }
        } else if (strcmp(command, "event") == 0) {
            struct event event = {.at_us = now_us, .kind = (uint8_t)number()};
            event.value = (uint8_t)number();
            event.index = (uint16_t)number();
            events[events_in++ % EVENTS] = event;
        } else if (strcmp(command, "missed") == 0) {
            missed = (uint32_t)number();
        } else if (strcmp(command, "works") == 0) {
            const uint64_t sensor = number();
            const uint64_t index = number();
            dead[sensor][index] = number() == 0;
        } else if (strcmp(command, "in") == 0) {
            static uint8_t came[BYTES];
            const size_t length = hex(came, BYTES);
            for (size_t at = 0; at < length; at++) {
                bytes[bytes_in++ % BYTES] = came[at];
            }
        } else if (strcmp(command, "room") == 0) {
            room = (size_t)number();
        } else if (strcmp(command, "run") == 0) {
            left = room;
            printed = false;
            board_run();
            printf(printed ? "\n" : "-\n");
        } else if (!encode(command)) {
            fprintf(stderr, "no command: %s\n", command);
            exit(2);
        }
    }
}

static void frames(void)
{
    static struct receiver receiver;
    int byte;
    while ((byte = getchar()) != EOF) {
        const enum receipt receipt = receiver_feed(&receiver, (uint8_t)byte);
        if (receipt == RECEIPT_NOTHING) {
            continue;
        }
        putchar((int)receipt);
        if (receipt == RECEIPT_MESSAGE) {
            struct host_message told = {.type = 0};
            putchar(receiver.message_bytes);
            fwrite(receiver.message, 1, receiver.message_bytes, stdout);
            const enum reading reading = codec_read(receiver.message, receiver.message_bytes, &told);
            putchar((int)reading);
            if (reading != READING_GOOD) {
                continue;
            }
            const uint8_t heads[] = {told.type, told.version_min, told.version_max};
            fwrite(heads, 1, sizeof heads, stdout);
            fwrite(&told.boot_id, sizeof told.boot_id, 1, stdout);
            fwrite(&told.token, sizeof told.token, 1, stdout);
            fwrite(&told.number, sizeof told.number, 1, stdout);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "frames") == 0) {
        frames();
    } else {
        script();
    }
    return 0;
}
