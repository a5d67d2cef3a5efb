/* A board as a program, for tests. Its wire is a pseudo-terminal, and standard input moves its lines.

       board SPEED BOOT_ID ZERO_TICK SERIAL FIRMWARE CONFIG_HASH BEAMS READERS ROTOR_TICKS OBJECT DOOR

   The program prints the path of the terminal and runs until somebody ends it. SPEED: how many microseconds of board
   time pass in a real microsecond. A line of standard input is `TIME_US LINE INDEX ON`, in order of time, with LINE as
   in sensors.h and TIME_US on the board's clock. It may be written long before its time. A line that comes too late is
   dated when it is read, as an interrupt would do it.

   With SPEED 0 only the input moves the clock, so each run gives the same result. TIME_US is then the time of the
   simulated world, which goes on during a reset, and there are two more lines:

       TIME_US boot BOOT_ID      a reset, which does not clear the memory. The lines before it set the levels
       TIME_US run BYTES ROOM    the board runs at this time, after BYTES bytes in all have come from the host since the
                                 program began. It sends at most ROOM bytes, and prints how many it has sent in all */
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
#define LINES 8u
#define INDEXES 16u
#define MOVES 8192u /* the most moves of lines between two runs with SPEED 0 */

static int wire;
static uint64_t began_ns, speed;
static uint64_t past_us; /* later edges may not have a date before this */
static uint32_t boot_id;
static bool levels[LINES][INDEXES];
static struct identity identity;
static uint16_t zero_tick;

/* These are used with SPEED 0. */
static uint64_t booted_us, told_us;
static uint64_t received, sent, room;
static uint8_t came[IN_BYTES];
static size_t came_bytes, came_out;
static struct edge moves[MOVES];
static size_t moves_in, moves_out;

/* What was read from standard input, and the next move of a line. */
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
    if (speed == 0u) {
        return told_us - booted_us;
    }
    return (monotonic_ns() - began_ns) * speed / 1000u;
}

static struct edge move_of(const char *words)
{
    struct edge found;
    unsigned line;
    unsigned index;
    unsigned on;
    if ((sscanf(words, "%" SCNu64 " %u %u %u", &found.at_us, &line, &index, &on) != 4) || (line >= LINES) ||
        (index >= INDEXES)) {
        fprintf(stderr, "no move: %s\n", words);
        exit(EXIT_FAILURE);
    }
    found.line = (uint8_t)line;
    found.index = (uint8_t)index;
    found.on = on != 0u;
    return found;
}

/* Takes the first whole line out of `text`. */
static bool read_move(void)
{
    char *const end = memchr(text, '\n', text_bytes);
    if (end == NULL) {
        return false;
    }
    *end = '\0';
    move = move_of(text);
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

static bool take_told_edge(uint64_t until_us, struct edge *edge)
{
    if ((moves_out == moves_in) || (moves[moves_out].at_us > until_us + booted_us)) {
        return false;
    }
    *edge = moves[moves_out];
    edge->at_us -= booted_us;
    moves_out++;
    return true;
}

bool port_take_edge(uint64_t until_us, struct edge *edge)
{
    if (speed == 0u) {
        return take_told_edge(until_us, edge);
    }
    look_for_move();
    if (has_move && (move.at_us < past_us)) {
        move.at_us = past_us;
        past_us++; /* two late edges do not get the same date */
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
    return levels[line][index];
}

bool port_receive(uint8_t *byte, uint64_t *at_us)
{
    if (speed == 0u) {
        if (came_out == came_bytes) {
            return false;
        }
        *byte = came[came_out];
        came_out++;
    } else if (read(wire, byte, 1) != 1) {
        return false;
    } else {
        /* the byte was read from the terminal */
    }
    *at_us = port_now_us();
    return true;
}

bool port_transmit(uint8_t byte)
{
    if ((speed == 0u) && (room == 0u)) {
        return false;
    }
    if (write(wire, &byte, 1) != 1) {
        return false;
    }
    room--;
    sent++;
    return true;
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

/* This program also opens the other side of the terminal, and keeps it open. Otherwise each read of this side fails. */
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
    if ((tcsetattr(host, TCSANOW, &raw) != 0) || (fcntl(wire, F_SETFL, O_NONBLOCK) != 0)) {
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

/* Waits until all bytes are here that the host wrote, because the terminal may deliver them late. */
static void read_until(uint64_t bytes)
{
    came_bytes = 0;
    came_out = 0;
    while (received < bytes) {
        const ssize_t got = read(wire, came + came_bytes, IN_BYTES - came_bytes);
        if (got > 0) {
            came_bytes += (size_t)got;
            received += (uint64_t)got;
        } else {
            port_idle();
        }
    }
}

static void live_by_input(void)
{
    char words[IN_BYTES];
    uint64_t bytes;
    uint64_t at_us;
    while (fgets(words, sizeof words, stdin) != NULL) {
        if (sscanf(words, "%" SCNu64 " boot %" SCNu32, &at_us, &boot_id) == 2) {
            told_us = at_us;
            booted_us = at_us;
            moves_in = 0;
            moves_out = 0;
            board_start(&identity, zero_tick);
        } else if (sscanf(words, "%" SCNu64 " run %" SCNu64 " %" SCNu64, &at_us, &bytes, &room) == 3) {
            told_us = at_us;
            read_until(bytes);
            board_run();
            if (moves_out == moves_in) {
                moves_in = 0;
                moves_out = 0;
            }
            printf("%" PRIu64 "\n", sent);
            fflush(stdout);
        } else if (moves_in < MOVES) {
            moves[moves_in] = move_of(words);
            levels[moves[moves_in].line][moves[moves_in].index] = moves[moves_in].on;
            moves_in++;
        } else {
            fprintf(stderr, "too many moves\n");
            exit(EXIT_FAILURE);
        }
    }
}

int main(int count, char **words)
{
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
    zero_tick = (uint16_t)strtoul(words[3], NULL, 10);
    open_wire();
    if (speed == 0u) {
        live_by_input();
        return EXIT_SUCCESS;
    }
    if (fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK) != 0) {
        fail("standard input");
    }
    began_ns = monotonic_ns();
    board_start(&identity, zero_tick);
    for (;;) {
        board_run();
        port_idle();
    }
}
