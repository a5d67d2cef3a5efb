/* A board as a program, for tests: its wire is a pseudo-terminal, its lines are driven by standard input.

       board SPEED BOOT_ID ZERO_TICK SERIAL FIRMWARE CONFIG_HASH BEAMS READERS ROTOR_TICKS OBJECT DOOR

   prints the path of the terminal and runs until it is ended. SPEED: microseconds of board time in a real one. A line
   of standard input is `TIME_US LINE INDEX ON`, in order of time; LINE as in sensors.h, TIME_US of the board's clock. It
   may be written long before its time; one that comes later is dated when it is read, as an interrupt would do. */
#define _XOPEN_SOURCE 600

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "board.h"
#include "port.h"

#define ARGUMENTS 12
#define IN_BYTES 4096u
#define IDLE_MS 1

static int wire;
static uint64_t began_ns, speed;
static uint64_t past_us; /* no edge may be dated before this any more */
static uint32_t boot_id;

/* What was read of standard input, and the move that comes next. */
static char text[IN_BYTES];
static size_t text_bytes;
static bool has_move, input_over;
static struct edge move;

static void fail(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
        fail("clock");
    }
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t port_now_us(void)
{
    return (monotonic_ns() - began_ns) * speed / 1000u;
}

/* Takes the first whole line out of `text`. */
static bool read_move(void)
{
    char *const end = memchr(text, '\n', text_bytes);
    if (end == NULL) {
        return false;
    }
    *end = '\0';
    unsigned line;
    unsigned index;
    unsigned on;
    if (sscanf(text, "%" SCNu64 " %u %u %u", &move.at_us, &line, &index, &on) != 4) {
        fprintf(stderr, "no move: %s\n", text);
        exit(EXIT_FAILURE);
    }
    move.line = (uint8_t)line;
    move.index = (uint8_t)index;
    move.on = on != 0u;
    text_bytes -= (size_t)(end + 1 - text);
    memmove(text, end + 1, text_bytes);
    return true;
}

static void look_for_move(void)
{
    while (!has_move && !(has_move = read_move()) && !input_over) {
        const ssize_t got = read(STDIN_FILENO, text + text_bytes, IN_BYTES - text_bytes);
        if (got <= 0) {
            input_over = got == 0;
            return;
        }
        text_bytes += (size_t)got;
    }
}

bool port_take_edge(uint64_t until_us, struct edge *edge)
{
    look_for_move();
    if (has_move && (move.at_us < past_us)) {
        move.at_us = past_us;
        past_us++; /* two that come late do not come at once */
    }
    if (!has_move || (move.at_us > until_us)) {
        past_us = until_us;
        return false;
    }
    *edge = move;
    has_move = false;
    return true;
}

bool port_line_is_on(uint8_t line, uint8_t index)
{
    (void)line;
    (void)index;
    return false;
}

bool port_receive(uint8_t *byte, uint64_t *at_us)
{
    if (read(wire, byte, 1) != 1) {
        return false;
    }
    *at_us = port_now_us();
    return true;
}

bool port_transmit(uint8_t byte)
{
    return write(wire, &byte, 1) == 1;
}

uint32_t port_new_boot_id(void)
{
    return boot_id;
}

uint32_t port_missed_edges(void)
{
    return 0;
}

void port_begin_self_test(void) {}

bool port_sensor_works(uint8_t sensor, uint16_t index)
{
    (void)sensor;
    (void)index;
    return true;
}

void port_idle(void)
{
    struct pollfd waits = {.fd = wire, .events = POLLIN};
    (void)poll(&waits, 1, IDLE_MS);
}

/* The terminal's other side stays open here: without it each read of this side fails. */
static void open_wire(void)
{
    wire = posix_openpt(O_RDWR | O_NOCTTY);
    if ((wire < 0) || (grantpt(wire) != 0) || (unlockpt(wire) != 0)) {
        fail("pseudo-terminal");
    }
    const char *const name = ptsname(wire);
    const int host = (name == NULL) ? -1 : open(name, O_RDWR | O_NOCTTY);
    struct termios raw;
    if ((host < 0) || (tcgetattr(host, &raw) != 0)) {
        fail("pseudo-terminal");
    }
    raw.c_iflag = 0;
    raw.c_oflag = 0;
    raw.c_lflag = 0;
    raw.c_cflag = (raw.c_cflag & ~(tcflag_t)(CSIZE | PARENB)) | CS8;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if ((tcsetattr(host, TCSANOW, &raw) != 0) || (fcntl(wire, F_SETFL, O_NONBLOCK) != 0) ||
        (fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK) != 0)) {
        fail("pseudo-terminal");
    }
    printf("%s\n", name);
    fflush(stdout);
}

static void copy_text(char to[WHEEL_TEXT_BYTES], const char *from)
{
    for (size_t at = 0; (at < WHEEL_TEXT_BYTES) && (from[at] != '\0'); at++) {
        to[at] = from[at];
    }
}

int main(int count, char **words)
{
    static struct identity identity;
    if (count != ARGUMENTS) {
        fprintf(stderr, "usage: see the head of posix/main.c\n");
        return EXIT_FAILURE;
    }
    speed = strtoull(words[1], NULL, 10);
    boot_id = (uint32_t)strtoul(words[2], NULL, 10);
    copy_text(identity.serial, words[4]);
    copy_text(identity.firmware, words[5]);
    const uint64_t hash = strtoull(words[6], NULL, 16);
    for (unsigned at = 0; at < HASH_BYTES; at++) {
        identity.config_hash[at] = (uint8_t)(hash >> (8u * (HASH_BYTES - 1u - at)));
    }
    identity.ring_events = BOARD_RING_EVENTS;
    identity.top_rate = BOARD_TOP_RATE;
    identity.layout.beams = (uint8_t)strtoul(words[7], NULL, 10);
    identity.layout.readers = (uint8_t)strtoul(words[8], NULL, 10);
    identity.layout.rotor_ticks = (uint16_t)strtoul(words[9], NULL, 10);
    identity.layout.object_sensor = strtoul(words[10], NULL, 10) != 0u;
    identity.layout.door_switch = strtoul(words[11], NULL, 10) != 0u;
    open_wire();
    began_ns = monotonic_ns();
    board_start(&identity, (uint16_t)strtoul(words[3], NULL, 10));
    for (;;) {
        board_run();
        port_idle();
    }
}
